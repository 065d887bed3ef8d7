package storetest

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func row(day int, typ string, price gputide.Nano) gputide.ImportRow {
	return gputide.ImportRow{At: at(time.Duration(day) * day24), Offer: offer("east", typ, price)}
}

func importRows(t *testing.T, s Store, kind gputide.ImportKind, rows ...gputide.ImportRow) gputide.ImportResult {
	t.Helper()
	res, err := s.Import(t.Context(), "book", kind, rowsOf(rows))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func runImports(t *testing.T, open func(t *testing.T) Store) {
	state := func(t *testing.T, s Store, typ string, day int, want gputide.State) {
		t.Helper()
		q := quoteOf(t, s, offer("east", typ, 1).Key, at(time.Duration(day)*day24))
		if q == nil || q.State != want || !q.Imported {
			t.Errorf("%s on day %d: %+v, want %s and imported", typ, day, q, want)
		}
	}
	t.Run("events state prices and absence means nothing", func(t *testing.T) {
		s := open(t)
		rows := []gputide.ImportRow{row(0, "a", 5), row(2, "a", 5), row(4, "a", 6), row(9, "b", 1)}
		res := importRows(t, s, gputide.ImportEvents, rows...)
		want := gputide.ImportResult{Rows: 4, Series: 2, FirstSeen: 2, Changed: 1, Confirmed: 1}
		if d := cmp.Diff(want, res); d != "" {
			t.Errorf("result (-want +got):\n%s", d)
		}
		state(t, s, "a", 1, gputide.StatePriced)
		state(t, s, "a", 4, gputide.StatePriced)
		state(t, s, "a", 5, gputide.StateImportedEnd)
		obs, err := s.Observations(t.Context(), offer("east", "a", 1).Key.ID(), at(0), at(4*day24))
		if err != nil || len(obs) != 2 {
			t.Errorf("rows in [0, 4): %v, %v", obs, err)
		}
		again := importRows(t, s, gputide.ImportEvents, rows...)
		if d := cmp.Diff(gputide.ImportResult{Rows: 4, Series: 2, Known: 4}, again); d != "" {
			t.Errorf("again (-want +got):\n%s", d)
		}
	})
	t.Run("snapshots withdraw", func(t *testing.T) {
		s := open(t)
		res := importRows(t, s, gputide.ImportSnapshot, row(0, "a", 5), row(0, "b", 1), row(3, "b", 1), row(6, "a", 5), row(6, "b", 1))
		if res.Withdrawn != 1 || res.Returned != 1 || res.FirstSeen != 2 {
			t.Errorf("result %+v", res)
		}
		state(t, s, "a", 2, gputide.StatePriced)
		state(t, s, "a", 4, gputide.StateWithdrawn)
		state(t, s, "a", 6, gputide.StatePriced)
		state(t, s, "b", 7, gputide.StateImportedEnd)
		next := importRows(t, s, gputide.ImportSnapshot, row(9, "b", 1))
		if next.Withdrawn != 1 {
			t.Errorf("a later file that does not name a: %+v", next)
		}
		state(t, s, "a", 9, gputide.StateWithdrawn)
	})
	t.Run("contradictions are refused and counted", func(t *testing.T) {
		s := open(t)
		res := importRows(t, s, gputide.ImportEvents, row(0, "a", 5), row(0, "a", 6), row(1, "a", 7), row(1, "a", 7))
		if res.Conflicts != 2 || res.Known != 1 || res.FirstSeen != 1 {
			t.Errorf("within one import: %+v", res)
		}
		res = importRows(t, s, gputide.ImportEvents, row(1, "a", 8))
		if res.Conflicts != 1 || res.Changed != 0 {
			t.Errorf("with what is stored: %+v", res)
		}
		for _, bad := range []gputide.ImportRow{row(0, "a", 0), row(0, "a", -1), {At: time.Time{}, Offer: offer("east", "a", 1)}} {
			if _, err := s.Import(t.Context(), "book", gputide.ImportEvents, rowsOf([]gputide.ImportRow{bad})); !errors.Is(err, gputide.ErrInvalid) {
				t.Errorf("row %+v: %v, want ErrInvalid", bad, err)
			}
		}
	})
	t.Run("a live run does not withdraw what an import listed", func(t *testing.T) {
		s := open(t)
		importRows(t, s, gputide.ImportSnapshot, row(0, "a", 5), row(2, "a", 5))
		commit(t, s, night{rows: prices1{"b": 1}}.run(3))
		state(t, s, "a", 4, gputide.StateImportedEnd)
		commit(t, s, night{rows: prices1{"a": 6, "b": 1}}.run(4))
		q := quoteOf(t, s, offer("east", "a", 1).Key, at(4*day24))
		if q.Imported || q.State != gputide.StatePriced || !slices.Contains(q.Flags, gputide.FlagSourceChanged) {
			t.Errorf("once crawled: %+v, want a price flagged source_changed", q)
		}
	})
}

// runFacts imports real prices, in several orders, and asks what history/facts.md
// states (facts 1, 2, 6, 7 and 8; the figures are from there).
func runFacts(t *testing.T, open func(t *testing.T) Store) {
	dir := os.Getenv("GPUTIDE_SHARED")
	if dir == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	rows := readHistory(t, filepath.Join(dir, "history", "aws_spot_2020.csv.gz"))
	rng := rand.New(rand.NewPCG(1, 2))
	var first []string
	for range 2 {
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		s := open(t)
		res, err := s.Import(t.Context(), "aws_spot_2020", gputide.ImportEvents, rowsOf(rows))
		if err != nil {
			t.Fatal(err)
		}
		want := gputide.ImportResult{Rows: 15_905, Series: 92, FirstSeen: 92, Changed: 8_920, Confirmed: 6_893}
		if d := cmp.Diff(want, res); d != "" {
			t.Fatalf("fact 1 (-want +got):\n%s", d)
		}
		got := spotFacts(t, s)
		if first != nil && !slices.Equal(first, got) {
			t.Error("another order of rows gave other contents")
		}
		first = got
	}
}

// spotFacts checks facts and returns every row as text.
func spotFacts(t *testing.T, s Store) []string {
	t.Helper()
	qs, err := s.Quotes(t.Context(), gputide.Selection{}, time.Date(2020, 6, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	from, to := time.Date(2020, 1, 5, 0, 0, 0, 0, time.UTC), time.Date(2020, 2, 5, 0, 0, 0, 0, time.UTC)
	var out []string
	still, multi := 0, 0
	for _, q := range qs {
		obs, err := s.Observations(t.Context(), q.ID, time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		n, changes := countIn(obs, from, to)
		all := 0
		for i, o := range obs {
			out = append(out, q.Key.Canonical()+" "+o.At.String()+" "+o.Price.String())
			if i > 0 && o.Price != obs[i-1].Price {
				all++
			}
		}
		if len(obs) > 1 {
			multi++
			if all == 0 {
				still++
			}
		}
		switch q.Key.Zone + " " + q.Key.InstanceType {
		case "us-east-1b p3.2xlarge":
			if n != 126 || changes != 121 || all != 355 {
				t.Errorf("facts 2 and 8: %d rows, %d changes, %d over the file", n, changes, all)
			}
		case "us-east-1f p2.xlarge":
			if len(obs) != 87 || all != 0 || obs[0].Price.String() != "0.9" {
				t.Errorf("fact 6: %d rows, %d changes", len(obs), all)
			}
		}
	}
	if still != 39 || multi != 89 {
		t.Errorf("fact 7: %d of %d never move", still, multi)
	}
	return out
}

func countIn(obs []gputide.Observation, from, to time.Time) (rows, changes int) {
	for i, o := range obs {
		if o.At.Before(from) || !o.At.Before(to) {
			continue
		}
		rows++
		if i > 0 && o.Price != obs[i-1].Price {
			changes++
		}
	}
	return rows, changes
}

func readHistory(t *testing.T, path string) []gputide.ImportRow {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(z)
	var rows []gputide.ImportRow
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		when, err := time.Parse(time.RFC3339, rec[0])
		if err != nil {
			continue // the heading
		}
		price, err := gputide.ParseNano(rec[9])
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, gputide.ImportRow{At: when, Offer: gputide.Offer{
			Key: gputide.Key{
				Provider: rec[1], Region: rec[2], Zone: rec[3], InstanceType: rec[4], Market: gputide.Market(rec[7]), OS: rec[8],
				Stat: gputide.StatList, Currency: gputide.Currency(rec[10]),
			},
			Price:     price,
			Published: gputide.Published{Amount: rec[9], Unit: gputide.PerHour, Basis: gputide.BasisInstance},
		}})
	}
}
