// Command bench measures gputide beside named baselines, in one run, on one
// machine: the store beside SQLite with the same layout, DuckDB and the
// Prometheus TSDB, all filled from one file of observations; the AWS price-list
// reader beside encoding/csv; the shipped command on ten years of prices; and
// the memory of crawls of large bodies. Answers are compared before anything is
// timed; rounds are interleaved; a table gives medians, spreads, ratios and
// what was aimed at, met or missed.
//
//	go run .                     the sizes of the README's tables (an hour or two)
//	go run . -only store,years   some of them
//	go run . -smoke              small sizes, to see that everything still runs
//
// It has its own go.mod, so that what it compares with never reaches gputide.
package main
