package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The moments of a scenario, each later than the one before.
const (
	day1 = "2026-08-22T00:00:00Z"
	day2 = "2026-08-22T01:00:00Z"
	day3 = "2026-08-22T02:00:00Z"
)

// fixtureDir copies fixtures of the project into a directory of its own, where a
// test may change them.
func fixtureDir(t *testing.T, providers ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, p := range providers {
		if err := os.CopyFS(filepath.Join(dir, p), os.DirFS(filepath.Join("..", "..", "fixtures", p))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// edit replaces text in a file of a fixture; the text must be there.
func edit(t *testing.T, path, old, text string) {
	t.Helper()
	b := string(mustRead(t, path))
	if !strings.Contains(b, old) {
		t.Fatalf("%s does not hold %q", path, old)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(b, old, text)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// offer is what the scenarios look at of an offer.
type offer struct {
	Provider string   `json:"provider"`
	Type     string   `json:"instance_type"`
	Market   string   `json:"market"`
	Tier     string   `json:"tier"`
	Price    string   `json:"price"`
	State    string   `json:"state"`
	Observed string   `json:"observed_at"`
	AgeS     int64    `json:"age_s"`
	Flags    []string `json:"flags"`
}

// offers returns every offer known at a moment by its id, hidden ones too.
func (c *cli) offers(t *testing.T, at string, filters ...string) map[string]offer {
	t.Helper()
	text := c.must(t, append([]string{"query", "offers", "--all", "-o", "ndjson", "--at", at}, filters...)...)
	out := map[string]offer{}
	for line := range strings.Lines(text) {
		var row struct {
			ID string `json:"offer_id"`
			offer
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		out[row.ID] = row.offer
	}
	return out
}

// change is what the scenarios look at of a change.
type change struct {
	Kind   string  `json:"kind"`
	Type   string  `json:"instance_type"`
	Before *string `json:"before"`
	After  *string `json:"after"`
	SeenAt string  `json:"seen_at"`
	Pct    *float64
}

func (c *cli) changesOf(t *testing.T, args ...string) []change {
	t.Helper()
	var list []change
	if err := json.Unmarshal([]byte(c.must(t, append([]string{"query", "changes", "-o", "json"}, args...)...)), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// crawlAt crawls fixtures at a moment and returns the report by provider.
func (c *cli) crawlAt(t *testing.T, dir, at string, wantCode int, args ...string) map[string]crawlRow {
	t.Helper()
	code := c.run(t, append([]string{"crawl", "--fixtures", dir, "--at", at, "-o", "json"}, args...)...)
	if code != wantCode {
		t.Fatalf("crawl at %s: exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", at, code, wantCode, c.out.String(), c.err.String())
	}
	return c.report(t)
}

// report reads what a crawl with -o json wrote, by provider.
func (c *cli) report(t *testing.T) map[string]crawlRow {
	t.Helper()
	var rows []crawlRow
	if err := json.Unmarshal(c.out.Bytes(), &rows); err != nil {
		t.Fatalf("%v: %s", err, c.out.String())
	}
	out := map[string]crawlRow{}
	for _, r := range rows {
		out[r.Provider] = r
	}
	return out
}

const runpodBody = "runpod/gpu-types.json"

func TestCrawlTwiceChangesNothing(t *testing.T) {
	c, dir := testMain(t), fixtureDir(t, "runpod")
	first := c.crawlAt(t, dir, day1, exitOK)["runpod"]
	if first.Offers == 0 || first.Result.FirstSeen != first.Offers {
		t.Fatalf("first crawl: %+v", first)
	}
	offers, changes := c.offers(t, day3), c.changesOf(t)
	again := c.crawlAt(t, dir, day1, exitOK)["runpod"]
	if !again.Unchanged {
		t.Errorf("the same crawl again: %+v", again)
	}
	later := c.crawlAt(t, dir, day2, exitOK)["runpod"]
	if r := later.Result; r.FirstSeen+r.Changed+r.Withdrawn+r.Returned+r.Held != 0 || r.Confirmed != first.Offers {
		t.Errorf("the same fixture an hour later: %+v", r)
	}
	if diff := cmp.Diff(changes, c.changesOf(t)); diff != "" {
		t.Errorf("changes (-before +after):\n%s", diff)
	}
	for id, o := range c.offers(t, day3) {
		if o.Observed != day2 || o.Price != offers[id].Price {
			t.Errorf("%s: %+v", id, o)
		}
	}
}

func TestOnePriceChanged(t *testing.T) {
	c, dir := testMain(t), fixtureDir(t, "runpod")
	c.crawlAt(t, dir, day1, exitOK)
	edit(t, filepath.Join(dir, runpodBody), `"securePrice": 2.39,`, `"securePrice": 2.49,`)
	got := c.crawlAt(t, dir, day2, exitOK)["runpod"]
	if got.Result.FirstSeen != 0 || got.Result.Withdrawn != 0 || got.Result.Changed != 8 {
		t.Fatalf("MI300X in 1 to 8 cards is dearer: %+v", got.Result)
	}
	list := c.changesOf(t, "--kind", "price", "--type", "AMD Instinct MI300X OAM×1")
	want := []change{{Kind: "price", Type: "AMD Instinct MI300X OAM×1", Before: opt("2.39"), After: opt("2.49"), SeenAt: day2, Pct: new(4.1841)}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConflictIsRefused(t *testing.T) {
	c, dir := testMain(t), fixtureDir(t, "runpod")
	c.crawlAt(t, dir, day1, exitOK)
	before := c.offers(t, day3)
	edit(t, filepath.Join(dir, runpodBody), `"securePrice": 2.39,`, `"securePrice": 2.49,`)
	got := c.crawlAt(t, dir, day1, exitProviders)["runpod"]
	if len(got.Problems) != 1 || got.Status != statusFailed || !strings.Contains(deref(got.Problems[0].Hint), "--replace") {
		t.Errorf("no hint to replace: %+v", got.Problems)
	}
	if diff := cmp.Diff(before, c.offers(t, day3)); diff != "" {
		t.Errorf("a refused run changed offers:\n%s", diff)
	}
	c.crawlAt(t, dir, day1, exitOK, "--replace")
	if n := len(c.changesOf(t, "--kind", "price")); n != 0 {
		t.Errorf("a replaced first run left %d price changes", n)
	}
	if o := c.offers(t, day3, "--type", "AMD Instinct MI300X OAM×1", "--market", "on_demand"); len(o) != 1 {
		t.Errorf("%+v", o)
	} else {
		for _, v := range o {
			if v.Price != "2.49" {
				t.Errorf("price %s after --replace", v.Price)
			}
		}
	}
}

func TestOfferGoneIsWithdrawn(t *testing.T) {
	c, dir := testMain(t), fixtureDir(t, "runpod")
	c.crawlAt(t, dir, day1, exitOK)
	edit(t, filepath.Join(dir, runpodBody), `"secureCloud": false, "communityCloud": true, "securePrice": 0, "communityPrice": 1,`,
		`"secureCloud": false, "communityCloud": false, "securePrice": 0, "communityPrice": 1,`)
	got := c.crawlAt(t, dir, day2, exitOK)["runpod"]
	if got.Result.Withdrawn != 4 { // one and two cards, on demand and spot
		t.Fatalf("A100 40GB is no longer offered: %+v", got)
	}
	for id, o := range c.offers(t, day3, "--type", "NVIDIA A100-SXM4-40GB×*") {
		if o.State != "withdrawn" || o.Observed != day1 {
			t.Errorf("%s: %+v", id, o)
		}
	}
	if o := c.offers(t, day1, "--type", "NVIDIA A100-SXM4-40GB×*", "--state", "priced"); len(o) != 4 {
		t.Errorf("before, they were on offer: %+v", o)
	}
	c.must(t, "query", "offers", "--type", "NVIDIA A100-SXM4-40GB×*", "--at", day3)
	if c.out.Len() != 0 || !strings.Contains(c.err.String(), "hidden: 4 offers") || !strings.Contains(c.err.String(), "--state withdrawn") {
		t.Errorf("nothing says that withdrawn offers are hidden:\n%s%s", c.out.String(), c.err.String())
	}
}

func TestFailingSourceIsAGap(t *testing.T) {
	c, dir := testMain(t), fixtureDir(t, "runpod")
	c.crawlAt(t, dir, day1, exitOK)
	before := c.offers(t, day1)
	edit(t, filepath.Join(dir, "runpod/manifest.json"), `"status": 200`, `"status": 503`)
	got := c.crawlAt(t, dir, day2, exitProviders)["runpod"]
	if got.ScopesFailed == 0 || got.Result.Withdrawn != 0 || len(got.Problems) == 0 || got.Problems[0].Hint == nil {
		t.Fatalf("%+v", got)
	}
	after := c.offers(t, day3)
	if len(after) != len(before) {
		t.Fatalf("%d offers, %d before", len(after), len(before))
	}
	for id, o := range after {
		if o.State != "gap" || o.Price != before[id].Price || o.Observed != day1 || o.AgeS != 7200 {
			t.Errorf("%s: %+v, before %+v", id, o, before[id])
		}
	}
}

func TestSkippedRowWithdrawsNothing(t *testing.T) {
	c, dir := testMain(t), fixtureDir(t, "runpod")
	c.crawlAt(t, dir, day1, exitOK)
	before := c.offers(t, day1)
	edit(t, filepath.Join(dir, runpodBody), `"securePrice": 2.39,`, `"securePrice": -1,`)
	got := c.crawlAt(t, dir, day2, exitOK)["runpod"]
	if got.Result.Withdrawn != 0 || got.SkippedRows != 8 || got.Result.Held != 8 {
		t.Fatalf("%+v", got)
	}
	after := c.offers(t, day3)
	held := 0
	for id, o := range after {
		if o.Price != before[id].Price {
			t.Errorf("%s: %+v, before %+v", id, o, before[id])
		}
		if o.State == "held" {
			held++
		}
	}
	if held != 8 || len(after) != len(before) {
		t.Errorf("%d held of %d, %d before", held, len(after), len(before))
	}
}

func TestQuarantinedRowWithdrawsNothing(t *testing.T) {
	c, dir := testMain(t), fixtureDir(t, "runpod")
	c.crawlAt(t, dir, day1, exitOK)
	before := c.offers(t, day1)
	edit(t, filepath.Join(dir, runpodBody), `"communityPrice": 1,`, `"communityPrice": 100,`)
	got := c.crawlAt(t, dir, day2, exitOK)["runpod"]
	if got.Result.Withdrawn != 0 || got.Result.Changed != 0 || got.Result.Held != 2 {
		t.Fatalf("a price a hundred times that of before: %+v", got)
	}
	for id, o := range c.offers(t, day3) {
		if o.Price != before[id].Price {
			t.Errorf("%s: %+v, before %+v", id, o, before[id])
		}
	}
	var refused []refusedRow
	if err := json.Unmarshal([]byte(c.must(t, "quarantine", "list", "-o", "json")), &refused); err != nil {
		t.Fatal(err)
	}
	if len(refused) != 2 || refused[0].Reason == "" || deref(refused[0].Price) == "" {
		t.Fatalf("%+v", refused)
	}
	if text := c.must(t, "quarantine", "show", refused[0].OfferID); !strings.Contains(text, "NVIDIA A100-SXM4-40GB") {
		t.Errorf("quarantine show:\n%s", text)
	}
}

// TestFormulaInName crawls a name that a spreadsheet would run.
func TestFormulaInName(t *testing.T) {
	c, dir := testMain(t), fixtureDir(t, "runpod")
	edit(t, filepath.Join(dir, runpodBody), `"id": "NVIDIA B200"`, `"id": "=cmd|'/C calc'!A0"`)
	c.crawlAt(t, dir, day1, exitOK)
	for _, args := range [][]string{{"query", "offers", "--all"}, {"query", "types"}, {"query", "changes"}, {"query", "signals"}} {
		text := c.must(t, append(args, "-o", "csv")...)
		if !strings.Contains(text, ",'=cmd") || strings.Contains(text, ",=cmd") {
			t.Errorf("%q writes a cell that starts a formula", args)
		}
	}
}

// TestHostileText crawls a name that a terminal would obey and looks for it in
// everything that is written about it.
func TestHostileText(t *testing.T) {
	c, dir := testMain(t), fixtureDir(t, "runpod")
	edit(t, filepath.Join(dir, runpodBody), `"id": "NVIDIA B200"`, `"id": "evil \u001b]0;owned\u0007\u001b[2J\u202eB200"`)
	edit(t, filepath.Join(dir, runpodBody), `"displayName": "H100 SXM"`, `"displayName": "evil \u001b[31m\u009b31m H100 SXM"`)
	for _, args := range [][]string{
		{"crawl", "--fixtures", dir, "--at", day1},
		{"runs", "show"},
		{"quarantine", "list"},
		{"query", "offers", "--all"},
		{"query", "types"},
		{"query", "changes"},
		{"query", "signals"},
	} {
		for _, form := range []string{"table", "json"} {
			c.run(t, append(args, "-o", form)...)
			text := c.out.String() + c.err.String()
			if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && unsafeRune(r) }); i >= 0 {
				t.Errorf("%q -o %s writes %q", args, form, text[max(0, i-10):min(len(text), i+20)])
			}
		}
	}
}
