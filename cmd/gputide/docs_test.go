package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "rewrite the generated documents and golden files")

// TestCLIDocs holds docs/cli equal to the command tree: one page a command.
func TestCLIDocs(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "cli")
	want := map[string]string{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		want[pageName(c)] = page(c)
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() && sub.Name() != "help" {
				walk(sub)
			}
		}
	}
	root := testMain(t).root()
	walk(root)
	if *update {
		writePages(t, dir, want)
	}
	got := map[string]string{}
	names, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		text, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Base(n)] = string(text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/cli is not what the commands say; run go test ./cmd/gputide -run Docs -update (-want +got):\n%s", diff)
	}
}

// TestFlagDocs holds docs/flags.md equal to the table of flags.
func TestFlagDocs(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "flags.md")
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Flags of offers\n\nWhat a reader must know about an offer stands in its `flags`. A flag is never a state:\nthe state of an offer is a field of its own.\n\n| flag | meaning |\n| --- | --- |\n")
	for _, f := range offerFlags() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.flag, f.meaning)
	}
	fmt.Fprintf(&b, "\n## States\n\nExactly one holds at a moment, the first of the list that applies.\n\n| state | meaning |\n| --- | --- |\n")
	for _, s := range offerStates() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", s.state, s.meaning)
	}
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("docs/flags.md is not the table of flags; run go test ./cmd/gputide -run Docs -update (-want +got):\n%s", diff)
	}
}

func writePages(t *testing.T, dir string, pages map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func pageName(c *cobra.Command) string {
	return strings.ReplaceAll(c.CommandPath(), " ", "_") + ".md"
}

// page is the Markdown of one command.
func page(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", c.CommandPath(), c.Short)
	if c.Long != "" {
		fmt.Fprintf(&b, "\n```\n%s\n```\n", strings.TrimSpace(c.Long))
	}
	fmt.Fprintf(&b, "\n## Usage\n\n```\n%s\n```\n", useLine(c))
	if c.Example != "" {
		fmt.Fprintf(&b, "\n## Examples\n\n```\n%s\n```\n", strings.TrimRight(c.Example, "\n"))
	}
	filters, flags := splitFlags(c)
	for _, s := range []struct {
		title string
		flags *pflag.FlagSet
	}{
		{"Filters", filters},
		{"Flags", flags},
		{"Flags of every command", c.InheritedFlags()},
	} {
		if s.flags.HasAvailableFlags() {
			fmt.Fprintf(&b, "\n## %s\n\n```\n%s```\n", s.title, s.flags.FlagUsagesWrapped(helpWidth))
		}
	}
	var subs []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			subs = append(subs, fmt.Sprintf("- [%s](%s): %s\n", sub.CommandPath(), pageName(sub), sub.Short))
		}
	}
	if len(subs) > 0 {
		fmt.Fprintf(&b, "\n## Commands\n\n%s", strings.Join(subs, ""))
	}
	return b.String()
}
