package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
)

// beside returns the program once more, with the environment and the clock of c
// and outputs of its own: the command line beside a daemon.
func (c *cli) beside() *cli {
	b := &cli{env: c.env}
	b.Main = &Main{Stdout: &b.out, Stderr: &b.err, Now: c.Now, LookupEnv: c.LookupEnv, Dial: refuseDial, Transport: c.Transport}
	return b
}

// daemon starts a daemon in this process and returns it with a function that
// stops it and waits for its end. yaml is its configuration.
func (c *cli) daemon(t *testing.T, yaml, fixtures string) (*daemon, func() error) {
	t.Helper()
	conf, err := parseConfig(filepath.Join(t.TempDir(), "gputide.yaml"), []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := conf.check(c.infos())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.applyConfig(conf); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	d, err := c.startDaemon(ctx, conf, jobs, fixtures)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- d.run(ctx) }()
	stop := sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	t.Cleanup(func() { _ = stop() })
	return d, stop
}

// idle is a configuration that crawls nothing by itself.
func (c *cli) idle(on ...string) string {
	var b strings.Builder
	b.WriteString("providers:\n")
	infos := c.infos()
	for i := range infos {
		fmt.Fprintf(&b, "  %s: {enabled: %t}\n", infos[i].Name, strings.Contains(strings.Join(on, " "), infos[i].Name))
	}
	return b.String()
}

// written is what a command line gave.
type written struct {
	Code     int
	Out, Err string
}

func (c *cli) write(t *testing.T, args ...string) written {
	t.Helper()
	code := c.run(t, args...)
	return written{code, c.out.String(), c.err.String()}
}

// everyQuestion lists command lines of every verb that asks, good ones and wrong
// ones. ID stands for an offer id.
func everyQuestion() []string {
	return []string{
		"query offers", "query offers --all -o json", "query offers --gpu h100,mi300x --in EUR --sort -price --limit 7 -o csv",
		"query offers --gpu h100 --country us", "query offers --max-price 3 --fits 80GB --available -o ndjson",
		"query offers --gpu hx00", "query offers --provider runpot", "query offers --at 2020-01-01", "query offers --in XXX",
		"query changes", "query changes -o ndjson", "query changes --kind price --limit 3", "query changes --since 30d --gpu mi300x -o csv",
		"query changes --kind nothing", "query changes --after-seq 5 --limit 2 -o json", "query changes --count-by day",
		"query changes --count-by series --top 3 -o json", "query changes --top 2",
		"query types", "query types --gpu h100 -o json", "query types --gpu none",
		"query signals", "query signals --name availability -o json", "query signals --count-by value", "query signals --name listings",
		"query trend --gpu h100 --bucket hour --from 2026-08-22 --to 2026-08-23", "query trend --gpu h100 --bucket day --from 2026-08-22 --to 2026-08-24 -o json",
		"query trend --gpu h100 --over rows --group-by provider,tier --bucket all --from 2026-08-22 --to 2026-08-24 -o ndjson",
		"query discount --market spot --from 2026-08-22 --to 2026-08-24", "query spot --gpu h100 --from 2026-08-22 --to 2026-08-24 -o json",
		"query fx USD CNY", "query fx USD CNY -o json",
		"explain ID", "explain ID -o json", "explain ID --at 2026-08-22T00:30:00Z", "explain ID --at 2020-01-01", "explain 0123456789ab", "explain x",
		"runs list", "runs list --provider runpod --limit 1 -o csv", "runs show", "runs show 1 -o json", "runs show --provider ecb",
		"runs show 99", "runs show --provider lambda", "quarantine list", "quarantine list -o json", "quarantine show 0123456789abcdef0123456789abcdef",
		"providers", "providers -o json", "db stats -o json",
	}
}

// TestDaemonAnswersAsTheFile holds that every verb writes the same, byte for
// byte, with a daemon and without: rows, footers, errors and exit codes.
func TestDaemonAnswersAsTheFile(t *testing.T) {
	c, dir := testMain(t), fixtureDir(t, "runpod", "ecb")
	c.crawlAt(t, dir, day1, exitOK)
	edit(t, filepath.Join(dir, runpodBody), `"securePrice": 2.39,`, `"securePrice": 2.49,`)
	c.crawlAt(t, dir, day2, exitOK)
	edit(t, filepath.Join(dir, runpodBody), `"securePrice": 2.49,`, `"securePrice": 0,`) // held
	c.crawlAt(t, dir, day3, exitOK)
	id := strings.Split(strings.Split(c.must(t, "query", "offers", "--gpu", "mi300x", "--all", "-o", "csv"), "\n")[1], ",")[0]
	lines := func() map[string]written {
		out := map[string]written{}
		for _, line := range everyQuestion() {
			args := strings.Fields(strings.Replace(line, "ID", id[:12], 1))
			out[line] = c.beside().write(t, args...)
		}
		return out
	}
	without := lines()
	d, stop := c.daemon(t, c.idle(), "")
	client, err := c.beside().dial(t.Context())
	if err != nil || client == nil {
		t.Fatalf("the daemon at %s does not answer: %v", d.address(), err)
	}
	client.Close()
	with := lines()
	for _, line := range everyQuestion() {
		if diff := cmp.Diff(without[line], with[line]); diff != "" {
			t.Errorf("gputide %s (-file +daemon):\n%s", line, diff)
		}
		if bad := without[line]; bad.Code != exitOK && bad.Err == "" {
			t.Errorf("gputide %s: exit code %d without a word", line, bad.Code)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(without["query offers"], c.beside().write(t, "query", "offers")); diff != "" {
		t.Errorf("after the daemon (-before +after):\n%s", diff)
	}
}

// TestDaemonAnswersFromOneMoment asks while runs are committed as fast as can be:
// each answer equals that of a copy of the file taken between two runs, namely
// one of those between which it was asked.
func TestDaemonAnswersFromOneMoment(t *testing.T) {
	const queries, askers = 50, 3
	c, dir := testMain(t), fixtureDir(t, "runpod", "ecb")
	var second atomic.Int64
	c.Main.Now = func() time.Time { return testNow.Add(time.Duration(second.Load()) * time.Second) }
	copies := t.TempDir()
	d, stop := c.daemon(t, c.idle(), dir)
	runpod, ecb := d.jobOf(t, "runpod"), d.jobOf(t, "ecb")
	var taken atomic.Int64 // copies taken: copy k is the file after k crawls
	original := string(mustRead(t, filepath.Join(dir, runpodBody)))
	crawl := func(n int64) {
		second.Add(1)
		// A price and a stock that change together, and are read apart.
		body := strings.Replace(original, `"securePrice": 2.39,`, fmt.Sprintf(`"securePrice": 2.39%04d,`, n), 1)
		body = strings.ReplaceAll(body, `"Medium"`, []string{`"Medium"`, `"High"`}[n%2])
		if err := os.WriteFile(filepath.Join(dir, runpodBody), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, j := range []*job{runpod, ecb} {
			if n > 1 && j == ecb {
				continue
			}
			if res, err := d.crawl(t.Context(), j, j.table, nil); err != nil || res.Err != nil {
				t.Fatalf("crawl %d: %v, %v", n, err, res.Err)
			}
		}
		f, err := os.Create(filepath.Join(copies, fmt.Sprint(n)))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(d.db.Snapshot(f), f.Close()); err != nil {
			t.Fatal(err)
		}
		taken.Store(n)
	}
	crawl(1)
	args := []string{"query", "offers", "--all", "-o", "ndjson", "--in", "EUR", "--at", "2030-01-01"}
	type asked struct {
		first, last int64
		written
	}
	var left atomic.Int64
	left.Store(queries)
	answers := make(chan asked, queries)
	var wg sync.WaitGroup
	for range askers {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				a := asked{first: taken.Load()}
				b := c.beside()
				a.Code = b.Run(t.Context(), args)
				a.Out, a.Err = b.out.String(), b.err.String()
				a.last = taken.Load() + 1 // a commit is seen before its copy is taken
				answers <- a
			}
		})
	}
	go func() {
		wg.Wait()
		close(answers)
	}()
	var list []asked
	crawls := int64(1)
	for open := true; open; {
		crawls++
		crawl(crawls)
		for drained := false; !drained; {
			select {
			case a, ok := <-answers:
				if open = ok; ok {
					list = append(list, a)
				} else {
					drained = true
				}
			default:
				drained = true
			}
		}
	}
	crawl(crawls + 1)
	if err := stop(); err != nil {
		t.Error(err)
	}
	boundary := func(n int64) string {
		b := c.beside()
		b.LookupEnv = func(name string) (string, bool) {
			if name == "GPUTIDE_DB" {
				return filepath.Join(copies, fmt.Sprint(n)), true
			}
			return c.LookupEnv(name)
		}
		return b.must(t, args...)
	}
	moved := 0
	for i, a := range list {
		found := false
		for n := a.first; n <= a.last && !found; n++ {
			found = a.Out == boundary(n)
		}
		if a.Code != exitOK || !found {
			t.Errorf("answer %d is that of none of the runs %d to %d: exit code %d, stderr %s", i, a.first, a.last, a.Code, a.Err)
		}
		if a.last > a.first+1 {
			moved++
		}
	}
	if len(list) != queries || moved == 0 {
		t.Errorf("%d answers, %d of them asked while a run was committed", len(list), moved)
	}
}

func (d *daemon) jobOf(t *testing.T, name string) *job {
	t.Helper()
	infos := d.m.infos()
	for i := range infos {
		if infos[i].Name == name {
			j, err := (&config{}).job(infos[i], &providerConfig{})
			if err != nil {
				t.Fatal(err)
			}
			return &j
		}
	}
	t.Fatalf("no provider %s", name)
	return nil
}

// hang serves the bodies of a fixture and never the one whose URL holds a word.
type hang struct {
	files map[string]string // part of a URL → file
	never string
	begun chan struct{} // closed when the one that hangs is asked for
	once  sync.Once
}

func (h *hang) RoundTrip(r *http.Request) (*http.Response, error) {
	url := r.URL.String()
	if strings.Contains(url, h.never) {
		h.once.Do(func() { close(h.begun) })
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	resp := &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: r, ProtoMajor: 1, ProtoMinor: 1}
	for part, file := range h.files {
		if !strings.Contains(url, part) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		resp.StatusCode, resp.Body, resp.ContentLength = http.StatusOK, io.NopCloser(bytes.NewReader(text)), int64(len(text))
		resp.Header.Set("Content-Type", map[bool]string{true: "text/html", false: "application/json"}[strings.HasSuffix(file, ".html")])
	}
	return resp, nil
}

// TestDaemonStopsInACrawl stops a daemon while a source hangs: what was read to
// its end before is stored, and the end is clean.
func TestDaemonStopsInACrawl(t *testing.T) {
	c := testMain(t)
	fixture := func(name string) string { return filepath.Join("..", "..", "fixtures", "alibaba", name) }
	h := &hang{begun: make(chan struct{}), never: "ecs-price-info-intl/2.0.7", files: map[string]string{
		"ecs-pricing/zh": fixture("pricing-cn.html"), "en/product/ecs/pricing": fixture("pricing-intl.html"), "ecs-price-info/2.0.312": fixture("list-cn.json"),
	}}
	c.Transport = h
	d, stop := c.daemon(t, c.idle("alibaba"), "")
	<-h.begun
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.m.socketPath(d.path())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
	c.must(t, "db", "check")
	text := c.must(t, "runs", "show")
	if !strings.Contains(text, "partition=cn") || !strings.Contains(text, "done") || !strings.Contains(text, "failed") {
		t.Errorf("the run that was cut:\n%s", text)
	}
	if text := c.must(t, "query", "offers", "--provider", "alibaba", "--limit", "1", "-o", "csv"); strings.Count(text, "\n") != 2 {
		t.Errorf("offers of the scope that was done:\n%s", text)
	}
}

// TestDaemonOwnsTheDatabase holds what a second daemon and a second writer are
// told, and that a crawl is the daemon's to do.
func TestDaemonOwnsTheDatabase(t *testing.T) {
	c, dir := testMain(t), fixtureDir(t, "runpod", "ecb")
	_, stop := c.daemon(t, c.idle(), dir)
	tests := []struct {
		args, want string
		code       int
	}{
		{"serve", "hint: one daemon has a database", exitError},
		{"crawl --fixtures " + dir, "--fixtures cannot be asked of it", exitError},
		{"crawl --replace", "hint: leave the flag out", exitError},
		{"crawl --provider runpot", "did you mean runpod?", exitUsage},
		{"crawl --provider runpod", "not crawled by this daemon", exitError},
		{"replay --provider runpod", "", exitError},
	}
	for _, tt := range tests {
		b := c.beside()
		if got := b.write(t, strings.Fields(tt.args)...); got.Code != tt.code || !strings.Contains(got.Err, tt.want) {
			t.Errorf("gputide %s: %+v, want %q", tt.args, got, tt.want)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	_, stop = c.daemon(t, "providers: {runpod: {schedule: '0 0 1 1 *'}}", dir)
	b := c.beside()
	b.run(t, "crawl", "--provider", "runpod", "-o", "json")
	if row := b.report(t)["runpod"]; row.Status != statusOK || row.Offers == 0 {
		t.Errorf("a crawl by the daemon: %+v", row)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestDaemonRefusesANewerFile holds that a file of a newer version is left as it
// is.
func TestDaemonRefusesANewerFile(t *testing.T) {
	c, dir := testMain(t), fixtureDir(t, "ecb")
	c.crawlAt(t, dir, day1, exitOK)
	db, err := bolt.Open(c.env["GPUTIDE_DB"], 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("meta")).Put([]byte("schema"), binary.BigEndian.AppendUint32(nil, schemaVersion+1))
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	before := mustRead(t, c.env["GPUTIDE_DB"])
	for _, verb := range []string{"serve", "query offers", "crawl"} {
		if code := c.run(t, strings.Fields(verb)...); code != exitError || !strings.Contains(c.err.String(), "newer gputide") {
			t.Errorf("%s: exit code %d, %s", verb, code, c.err.String())
		}
	}
	if !bytes.Equal(before, mustRead(t, c.env["GPUTIDE_DB"])) {
		t.Error("the file was changed")
	}
}
