package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/fixtures"
)

const demoLong = `Shows what gputide does, without a network and without a key: it crawls recorded
answers of every provider into a new database, imports a small price history of
AWS and GCP, and asks. Every command is printed before its output and works when
typed again. The prices are old: STATE and AGE say so.

The database is a new file in a new folder of $TMPDIR, with the recordings beside
it; --db puts it elsewhere and must name a file that does not exist. $GPUTIDE_DB,
keys and the credentials file are not looked at.`

const demoExample = `  gputide demo
  gputide demo --db try.db`

func (m *Main) demoCmd() *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "Try it without a network: recorded prices, and what can be asked of them",
		Long: demoLong, Example: demoExample, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return m.demo(cmd.Context()) },
	}
}

// demo is the program run command by command on a database of its own.
type demo struct {
	*Main
	self string // how the program is called
	data string // folder of the recordings
	db   string
}

// demoStep is one command of the demo. A step without a title belongs to the one
// before.
type demoStep struct {
	title string
	args  []string
}

func (m *Main) demo(ctx context.Context) error {
	d, err := m.newDemo()
	if err != nil {
		return err
	}
	if err := d.show(ctx, d.stock()); err != nil {
		return err
	}
	if err := d.show(ctx, demoQuestions()); err != nil {
		return err
	}
	id, err := d.offer(ctx)
	if err != nil {
		return err
	}
	evidence := demoStep{"Where the price of the first of them comes from", []string{"explain", id}}
	if err := d.show(ctx, []demoStep{evidence}); err != nil {
		return err
	}
	return d.next()
}

// newDemo makes the folder of a demo and unpacks the recordings into it.
func (m *Main) newDemo() (*demo, error) {
	if m.opt.db != "" {
		if _, err := os.Lstat(m.opt.db); !errors.Is(err, fs.ErrNotExist) {
			return nil, &usageError{&gputide.HintError{
				Err:  fmt.Errorf("demo: %w: --db %s exists", gputide.ErrConflict, m.opt.db),
				Hint: "name a file that does not exist yet; without --db the demo makes one",
			}}
		}
	}
	dir, err := os.MkdirTemp(m.envText("TMPDIR"), "gputide-demo-")
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	d := &demo{self: m.self(), data: filepath.Join(dir, "fixtures"), db: m.opt.db}
	if d.db == "" {
		d.db = filepath.Join(dir, "demo.db")
	}
	if err := os.CopyFS(d.data, fixtures.FS()); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("demo: unpack the recordings: %w", err)
	}
	// The same for everybody: no key, no setting, no daemon of the user's own.
	env := m.LookupEnv
	inner := *m
	inner.LookupEnv = func(name string) (string, bool) {
		switch {
		case name == "XDG_CONFIG_HOME":
			return dir, true
		case strings.HasPrefix(name, "GPUTIDE_"):
			return "", false
		}
		return env(name)
	}
	d.Main = &inner
	return d, nil
}

// stock are the commands that fill the database.
func (d *demo) stock() []demoStep {
	history := func(profile string) []string {
		return []string{"import", filepath.Join(d.data, fixtures.History, profile+".csv.gz"), "--profile", profile}
	}
	return []demoStep{
		{"Recorded answers of every provider, read the way a live crawl reads them", []string{"crawl", "--fixtures", d.data}},
		{"Price history that others recorded", history("aws_spot_2020")},
		{"", history("aws_ondemand_2022_2026")},
		{"", history("gcp_gpu_2022_2026")},
	}
}

// demoExplained asks for the offers of which the first is explained.
func demoExplained() []string {
	return []string{"query", "offers", "--gpu", "h100", "--count", "8", "--market", "on_demand", "--limit", "5"}
}

// demoQuestions are the commands that ask.
func demoQuestions() []demoStep {
	return []demoStep{
		{"The cheapest H100", []string{"query", "offers", "--gpu", "h100", "--limit", "3"}},
		{"The cheapest machines with eight of them, on demand", demoExplained()},
		{"The cheapest RTX 4090", []string{"query", "offers", "--gpu", "rtx-4090", "--limit", "3"}},
		{
			"How the spot price of eight H100 moved at GCP",
			[]string{"query", "trend", "--type", "a3-highgpu-8g", "--market", "spot", "--bucket", "quarter"},
		},
		{"What spot saved there against on demand", []string{"query", "spot", "--type", "a3-highgpu-8g"}},
		{
			"The best zone of AWS us-east-1 for one V100, a month of 2020. The history has no\non-demand price of that time, so there is no discount, and REASON says why",
			[]string{
				"query", "spot", "--type", "p3.2xlarge", "--region", "us-east-1", "--from", "2020-01-05", "--to", "2020-02-05",
				"--sort", "price",
			},
		},
	}
}

// show runs commands, each printed before its output.
func (d *demo) show(ctx context.Context, steps []demoStep) error {
	for _, s := range steps {
		if s.title != "" {
			fmt.Fprintf(d.Stdout, "# %s\n", strings.ReplaceAll(s.title, "\n", "\n# "))
		}
		fmt.Fprintf(d.Stdout, "$ %s\n", d.line(s.args))
		if code := d.Run(ctx, d.onDB(s.args)); code != exitOK {
			return fmt.Errorf("demo: exit code %d: %w", code, errReported)
		}
		fmt.Fprintln(d.Stdout)
	}
	return nil
}

// offer returns the id of the offer to explain.
func (d *demo) offer(ctx context.Context) (string, error) {
	var out, report bytes.Buffer
	quiet := *d.Main
	quiet.Stdout, quiet.Stderr = &out, &report
	if code := quiet.Run(ctx, d.onDB(append(demoExplained(), "-o", "json"))); code != exitOK {
		return "", fmt.Errorf("demo: %s", report.String())
	}
	var offers []struct {
		ID string `json:"offer_id"`
	}
	if err := json.Unmarshal(out.Bytes(), &offers); err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	if len(offers) == 0 {
		return "", fmt.Errorf("demo: %w: no H100 in the recordings", gputide.ErrNotFound)
	}
	return offers[0].ID, nil
}

// next says what to type next.
func (d *demo) next() error {
	fmt.Fprintln(d.Stdout, "# What to type next")
	for _, args := range demoNext() {
		fmt.Fprintf(d.Stdout, "%s\n", d.line(args))
	}
	fmt.Fprintf(d.Stdout, "\n# Every verb and filter\n%s --help\n%s query offers --help\n", d.self, d.self)
	fmt.Fprintf(d.Stdout, "\n# Today's prices, from the clouds themselves; no key is needed\n%s crawl\n", d.self)
	_, err := fmt.Fprintf(d.Stdout, "\nThe database is %s, the recordings are in %s.\n", d.db, d.data)
	return err
}

// demoNext are questions that the database answers as well.
func demoNext() [][]string {
	return [][]string{
		{"query", "changes", "--kind", "price", "--gpu", "h100", "--limit", "10"},
		{"query", "discount", "--market", "commitment", "--type", "a3-highgpu-8g"},
		{"query", "trend", "--type", "p5.48xlarge", "--provider", "aws", "--bucket", "year", "--per", "gpu"},
		{"query", "offers", "--provider", "alibaba", "--partition", "cn", "--gpu", "a10", "--limit", "10"},
		{"gpus", "h100"},
		{"providers"},
	}
}

// onDB is a command on the demo's database.
func (d *demo) onDB(args []string) []string {
	return append(args[:len(args):len(args)], "--db", d.db)
}

// line is a command on the demo's database as a user types it.
func (d *demo) line(args []string) string { return shellLine(d.self, d.onDB(args)...) }

// self is what a user types to run this program again. A program that go run
// built has no name to call it by.
func (m *Main) self() string {
	if m.Name == "" {
		return "gputide"
	}
	if strings.Contains(filepath.ToSlash(m.Name), "/go-build") {
		if _, err := os.Stat(filepath.Join("cmd", "gputide", "main.go")); err == nil {
			return "go run ./cmd/gputide"
		}
	}
	return shellWord(m.Name)
}

// shellLine is a command line for a POSIX shell.
func shellLine(program string, args ...string) string {
	words := []string{program}
	for _, a := range args {
		words = append(words, shellWord(a))
	}
	return strings.Join(words, " ")
}

// shellWord quotes a word for a POSIX shell where it must be.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./,:=@+%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
