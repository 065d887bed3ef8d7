package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// part is one table.
type part struct {
	name string
	run  func(ctx context.Context, out, progress io.Writer, dir string, sz sizes) error
}

var parts = []part{
	{"pricelist", benchPriceList},
	{"store", benchStore},
	{"years", benchYears},
	{"clouds", benchClouds},
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	smoke := flags.Bool("smoke", false, "small sizes: everything runs, the figures mean nothing")
	logRuns := flags.Int("log-runs", fullSizes.logRuns, "runs of the run log, ten minutes apart")
	only := flags.String("only", "", "run some parts, separated by commas: "+names())
	reader := flags.String("reader", "", "internal: read a price list in this process")
	writer := flags.String("writer", "", "internal: write to this database until killed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *reader != "":
		return runReader(*reader, flags.Args(), out)
	case *writer != "":
		return runWriter(ctx, *writer, out)
	}
	sz := fullSizes
	sz.logRuns = *logRuns
	if *smoke {
		sz = smokeSizes
	}
	wanted := strings.Split(*only, ",")
	for _, p := range parts {
		if *only != "" && !slices.Contains(wanted, p.name) {
			continue
		}
		if err := runPart(ctx, p, out, progress, sz); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// runPart runs a part in a folder of its own.
func runPart(ctx context.Context, p part, out, progress io.Writer, sz sizes) error {
	dir, err := os.MkdirTemp("", "gputide-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return p.run(ctx, out, progress, dir, sz)
}

func names() string {
	var all []string
	for _, p := range parts {
		all = append(all, p.name)
	}
	return strings.Join(all, ", ")
}
