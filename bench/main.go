package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	smoke := flags.Bool("smoke", false, "small sizes: everything runs, the figures mean nothing")
	logRuns := flags.Int("log-runs", fullSizes.logRuns, "runs of the run log, ten minutes apart")
	only := flags.String("only", "", "run one part: store or pricelist")
	reader := flags.String("reader", "", "internal: read a price list in this process")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *reader != "" {
		return runReader(*reader, flags.Args(), out)
	}
	dir, err := os.MkdirTemp("", "gputide-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sz, bytes := fullSizes, int64(300<<20)
	sz.logRuns = *logRuns
	if *smoke {
		sz, bytes = smokeSizes, 8<<20
	}
	if *only != "store" {
		if err := benchPriceList(ctx, out, dir, bytes, sz.rounds); err != nil {
			return err
		}
	}
	if *only == "pricelist" {
		return nil
	}
	return benchStore(ctx, out, progress, dir, sz)
}
