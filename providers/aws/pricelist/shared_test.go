package pricelist

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gputide/gputide"
)

// payload opens a recording, or skips the test when there are none.
func payload(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("GPUTIDE_SHARED")
	if dir == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	data, err := os.ReadFile(filepath.Join(dir, "payloads", "aws", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// result is everything a reading handed on.
type result struct {
	offers map[string]string // short key → "amount/upfront"
	skips  map[string]string // SKU → reason
	known  map[string]string // SKU → canonical key of a skipped row
	rows   []Row
	report *Report
	err    error
}

func collect(read func(func(*Row)) (*Report, error)) result {
	out := result{offers: map[string]string{}, skips: map[string]string{}, known: map[string]string{}}
	out.report, out.err = read(func(r *Row) {
		out.rows = append(out.rows, *r)
		if r.Skip != "" {
			out.skips[r.SKU] = r.Skip
			if r.Known {
				out.known[r.SKU] = r.Key.Canonical()
			}
			return
		}
		out.offers[short(&r.Key)] = r.Price.Amount + "/" + r.Price.Upfront
	})
	return out
}

// short writes the fields of a key that differ within a list.
func short(k *gputide.Key) string {
	parts := []string{k.Region, k.InstanceType, string(k.Market)}
	for _, p := range []string{k.Plan, string(k.Term), string(k.Payment), k.OS, k.License, k.Tenancy} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, " ")
}

func readCSV(text string, opt Options) result {
	return collect(func(emit func(*Row)) (*Report, error) { return ReadCSV(strings.NewReader(text), opt, emit) })
}

func readJSON(text string, opt Options) result {
	return collect(func(emit func(*Row)) (*Report, error) { return ReadJSON(strings.NewReader(text), opt, emit) })
}

func commercial(region string) Options {
	return Options{Source: "bulk", Partition: "aws", Currency: "USD", Region: region}
}
