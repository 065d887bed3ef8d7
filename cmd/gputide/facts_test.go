package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The facts of the shared recordings are proven as a user would see them: a
// manifest around the recorded bytes, `crawl --fixtures`, `query -o ndjson`.
// Each recording is also mutated, and a mutation that no fact notices fails:
// such a fact would prove nothing.

// recording is one recorded answer and what must come out of it.
type recording struct {
	name     string   // file in the provider's payload folder
	provider string   // adapter that reads it
	at       string   // moment observed, RFC 3339
	crawl    []string // further arguments of crawl

	// wrap makes the fixture around the recorded bytes: envelope and index, where
	// the recording is an excerpt. It changes no value. wrapped says what it adds.
	wrap    func(body []byte) fixture
	wrapped string

	facts []claim
	edits []mutation
}

// fixture is a manifest and the bodies beside it.
type fixture struct {
	exchanges []exchange
	files     map[string][]byte
}

// exchange is one entry of a manifest.
type exchange struct {
	Source       string            `json:"source"`
	Method       string            `json:"method"`
	URL          string            `json:"url"`
	BodyContains string            `json:"body_contains,omitempty"`
	Status       int               `json:"status"`
	Headers      map[string]string `json:"headers,omitempty"`
	File         string            `json:"file"`
}

// claim is one statement about what a query answers.
type claim struct {
	name  string
	query []string // arguments after `gputide`; --db and -o are added
	check func(rows []answerRow) error
}

// mutation is a change of the recorded bytes: every old becomes new.
type mutation struct {
	name     string
	old, new string
}

// answerRow is one row of an answer.
type answerRow map[string]any

// path returns a field of nested objects, for example "accelerator.slug".
func (r answerRow) path(name string) any {
	var v any = map[string]any(r)
	for part := range strings.SplitSeq(name, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[part]
	}
	return v
}

// text returns a field as text, "<null>" when it is null or missing.
func (r answerRow) text(name string) string {
	switch v := r.path(name).(type) {
	case nil:
		return "<null>"
	case string:
		return v
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return err.Error()
		}
		return string(b)
	}
}

// tally counts facts over all recordings, for the line .ci/run prints.
var tally struct{ proven, all atomic.Int64 }

// factsRun runs the tests and then writes the line that .ci/run prints.
type factsRun struct{ *testing.M }

// Run returns the exit code of the tests.
func (r factsRun) Run() int {
	code := r.M.Run()
	out := os.Getenv("GPUTIDE_FACTS_OUT")
	if out == "" || tally.all.Load() == 0 {
		return code
	}
	line := fmt.Sprintf("facts: %d of %d proven\n", tally.proven.Load(), tally.all.Load())
	if err := os.WriteFile(out, []byte(line), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// shared returns the folder of shared recordings, or skips the test when none
// is named. A folder that is named and missing is a failure.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("GPUTIDE_SHARED")
	if dir == "" {
		t.Skip("GPUTIDE_SHARED is not set: the facts of the shared recordings are not proven")
	}
	if _, err := os.Stat(filepath.Join(dir, "payloads")); err != nil {
		t.Fatalf("GPUTIDE_SHARED: %v", err)
	}
	return dir
}

func TestFacts(t *testing.T) {
	dir := shared(t)
	var recordings []recording
	recordings = append(recordings, awsRecordings()...)
	recordings = append(recordings, awsTypeRecordings()...)
	recordings = append(recordings, awsEC2Recordings(beside(t, dir, "aws"))...)
	recordings = append(recordings, awsListRecordings(beside(t, dir, "aws"))...)
	recordings = append(recordings, runpodRecordings()...)
	recordings = append(recordings, lambdaRecordings()...)
	recordings = append(recordings, alibabaRecordings()...)
	recordings = append(recordings, alibabaRPCRecordings()...)
	recordings = append(recordings, huaweiRecordings()...)
	recordings = append(recordings, ibmRecordings()...)
	recordings = append(recordings, ociRecordings(beside(t, dir, "oci"))...)
	recordings = append(recordings, azureRecordings(beside(t, dir, "azure"))...)
	recordings = append(recordings, gcpRecordings(beside(t, dir, "gcp"))...)
	recordings = append(recordings, tencentRecordings(beside(t, dir, "tencent"))...)
	recordings = append(recordings, ucloudRecordings()...)
	recordings = append(recordings, europeRecordings(func(provider string) func(string) []byte { return beside(t, dir, provider) })...)
	recordings = append(recordings, volcengineRecordings(beside(t, dir, "volcengine"))...)
	for _, r := range recordings {
		body, err := os.ReadFile(filepath.Join(dir, "payloads", r.provider, r.name))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(r.provider+"/"+r.name, func(t *testing.T) {
			t.Parallel()
			r.prove(t, body)
			for _, e := range r.edits {
				t.Run("mutation/"+e.name, func(t *testing.T) { r.noticed(t, body, e) })
			}
		})
	}
}

// beside returns a reader of the recordings of a provider, for answers that come
// in several files.
func beside(t *testing.T, dir, provider string) func(name string) []byte {
	return func(name string) []byte {
		body, err := os.ReadFile(filepath.Join(dir, "payloads", provider, name))
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
}

// prove checks every fact on the recording as it is.
func (r *recording) prove(t *testing.T, body []byte) {
	db, out, code := r.crawlBody(t, body)
	if code != exitOK {
		t.Fatalf("crawl ended with %d:\n%s", code, out)
	}
	for _, f := range r.facts {
		t.Run("fact/"+f.name, func(t *testing.T) {
			tally.all.Add(1)
			if err := f.prove(t, db); err != nil {
				t.Errorf("gputide %s: %v", strings.Join(f.query, " "), err)
				return
			}
			tally.proven.Add(1)
		})
	}
}

// noticed fails unless the mutation makes the crawl fail or a fact untrue.
func (r *recording) noticed(t *testing.T, body []byte, e mutation) {
	if !bytes.Contains(body, []byte(e.old)) {
		t.Fatalf("the recording has no %q to mutate", e.old)
	}
	db, _, code := r.crawlBody(t, bytes.ReplaceAll(body, []byte(e.old), []byte(e.new)))
	if code != exitOK {
		return
	}
	for _, f := range r.facts {
		if f.prove(t, db) != nil {
			return
		}
	}
	t.Errorf("%q for %q: the crawl ended well and every fact still holds", e.new, e.old)
}

// crawlBody crawls a fixture around body into a new database.
func (r *recording) crawlBody(t *testing.T, body []byte) (db, output string, code int) {
	t.Helper()
	dir := t.TempDir()
	writeFixture(t, filepath.Join(dir, "fixtures", r.provider), r.provider, r.at, r.wrap(body))
	db = filepath.Join(dir, "facts.db")
	args := append([]string{
		"crawl", "--db", db, "--fixtures", filepath.Join(dir, "fixtures"), "--provider", r.provider, "--archive", "off",
	}, r.crawl...)
	stdout, stderr, code := runMain(t, args...)
	return db, stdout + stderr, code
}

// writeFixture writes a fixture folder in the form `crawl --fixtures` reads.
func writeFixture(t *testing.T, dir, provider, at string, f fixture) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range f.exchanges {
		if f.exchanges[i].Method == "" {
			f.exchanges[i].Method = "GET"
		}
		if f.exchanges[i].Status == 0 {
			f.exchanges[i].Status = 200
		}
	}
	manifest, err := json.MarshalIndent(map[string]any{
		"provider": provider, "kind": "recorded", "captured_at": at, "note": "around a shared recording", "exchanges": f.exchanges,
	}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	f.files["manifest.json"] = manifest
	for name, body := range f.files {
		if err := os.WriteFile(filepath.Join(dir, name), body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// prove asks the query and checks its answer.
func (f *claim) prove(t *testing.T, db string) error {
	t.Helper()
	form := "ndjson"
	if f.query[0] != "query" && f.query[0] != "quarantine" && f.query[0] != "export" {
		form = "json" // one object
	}
	stdout, stderr, code := runMain(t, append(append([]string{}, f.query...), "--db", db, "-o", form)...)
	if code != exitOK {
		return fmt.Errorf("exit code %d: %s", code, stderr)
	}
	var rows []answerRow
	for dec := json.NewDecoder(strings.NewReader(stdout)); dec.More(); {
		var row answerRow
		if err := dec.Decode(&row); err != nil {
			return fmt.Errorf("answer is not JSON: %w", err)
		}
		rows = append(rows, row)
	}
	return f.check(rows)
}

// runMain runs a command line in this process, with nothing of the environment.
func runMain(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	home := t.TempDir()
	m := &Main{
		Stdout: &out, Stderr: &errs, Now: time.Now,
		LookupEnv: func(name string) (string, bool) {
			if name != "HOME" {
				return "", false
			}
			return home, true
		},
	}
	code = m.Run(t.Context(), args)
	return out.String(), errs.String(), code
}

// has checks that exactly these rows come out, each given as the values of
// fields, in any order.
func has(fields string, want ...string) func([]answerRow) error {
	return func(rows []answerRow) error {
		missing := map[string]int{}
		for _, w := range want {
			missing[w]++
		}
		var extra []string
		for _, row := range rows {
			var cells []string
			for name := range strings.SplitSeq(fields, " ") {
				cells = append(cells, row.text(name))
			}
			got := strings.Join(cells, " ")
			if missing[got] == 0 {
				extra = append(extra, got)
				continue
			}
			missing[got]--
		}
		var errs []error
		for w, n := range missing {
			if n > 0 {
				errs = append(errs, fmt.Errorf("%d× %q is missing", n, w))
			}
		}
		for _, e := range extra {
			errs = append(errs, fmt.Errorf("%q should not be there", e))
		}
		return errors.Join(errs...)
	}
}

// count checks how many rows come out.
func count(want int) func([]answerRow) error {
	return func(rows []answerRow) error {
		if len(rows) != want {
			return fmt.Errorf("%d rows, want %d", len(rows), want)
		}
		return nil
	}
}

// both joins checks.
func both(checks ...func([]answerRow) error) func([]answerRow) error {
	return func(rows []answerRow) error {
		for _, c := range checks {
			if err := c(rows); err != nil {
				return err
			}
		}
		return nil
	}
}
