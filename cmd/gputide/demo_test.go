package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// demoNow is after the last recording.
var demoNow = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// demoMain returns the program in a folder of its own, for a demo.
func demoMain(t *testing.T) *cli {
	t.Helper()
	c, dir := testMain(t), t.TempDir()
	t.Chdir(dir)
	c.Now = func() time.Time { return demoNow }
	c.env["TMPDIR"], c.env["COLUMNS"] = dir, "120"
	delete(c.env, "GPUTIDE_DB")
	return c
}

func TestDemo(t *testing.T) {
	c := demoMain(t)
	out := c.must(t, "demo")
	words := regexp.MustCompile(` +`).ReplaceAllString(out, " ") // however wide the columns are
	for _, want := range []string{
		"$ gputide crawl --fixtures ",
		"runpod ok",
		"lambda ok",
		"$ gputide query offers --gpu h100 ",
		"$21.52",
		"$ gputide query offers --gpu rtx-4090 ",
		"$0.34/gpu/h",
		"2026-07 $43.8044",                    // the trend's last bucket
		"62.98 76.99",                         // discount, median and most
		"us-east-1c, mostly us-east-1f no_re", // best zone, and why no discount
		"per accelerator-hour × 8 = ",
		"┤", // charts
	} {
		if !strings.Contains(words, want) {
			t.Errorf("the demo does not show %q:\n%s", want, out)
		}
	}
	_, next, _ := strings.Cut(out, "# What to type next\n")
	n := 0
	for line := range strings.Lines(next) {
		args, ok := strings.CutPrefix(strings.TrimSpace(line), "gputide ")
		if !ok || args == "crawl" {
			continue // crawl asks the clouds
		}
		n++
		if text := c.must(t, strings.Fields(args)...); text == "" {
			t.Errorf("gputide %s answers nothing: %s", args, c.err.String())
		}
	}
	if n < 5 {
		t.Errorf("%d commands to type next:\n%s", n, next)
	}
}

// TestDemoLeavesTheUsersFilesAlone: neither the keys nor the database of the user are
// touched; a credentials file that a crawl refuses does not matter.
func TestDemoLeavesTheUsersFilesAlone(t *testing.T) {
	c := demoMain(t)
	own := filepath.Join(t.TempDir(), "own.db")
	c.env["GPUTIDE_DB"], c.env["GPUTIDE_SOCKET"], c.env["GPUTIDE_LAMBDA_API_KEY"] = own, own+".sock", "key"
	creds := filepath.Join(c.env["HOME"], ".config", "gputide", "credentials")
	if err := os.MkdirAll(filepath.Dir(creds), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(creds, []byte("not for others"), 0o644); err != nil {
		t.Fatal(err)
	}
	c.must(t, "demo", "--db", "try.db")
	if _, err := os.Stat(own); err == nil {
		t.Error("the demo wrote the database of GPUTIDE_DB")
	}
}

func TestDemoRefusesAFileThatExists(t *testing.T) {
	c := demoMain(t)
	if err := os.WriteFile("mine.db", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	code := c.run(t, "demo", "--db", "mine.db")
	if code != exitUsage || !strings.Contains(c.err.String(), "mine.db exists\nhint: ") || c.out.Len() > 0 {
		t.Errorf("exit code %d, %s%s", code, c.out.String(), c.err.String())
	}
	if got := string(mustRead(t, "mine.db")); got != "mine" {
		t.Errorf("the file is now %q", got)
	}
}

// TestDemoKnowsItsTerminal: the commands of a demo fit the terminal it runs on.
func TestDemoKnowsItsTerminal(t *testing.T) {
	if f, ok := asFile(&answerWriter{w: &answerWriter{w: os.Stdout}}); !ok || f != os.Stdout {
		t.Error("the terminal is not found behind two writers")
	}
	if _, ok := asFile(&answerWriter{w: &answerWriter{w: io.Discard}}); ok {
		t.Error("a file is found where there is none")
	}
}

func TestSelf(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	for name, want := range map[string]string{
		"":                                       "gputide",
		"gputide":                                "gputide",
		"./bin/gputide":                          "./bin/gputide",
		"/opt/my tools/gpu'd":                    `'/opt/my tools/gpu'\''d'`,
		"/tmp/go-build1/b001/exe/gputide":        "go run ./cmd/gputide",
		"/home/me/.cache/go-build/ab/cd/gputide": "go run ./cmd/gputide",
	} {
		if got := (&Main{Name: name}).self(); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	t.Chdir(t.TempDir())
	if got := (&Main{Name: "/tmp/go-build1/gputide"}).self(); got != "/tmp/go-build1/gputide" {
		t.Errorf("outside of the clone: %s", got)
	}
}

// TestDocsTour runs the commands of docs/tour.md on the demo's database: each
// succeeds, and in a block marked console its output is the page's.
func TestDocsTour(t *testing.T) {
	path, err := filepath.Abs(filepath.Join("..", "..", "docs", "tour.md"))
	if err != nil {
		t.Fatal(err)
	}
	c := demoMain(t)
	c.must(t, "demo", "--db", "try.db")
	c.env["GPUTIDE_DB"] = "try.db"
	got := string(mustRead(t, path))
	blocks := strings.SplitAfter(got, "```")
	n := 0
	for i := 1; i < len(blocks); i += 2 {
		fence, body, _ := strings.Cut(strings.TrimSuffix(blocks[i], "```"), "\n")
		if fence == "sh" {
			continue
		}
		n++
		body = c.tourBlock(t, body)
		if fence == "console" || *update {
			blocks[i] = fence + "\n" + body + "```"
		}
	}
	if n < 25 {
		t.Errorf("the tour answers %d questions, want 25", n)
	}
	want := strings.Join(blocks, "")
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/tour.md is not what the commands say; run go test ./cmd/gputide -run Docs -update (-want +got):\n%s", diff)
	}
}

// tourBlock runs the command on the first line of a block and returns the block
// with its output, cut where the block ends with "…".
func (c *cli) tourBlock(t *testing.T, body string) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(body), "\n")
	args, ok := strings.CutPrefix(lines[0], "$ gputide ")
	if !ok {
		t.Errorf("block without a command: %q", lines[0])
		return body
	}
	out := c.must(t, strings.Fields(args)...) + c.err.String()
	var answer []string
	for line := range strings.Lines(strings.TrimRight(out, "\n") + "\n") {
		answer = append(answer, strings.TrimRight(line, " \n"))
	}
	if last := len(lines) - 1; lines[last] == "…" && last-1 < len(answer) {
		answer = append(answer[:last-1], "…")
	}
	return lines[0] + "\n" + strings.Join(answer, "\n") + "\n"
}
