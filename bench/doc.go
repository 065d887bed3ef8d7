// Command bench measures gputide beside named baselines, in one run, on one
// machine: the store beside SQLite with the same layout, the AWS price-list
// reader beside encoding/csv. Answers are compared before anything is timed;
// rounds are interleaved; the table gives medians and the ratio.
//
//	go run .            the sizes of the README's table (about ten minutes)
//	go run . -smoke     small sizes, to see that everything still runs
//
// It has its own go.mod, so that what it compares with never reaches gputide.
package main
