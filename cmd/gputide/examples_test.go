package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// TestExamples runs what the help of the verbs that ask and the READMEs print,
// on the recordings of the demo: a stranger types it as it stands.
func TestExamples(t *testing.T) {
	var readmes [][]byte
	for _, name := range []string{"README.md", "README.zh.md"} {
		readmes = append(readmes, mustRead(t, filepath.Join("..", "..", name)))
	}
	c := testMain(t)
	c.Now = func() time.Time { return demoNow }
	dir := t.TempDir()
	t.Chdir(dir)
	c.must(t, "demo", "--db", filepath.Join(dir, "try.db"))
	c.env["GPUTIDE_DB"] = filepath.Join(dir, "try.db")
	var examples []string
	for _, readme := range readmes {
		shown := regexp.MustCompile(`(?m)^\$ (gputide [^#\n]*)`).FindAllStringSubmatch(string(readme), -1)
		if len(shown) < 5 {
			t.Errorf("a README shows %d commands", len(shown))
		}
		for _, m := range shown {
			examples = append(examples, m[1])
		}
	}
	var collect func(cmd *cobra.Command)
	collect = func(cmd *cobra.Command) {
		examples = append(examples, strings.Split(cmd.Example, "\n")...)
		for _, sub := range cmd.Commands() {
			collect(sub)
		}
	}
	collect(c.root())
	ran := 0
	for _, e := range examples {
		args := strings.Fields(strings.ReplaceAll(e, `"`, ""))
		if len(args) < 2 || args[0] != "gputide" || !asksOnly(args[1:]) {
			continue
		}
		ran++
		if code := c.run(t, args[1:]...); code != exitOK {
			t.Errorf("%s: exit code %d\n%s", e, code, c.err.String())
		}
	}
	if ran < 40 {
		t.Errorf("%d examples ran", ran)
	}
}

// asksOnly reports a command line that reads the database of the test and
// nothing else.
func asksOnly(args []string) bool {
	for _, a := range args {
		if strings.HasPrefix(a, "/") {
			return false
		}
	}
	switch args[0] {
	case "query", "explain", "gpus", "providers", "runs", "version", "help", "flags":
		return true
	case "quarantine":
		return args[1] == "list" || args[1] == "show"
	case "db":
		return args[1] == "stats" || args[1] == "check"
	}
	return false
}
