package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// fault is one way a source goes wrong.
type fault struct {
	name string
	edit func(t *testing.T, dir string) // of a copy of the runpod fixture
	want string                         // text of the problem; empty: rows are skipped or withdrawn instead
	skip int64                          // rows skipped
	gone int                            // offers withdrawn: the provider's own "not offered"
}

// price puts a value where the secure price of MI300X stands; it is offered on
// demand in 1 to 8 cards.
func price(value string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		edit(t, filepath.Join(dir, runpodBody), `"securePrice": 2.39,`, `"securePrice": `+value+`,`)
	}
}

// body puts a body in the place of the answer.
func body(text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		if err := os.WriteFile(filepath.Join(dir, runpodBody), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// status makes the answer one of another status with one more header.
func status(code int, header string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, "runpod/manifest.json")
		edit(t, path, `"status": 200`, fmt.Sprintf(`"status": %d`, code))
		if header != "" {
			edit(t, path, `"headers": {`, `"headers": {`+header+`, `)
		}
	}
}

func faults() []fault {
	cut := func(t *testing.T, dir string) {
		path := filepath.Join(dir, runpodBody)
		b := mustRead(t, path)
		body(string(b[:len(b)/2]))(t, dir)
	}
	rename := func(t *testing.T, dir string) {
		edit(t, filepath.Join(dir, runpodBody), `"securePrice"`, `"secure_price"`)
	}
	// The provider's own word that it does not sell secure MI300X any more.
	notOffered := func(t *testing.T, dir string) {
		edit(t, filepath.Join(dir, runpodBody), `"secureCloud": true, "communityCloud": false, "securePrice": 2.39`,
			`"secureCloud": false, "communityCloud": false, "securePrice": 2.39`)
	}
	return []fault{
		{name: "zero", edit: price("0"), skip: 8},
		{name: "blank", edit: price(`""`), skip: 8},
		{name: "null", edit: price("null"), skip: 8},
		{name: "not a number", edit: price(`"NaN"`), skip: 8},
		{name: "negative", edit: price("-2.39"), skip: 8},
		{name: "no number", edit: price(`"N/A"`), skip: 8},
		{name: "offered flag off", edit: notOffered, gone: 16},
		{name: "1e400", edit: price("1e400"), skip: 8},
		{name: "NaN breaks JSON", edit: price("NaN"), want: gputide.ErrSchemaDrift.Error()},
		{name: "renamed field", edit: rename, want: gputide.ErrSchemaDrift.Error()},
		{name: "HTML for JSON", edit: body("<!doctype html><title>Just a moment</title>"), want: gputide.ErrSchemaDrift.Error()},
		{name: "empty list", edit: body(`{"data":{"gpuTypes":[],"dataCenters":[]}}`), want: gputide.ErrEmpty.Error()},
		{name: "empty body", edit: body(""), want: gputide.ErrSchemaDrift.Error()},
		{name: "body cut", edit: cut, want: gputide.ErrSchemaDrift.Error()},
		{name: "401", edit: status(http.StatusUnauthorized, ""), want: gputide.ErrAuth.Error()},
		{name: "429", edit: status(http.StatusTooManyRequests, `"Retry-After": "3600"`), want: "retry after 1h0m0s"},
		{name: "500", edit: status(http.StatusInternalServerError, ""), want: gputide.ErrUnavailable.Error()},
	}
}

// TestFaults holds that no fault ever stores a price, withdraws what it should
// not, or harms another provider.
func TestFaults(t *testing.T) {
	for _, tt := range faults() {
		t.Run(tt.name, func(t *testing.T) {
			c, dir := testMain(t), fixtureDir(t, "runpod", "ecb")
			c.crawlAt(t, dir, day1, exitOK)
			before := c.offers(t, day1)
			tt.edit(t, dir)
			code := exitOK
			if tt.want != "" {
				code = exitProviders
			}
			report := c.crawlAt(t, dir, day2, code)
			got := report["runpod"]
			if ecb := report["ecb"]; ecb.Status != statusOK {
				t.Errorf("another provider was harmed: %+v", ecb)
			}
			checkFault(t, &tt, &got)
			states := map[string]int{}
			for id, o := range c.offers(t, day3) {
				if b, ok := before[id]; !ok || o.Price != b.Price {
					t.Errorf("a fault stored a price: %s %+v, before %+v", id, o, b)
				}
				states[o.State]++
			}
			want := map[string]int{"withdrawn": tt.gone, "held": int(tt.skip), "gap": 0}
			if tt.want != "" {
				want["gap"] = len(before)
			}
			for s, n := range want {
				if states[s] != n {
					t.Errorf("%d offers are %s, want %d: %v", states[s], s, n, states)
				}
			}
		})
	}
}

func checkFault(t *testing.T, tt *fault, got *crawlRow) {
	t.Helper()
	if tt.want == "" {
		if got.SkippedRows != tt.skip || got.Result.Withdrawn != tt.gone || got.Status != statusOK {
			t.Errorf("skipped %d want %d, withdrawn %d want %d: %+v", got.SkippedRows, tt.skip, got.Result.Withdrawn, tt.gone, got)
		}
		return
	}
	if got.Status != statusFailed || got.Result.Withdrawn != 0 || got.Offers != 0 {
		t.Errorf("%+v", got)
	}
	if !slices.ContainsFunc(got.Problems, func(p problemOut) bool { return strings.Contains(p.Text, tt.want) && p.Hint != nil }) {
		t.Errorf("no problem says %q with a hint: %+v", tt.want, got.Problems)
	}
}

// TestRepeatedPageToken answers every page of the instance types with the token
// of the page before: the crawl ends, prices are stored, and the source is named.
func TestRepeatedPageToken(t *testing.T) {
	c, dir := testMain(t), fixtureDir(t, "aws", "runpod")
	edit(t, filepath.Join(dir, "aws/manifest.json"), `"file": "types-2.xml"`, `"file": "types-1.xml"`)
	report := c.crawlAt(t, dir, day1, exitOK)
	if got := report["runpod"]; got.Status != statusOK {
		t.Errorf("another provider was harmed: %+v", got)
	}
	got := report["aws"]
	if got.Offers == 0 || !slices.ContainsFunc(got.Problems, func(p problemOut) bool {
		return deref(p.Source) == "instance-types" && p.Kind == problemFailed && p.Hint != nil
	}) {
		t.Errorf("%d offers, problems %+v", got.Offers, got.Problems)
	}
}

// roundTrip is a network made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// serveRunpod answers like the live source.
func serveRunpod(t *testing.T) roundTrip {
	t.Helper()
	text := string(mustRead(t, filepath.Join("..", "..", "fixtures", runpodBody)))
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
			Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)), ProtoMajor: 1, ProtoMinor: 1,
		}, nil
	}
}

// TestReset holds that a connection that is reset is a gap.
func TestReset(t *testing.T) {
	c := testMain(t)
	c.Transport = serveRunpod(t)
	c.must(t, "crawl", "--provider", "runpod")
	before := c.offers(t, "2026-09-01T12:00:00Z")
	if len(before) == 0 {
		t.Fatal("nothing was stored")
	}
	c.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNRESET })
	c.Now = func() time.Time { return testNow.Add(time.Hour) }
	if code := c.run(t, "crawl", "--provider", "runpod"); code != exitProviders {
		t.Fatalf("exit code %d\n%s", code, c.out.String())
	}
	if out := c.out.String(); !strings.Contains(out, gputide.ErrUnavailable.Error()) || !strings.Contains(out, "do: ") {
		t.Errorf("report:\n%s", out)
	}
	for id, o := range c.offers(t, "2026-09-01T14:00:00Z") {
		if o.State != "gap" || o.Price != before[id].Price {
			t.Errorf("%s: %+v", id, o)
		}
	}
}

// blackHole is a network that swallows every connection and remembers where
// they went.
type blackHole struct {
	mu    sync.Mutex
	addrs []string
}

func (b *blackHole) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	b.mu.Lock()
	b.addrs = append(b.addrs, addr)
	b.mu.Unlock()
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestBlackHole crawls every provider without keys into a network that never
// answers.
func TestBlackHole(t *testing.T) {
	c, hole := testMain(t), &blackHole{}
	c.Dial = hole.dial
	start := time.Now()
	code := c.run(t, "crawl", "--deadline", "2s")
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("the crawl took %s", took)
	}
	if code != exitProviders {
		t.Errorf("exit code %d", code)
	}
	infos := c.infos()
	out := c.out.String()
	for i := range infos {
		problem := regexp.MustCompile(`(?m)^` + infos[i].Name + `[/:].*failed.*\n  do: `)
		if !problem.MatchString(out) {
			t.Errorf("nothing is said of %s and what to do:\n%s", infos[i].Name, out)
		}
	}
	if len(hole.addrs) == 0 {
		t.Error("nothing was asked")
	}
	for _, a := range hole.addrs {
		host, _, err := net.SplitHostPort(a)
		if err != nil || net.ParseIP(host) != nil || strings.Contains(host, "metadata") {
			t.Errorf("%s was dialled", a)
		}
	}
}

// TestInterrupt cancels a crawl, as SIGINT and SIGTERM do, when one provider was
// read and another hangs: what was read is stored and sound.
func TestInterrupt(t *testing.T) {
	c := testMain(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	served := make(chan struct{}, 8) // ecb has two sources
	c.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Host, "ecb.europa.eu") {
			defer func() { served <- struct{}{} }()
			text := string(mustRead(t, filepath.Join("..", "..", "fixtures", "ecb", filepath.Base(r.URL.Path))))
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/xml"}}, Request: r,
				Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)), ProtoMajor: 1, ProtoMinor: 1,
			}, nil
		}
		<-served
		cancel()
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	c.Now = func() time.Time { return time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC) }
	if code := c.Run(ctx, []string{"crawl", "--provider", "ecb,runpod"}); code != exitProviders {
		t.Fatalf("exit code %d\n%s%s", code, c.out.String(), c.err.String())
	}
	if out := c.out.String(); !strings.Contains(out, "\nrunpod ") || !strings.Contains(out, "interrupted") {
		t.Errorf("report:\n%s", out)
	}
	c.must(t, "db", "check")
	if out := c.must(t, "query", "offers"); out != "" {
		t.Errorf("offers of an interrupted provider:\n%s", out)
	}
}

// TestReplay repairs a run from the archive of a live crawl.
func TestReplay(t *testing.T) {
	c := testMain(t)
	c.Transport = serveRunpod(t)
	c.must(t, "crawl", "--provider", "runpod")
	before := c.offers(t, "2026-09-02")
	c.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		t.Errorf("replay asked %s", r.URL)
		return nil, syscall.ECONNREFUSED
	})
	out := c.must(t, "replay", "--provider", "runpod", "-o", "json")
	if !strings.Contains(out, `"at":"2026-09-01T12:00:00Z"`) {
		t.Errorf("replay:\n%s", out)
	}
	after := c.offers(t, "2026-09-02")
	if len(after) != len(before) || len(after) == 0 {
		t.Fatalf("%d offers, %d before", len(after), len(before))
	}
	for id, o := range after {
		if o.Price != before[id].Price {
			t.Errorf("%s: %+v, before %+v", id, o, before[id])
		}
	}
	if code := c.run(t, "replay", "--provider", "runpod", "--at", "2026-08-01"); code != exitError || !strings.Contains(c.err.String(), "hint: ") {
		t.Errorf("replay of a time before the archive: exit code %d, %s", code, c.err.String())
	}
}

// TestReplayOfLostBody replays a run whose body the archive no longer has: what
// the run stored stays.
func TestReplayOfLostBody(t *testing.T) {
	c := testMain(t)
	c.Transport = serveRunpod(t)
	c.must(t, "crawl", "--provider", "runpod")
	before := c.offers(t, "2026-09-01T12:30:00Z")
	objects := filepath.Join(c.env["HOME"], "test.db.archive", "objects")
	if err := os.Rename(objects, objects+".lost"); err != nil {
		t.Fatal(err)
	}
	if code := c.run(t, "replay", "--provider", "runpod"); code != exitProviders || !strings.Contains(c.out.String(), "do: ") {
		t.Errorf("exit code %d\n%s", code, c.out.String())
	}
	if diff := cmp.Diff(before, c.offers(t, "2026-09-01T12:30:00Z")); diff != "" || len(before) == 0 {
		t.Errorf("a replay that read nothing changed offers (-before +after):\n%s", diff)
	}
}
