package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/gputide/gputide"
)

// The file every peer reads, in time order: one line for each observation
//
//	time,provider,region,instance_type,market,price
//
// and, before those of its region, one line for each region crawled, without
// instance_type and market, whose price says done or failed.
const (
	colTime = iota
	colProvider
	colRegion
	colType
	colMarket
	colPrice
	columns
)

const (
	scopeDone   = "done"
	scopeFailed = "failed"
)

// writeObservations writes the runs of the workloads, merged by time, and
// returns how many observations they hold.
func writeObservations(path string, workloads ...*workload) (rows int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	next := make([]int, len(workloads))
	for {
		var first *workload
		var which int
		for i, c := range workloads {
			if next[i] < c.runs && (first == nil || c.at(next[i]).Before(first.at(next[which]))) {
				first, which = c, i
			}
		}
		if first == nil {
			return rows, errors.Join(w.Flush(), f.Close())
		}
		rows += writeRun(w, first.next(next[which]))
		next[which]++
	}
}

func writeRun(w *bufio.Writer, run *gputide.Run) int64 {
	at := run.At.Format(time.RFC3339)
	i := 0
	for _, s := range run.Scopes {
		status := scopeDone
		if s.Status != gputide.ScopeDone {
			status = scopeFailed
		}
		fmt.Fprintf(w, "%s,%s,%s,,,%s\n", at, run.Provider, s.Scope.Region, status)
		for ; i < len(run.Offers) && run.Offers[i].Key.Region == s.Scope.Region; i++ {
			k := &run.Offers[i].Key
			fmt.Fprintf(w, "%s,%s,%s,%s,%s,%s\n", at, run.Provider, k.Region, k.InstanceType, k.Market, run.Offers[i].Price)
		}
	}
	return int64(len(run.Offers))
}

// observations reads the file back, one run at a time. A run is reused: it holds
// until the next.
type observations struct {
	path    string
	cadence map[string]time.Duration // by provider
	keys    map[string]*gputide.Key
}

func newObservations(path string, workloads ...*workload) *observations {
	o := &observations{path: path, cadence: map[string]time.Duration{}, keys: map[string]*gputide.Key{}}
	for _, w := range workloads {
		o.cadence[w.provider] = w.step
	}
	return o
}

func (o *observations) runs() iter.Seq2[*gputide.Run, error] {
	return func(yield func(*gputide.Run, error) bool) {
		f, err := os.Open(o.path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		lines := csv.NewReader(bufio.NewReaderSize(f, 1<<20))
		lines.ReuseRecord, lines.FieldsPerRecord = true, columns
		run, at := &gputide.Run{}, ""
		for {
			line, err := lines.Read()
			if errors.Is(err, io.EOF) {
				if at != "" {
					yield(run, nil)
				}
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if line[colTime] != at || line[colProvider] != run.Provider {
				if at != "" && !yield(run, nil) {
					return
				}
				at = line[colTime]
				if err := o.start(run, line); err != nil {
					yield(nil, err)
					return
				}
			}
			if err := o.line(run, line); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

func (o *observations) start(run *gputide.Run, line []string) error {
	at, err := time.Parse(time.RFC3339, line[colTime])
	*run = gputide.Run{
		Provider: line[colProvider], At: at, StartedAt: at, FinishedAt: at, Cause: gputide.CauseCrawl,
		Cadence: o.cadence[line[colProvider]], CodeVersion: "bench", Scopes: run.Scopes[:0], Offers: run.Offers[:0],
	}
	return err
}

func (o *observations) line(run *gputide.Run, line []string) error {
	if line[colType] == "" {
		s := gputide.ScopeRun{Scope: gputide.Scope{Region: line[colRegion]}, Status: gputide.ScopeDone, Source: "list"}
		if line[colPrice] == scopeFailed {
			s.Status, s.Reason = gputide.ScopeFailed, "source unavailable"
		}
		run.Scopes = append(run.Scopes, s)
		return nil
	}
	price, err := gputide.ParseNano(line[colPrice])
	if err != nil {
		return err
	}
	run.Scopes[len(run.Scopes)-1].Count++
	run.Offers = append(run.Offers, gputide.Offer{
		Key: *o.key(line), Price: price, Source: "list",
		Published: gputide.Published{Amount: line[colPrice], Unit: gputide.PerHour, Basis: gputide.BasisInstance},
	})
	return nil
}

// key returns the key of a line, one copy of its texts for all lines of it.
func (o *observations) key(line []string) *gputide.Key {
	name := line[colType] + "," + line[colMarket]
	k, ok := o.keys[name]
	if !ok {
		made := keyOf(line[colProvider], line[colRegion], line[colType], gputide.Market(line[colMarket]))
		k = &made
		o.keys[name] = k
	}
	return k
}
