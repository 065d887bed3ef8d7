package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
	"github.com/gputide/gputide/store"
)

// randomKey returns a key with any of the fields set.
func randomKey(rng *rand.Rand, n int) gputide.Key {
	one := func(values ...string) string { return values[rng.IntN(len(values))] }
	k := gputide.Key{
		Provider: "acme", Partition: one("", "acme-cn"), Seller: one("", "s=1"), Region: one("us-1", "eu-1", ""), Zone: one("", "a", "b, c"),
		InstanceType: fmt.Sprintf("g%d \"×8\"", n), Market: gputide.Market(one("on_demand", "spot", "commitment")), OS: one("", "linux", "windows"),
		License: one("", "byol"), Tenancy: one("", "shared"), Tier: one("", "secure"), Volume: one("", "h<=96"), Stat: gputide.Stat(one("list", "min")),
		Tax: gputide.Tax(one("", "excluded")), Currency: gputide.Currency(one("USD", "CNY")),
	}
	if k.Market == gputide.Commitment {
		k.Plan, k.Term, k.Payment = "ri", "1y", gputide.Payment(one("none", "all"))
	}
	return k
}

// randomOffer returns an offer of a key with an amount published in any of the
// forms there are.
func randomOffer(t *testing.T, rng *rand.Rand, norm *normalize.Normalizer, k gputide.Key, spec *gputide.Spec) gputide.Offer {
	t.Helper()
	amount := func() string {
		return fmt.Sprintf("%d.%0*d", 1+rng.IntN(40), 1+rng.IntN(12), 1+rng.IntN(9))
	}
	p := gputide.Published{Amount: amount(), Unit: gputide.PerHour, Basis: gputide.BasisInstance}
	switch rng.IntN(6) {
	case 0:
		p.Unit = gputide.PerMonth
	case 1:
		p.Basis = gputide.BasisAccelerator
	case 2:
		p.Unit = gputide.PerSecond
	case 3:
		if k.Term != "" {
			p.Upfront = amount()
		}
	case 4:
		p = gputide.Published{Unit: gputide.PerHour, Basis: gputide.BasisInstance}
		for _, kind := range []string{"core", "ram", "accelerator"} {
			p.Components = append(p.Components, gputide.Component{Kind: kind, Amount: amount(), Unit: gputide.PerHour, Quantity: "8", SKU: "S-" + kind})
		}
	}
	raw := gputide.RawOffer{Source: "api", Key: k, Price: p, Spec: spec, SKU: []string{"", "SKU,1", "S2"}[rng.IntN(3)]}
	if rng.IntN(4) == 0 {
		raw.Flags = []gputide.Flag{gputide.FlagAccountZone}
	}
	o, err := norm.Offer(&raw, spec)
	if err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
	return o
}

// randomDatabase fills a database with runs in which offers come, go, change, are
// held and stay.
func randomDatabase(t *testing.T, rng *rand.Rand, path string) {
	t.Helper()
	norm, err := loadNormalizer()
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(path, store.Options{Deriver: norm, Now: func() time.Time { return testNow }})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	offers := make([]gputide.Offer, 12)
	specs := make([]gputide.Spec, len(offers))
	for i := range offers {
		k := randomKey(rng, i)
		specs[i] = gputide.Spec{
			Source: "api", Provider: k.Provider, Partition: k.Partition, InstanceType: k.InstanceType, VCPU: new(float64(8 + i)), Use: []string{"training"},
			Device: gputide.Device{Name: "NVIDIA A100-SXM4-80GB", Count: gputide.NewCount(uint32(1+i%3), uint32(1+i%2)), MemoryMiB: new(int64(81920))},
		}
		offers[i] = randomOffer(t, rng, norm, k, &specs[i])
	}
	at := testNow.AddDate(0, -3, 0)
	for range 25 {
		at = at.Add(time.Duration(1+rng.IntN(90)) * time.Hour / 2)
		run := &gputide.Run{Provider: "acme", At: at, Cause: gputide.CauseCrawl, Specs: specs}
		for i := range offers {
			switch rng.IntN(8) {
			case 0, 1:
				offers[i] = randomOffer(t, rng, norm, offers[i].Key, &specs[i])
			case 2:
				continue // not listed
			case 3:
				run.HeldKeys = append(run.HeldKeys, gputide.HeldKey{Key: offers[i].Key, Source: "api", Reason: "no_price"})
				continue
			}
			run.Offers = append(run.Offers, offers[i])
		}
		status := gputide.ScopeDone
		if rng.IntN(6) == 0 {
			status, run.Offers, run.HeldKeys = gputide.ScopeFailed, nil, nil
		}
		run.Scopes = []gputide.ScopeRun{{Status: status, Source: "api", Count: len(run.Offers) + len(run.HeldKeys)}}
		if _, err := db.CommitRun(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
}

// TestExportImportIsTheIdentity exports random databases, imports the rows in any
// order into empty ones, and exports those.
func TestExportImportIsTheIdentity(t *testing.T) {
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 11))
		c := testMain(t)
		randomDatabase(t, rng, c.env["GPUTIDE_DB"])
		for _, args := range [][]string{{}, {"-o", "ndjson"}, {"--changes"}, {"--from", stamp(testNow.AddDate(0, -2, -15))}} {
			want := c.must(t, append([]string{"export"}, args...)...)
			if n := strings.Count(want, "\n"); n < 50 {
				t.Fatalf("seed %d %v: only %d lines", seed, args, n)
			}
			for _, word := range []string{",withdrawn,", ",held,", `""kind"":""ram""`, ",accelerator,", ",mo,", `"SKU,1"`, "account_zone"} {
				if len(args) == 0 && !strings.Contains(want, word) {
					t.Errorf("seed %d: no %s in it", seed, word)
				}
			}
			file := filepath.Join(t.TempDir(), "export")
			writeText(t, file, shuffledRows(rng, want))
			fresh := testMain(t)
			out := importReport(t, fresh, file, "--profile", "export")
			if out.Rejected != 0 || out.Duplicate != 0 {
				t.Errorf("seed %d %v: %+v", seed, args, out)
			}
			if d := cmp.Diff(want, fresh.must(t, append([]string{"export"}, args...)...)); d != "" {
				t.Fatalf("seed %d %v (-exported +exported after the import):\n%s", seed, args, d)
			}
			if again := importReport(t, fresh, file, "--profile", "export"); again.Accepted != 0 || again.Specs+again.Changed+again.Withdrawn != 0 {
				t.Errorf("seed %d %v again: %+v", seed, args, again)
			}
			fresh.must(t, "db", "check")
		}
	}
}

// shuffledRows puts the lines of an export in any order, the header first.
func shuffledRows(rng *rand.Rand, text string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	rows := lines
	if !strings.HasPrefix(lines[0], "{") {
		rows = lines[1:]
	}
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return strings.Join(lines, "\n") + "\n"
}

// TestExportInParts imports an export in two halves, the later one first.
func TestExportInParts(t *testing.T) {
	c := testMain(t)
	randomDatabase(t, rand.New(rand.NewPCG(99, 11)), c.env["GPUTIDE_DB"])
	want := c.must(t, "export")
	middle := stamp(testNow.AddDate(0, -2, -15))
	fresh := testMain(t)
	// A part begins with its first price: what ended before is the other's.
	for _, bound := range []string{"--from", "--to"} {
		file := filepath.Join(t.TempDir(), "part")
		writeText(t, file, c.must(t, "export", bound, middle))
		importReport(t, fresh, file, "--profile", "export")
	}
	got := fresh.must(t, "export")
	priced := func(text string) []string {
		var out []string
		for line := range strings.SplitSeq(text, "\n") {
			if strings.Contains(line, ",priced,") {
				line, _, _ = strings.Cut(line, ",\"{\"\"source")
				out = append(out, line)
			}
		}
		return out
	}
	if d := cmp.Diff(priced(want), priced(got)); d != "" {
		t.Error(d)
	}
	fresh.must(t, "db", "check")
}

func TestExportFilters(t *testing.T) {
	c := testMain(t)
	importRows(t, c, "aws_ondemand_2022_2026", snapshotRows()...)
	head := strings.SplitN(c.must(t, "export"), "\n", 2)[0] + "\n"
	for _, tt := range []struct {
		args []string
		rows int
	}{
		{nil, 20}, // 18 prices, two withdrawals
		{[]string{"--type", "p5.48xlarge"}, 7},
		{[]string{"--type", "p5.48xlarge", "--changes"}, 3},
		{[]string{"--gpu", "a10g"}, 6},
		{[]string{"--from", "2025-03-06"}, 4}, // the offer that was withdrawn then has no price left
		{[]string{"--to", "2025-03-02"}, 3},
		{[]string{"--type", "p5.48xlarge", "--market", "spot"}, 0},
	} {
		text := c.must(t, append([]string{"export"}, tt.args...)...)
		body, ok := strings.CutPrefix(text, head)
		if n := strings.Count(body, "\n"); !ok || n != tt.rows {
			t.Errorf("%v: %d rows, want %d\n%s", tt.args, n, tt.rows, text)
		}
	}
	for _, bad := range [][]string{{"-o", "table"}, {"--gpu", "h1oo"}, {"--from", "2025-03-06", "--to", "2025-03-01"}, {"x"}} {
		if code := c.run(t, append([]string{"export"}, bad...)...); code != exitUsage {
			t.Errorf("%v: exit code %d: %s", bad, code, c.err.String())
		}
	}
	none := testMain(t)
	if code := none.run(t, "export"); code != exitError {
		t.Errorf("without a database: exit code %d", code)
	}
}

// TestExportIsVerified changes one thing of an exported row at a time.
func TestExportIsVerified(t *testing.T) {
	c := testMain(t)
	importRows(t, c, "aws_ondemand_2022_2026", snapshotRows()[0])
	good := c.must(t, "export")
	for _, edit := range []struct{ old, new, reason string }{
		{"us-east-1", "us-east-2", "bad_offer_id"},
		{",98,98,", ",98,97,", "bad_offer_id"},
		{",98,98,", ",0,0,", "bad_price"},
		{",h,instance,", ",h,vcpu,", "bad_price"},
		{",priced,", ",lent,", "bad_columns"},
		{"2025-03-01T06:00:00Z", "2027-03-01T06:00:00Z", "bad_time"},
		{",USD,", ",usd,", "bad_key"},
		{`""count""`, `""count`, "bad_spec"},
	} {
		bad := strings.Replace(good, edit.old, edit.new, 1)
		if bad == good {
			t.Fatalf("no %q in %s", edit.old, good)
		}
		file := filepath.Join(t.TempDir(), "bad.csv")
		writeText(t, file, bad)
		fresh := testMain(t)
		code := fresh.run(t, "import", file, "--profile", "export", "-o", "json")
		if code != exitError || !strings.Contains(fresh.out.String(), `"`+edit.reason+`": 1`) {
			t.Errorf("%q for %q: exit code %d\n%s%s", edit.new, edit.old, code, fresh.out.String(), fresh.err.String())
		}
	}
}
