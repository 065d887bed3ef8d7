package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/store"
)

func TestExitCodes(t *testing.T) {
	c := testMain(t)
	tests := []struct {
		args string
		code int
		err  string
	}{
		{"", exitOK, ""},
		{"--help", exitOK, ""},
		{"help query offers", exitOK, ""},
		{"help flags", exitOK, ""},
		{"help ofers", exitUsage, "unknown"},
		{"qery", exitUsage, "did you mean query?"},
		{"query ofers", exitUsage, "did you mean offers?"},
		{"query offers --provder x", exitUsage, "did you mean --provider?"},
		{"query offers extra", exitUsage, "takes no arguments"},
		{"query offers --limit -1", exitUsage, "negative"},
		{"query offers --at yesterday", exitUsage, "UTC time"},
		{"query offers -o jsn", exitUsage, "did you mean json"},
		{"query changes --since 3", exitUsage, "90d"},
		{"query changes --since 3d --from 2026-01-01", exitUsage, "give one"},
		{"query changes --from 2026-02-01 --to 2026-01-01", exitUsage, "before --to"},
		{"query signals --name availabilty", exitUsage, "did you mean availability?"},
		{"query signals --count-by name", exitUsage, "one of value"},
		{"crawl --provider runpot", exitUsage, "did you mean runpod?"},
		{"crawl --collect al", exitUsage, "did you mean all?"},
		{"crawl --at 2026-01-01", exitUsage, "--fixtures"},
		{"crawl --fixtures /nowhere", exitError, "no such file"},
		{"crawl --concurrency 0", exitUsage, "at least 1"},
		{"replay", exitUsage, "needs --provider"},
		{"replay --provider runpod --archive off", exitUsage, "off"},
		{"gpus hx00", exitUsage, "h100"},
		{"gpus --vendor nvida", exitUsage, "did you mean nvidia?"},
		{"explain", exitUsage, "needs an argument"},
		{"explain xyz", exitUsage, "32 hex digits"},
		{"runs show abc", exitUsage, "no run id"},
		{"quarantine show 12", exitUsage, "32 hex digits"},
		{"query offers", exitError, "hint: run gputide crawl"},
		{"runs list", exitError, "hint: run gputide crawl"},
		{"db check", exitError, "hint: run gputide crawl"},
		{"version --log-level loud", exitUsage, "one of debug"},
	}
	for _, tt := range tests {
		code := c.run(t, strings.Fields(tt.args)...)
		if code != tt.code || !strings.Contains(c.err.String(), tt.err) {
			t.Errorf("gputide %s: exit code %d want %d, stderr %q want %q", tt.args, code, tt.code, c.err.String(), tt.err)
		}
		if code != exitOK && c.out.Len() != 0 {
			t.Errorf("gputide %s: an error wrote to stdout: %q", tt.args, c.out.String())
		}
	}
}

// TestEveryVerbHasHelp holds that each verb that does something says so with an
// example.
func TestEveryVerbHasHelp(t *testing.T) {
	c := testMain(t)
	verbs := []string{
		"crawl", "replay", "query offers", "query changes", "query types", "query signals", "explain", "gpus", "providers",
		"runs list", "runs show", "quarantine list", "quarantine show", "quarantine accept", "quarantine reject",
		"db stats", "db check", "db compact", "db backup", "db restore", "completion",
		"version", "serve", "config init", "config check",
	}
	for _, v := range verbs {
		text := c.must(t, append(strings.Fields(v), "--help")...)
		if !strings.Contains(text, "Examples:\n  gputide "+strings.Fields(v)[0]) && !strings.Contains(text, "\n  gputide "+v) {
			t.Errorf("%s has no example:\n%s", v, text)
		}
		for line := range strings.Lines(text) {
			if len(line) > helpWidth+1 {
				t.Errorf("%s: help line of %d bytes: %q", v, len(line), line)
			}
		}
	}
}

// TestFilterTable holds that every filter has help and one setter, and that
// every field of a request's filter can be asked for.
func TestFilterTable(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range filterFlags() {
		if d.help == "" || d.verbs == 0 || seen[d.name] {
			t.Errorf("filter %s: help %q, verbs %b, twice %t", d.name, d.help, d.verbs, seen[d.name])
		}
		seen[d.name] = true
	}
	for _, f := range gputide.KeyFields() {
		name := strings.ReplaceAll(string(f), "instance_type", "type")
		if !seen[name] {
			t.Errorf("key field %s has no filter", f)
		}
	}
}

func TestTablesOfFlagsAreComplete(t *testing.T) {
	states := map[gputide.State]bool{}
	for _, s := range offerStates() {
		states[s.state] = true
	}
	for _, s := range gputide.States() {
		if !states[s] {
			t.Errorf("state %s is not explained", s)
		}
	}
	flags := map[gputide.Flag]bool{}
	for _, f := range offerFlags() {
		flags[f.flag] = true
	}
	// The flags of the root package, read from its source: it has no list of them.
	for line := range strings.Lines(string(mustRead(t, filepath.Join("..", "..", "price.go")))) {
		name, value, ok := strings.Cut(line, " Flag = ")
		if !ok || !strings.HasPrefix(strings.TrimSpace(name), "Flag") {
			continue
		}
		text, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(value), `"`), `"`)
		if !flags[gputide.Flag(text)] {
			t.Errorf("flag %q is not explained", text)
		}
	}
}

func TestSchemaVersionIsThatOfTheStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, err := db.Stats(t.Context())
	if err != nil || s.SchemaVersion != schemaVersion {
		t.Errorf("the store writes schema %d, version says %d: %v", s.SchemaVersion, schemaVersion, err)
	}
}

func TestDatabasePath(t *testing.T) {
	c := testMain(t)
	tests := []struct {
		flag, env, data, home string
		want                  string
	}{
		{"/a.db", "/b.db", "/data", "/home", "/a.db"},
		{"", "/b.db", "/data", "/home", "/b.db"},
		{"", "", "/data", "/home", "/data/gputide/gputide.db"},
		{"", "", "relative", "/home", "/home/.local/share/gputide/gputide.db"},
		{"", "", "", "/home", "/home/.local/share/gputide/gputide.db"},
	}
	for _, tt := range tests {
		c.opt.db = tt.flag
		c.env = map[string]string{"GPUTIDE_DB": tt.env, "XDG_DATA_HOME": tt.data, "HOME": tt.home}
		if got, err := c.dbPath(); err != nil || got != tt.want {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
	c.opt.db, c.env = "", nil
	if _, err := c.dbPath(); !isUsage(err) {
		t.Errorf("without a home: %v", err)
	}
}

// TestLockedDatabase asks while another process writes.
func TestLockedDatabase(t *testing.T) {
	c := testMain(t)
	db, err := store.Open(c.env["GPUTIDE_DB"], store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if code := c.run(t, "query", "offers"); code != exitError || !strings.Contains(c.err.String(), gputide.ErrStoreLocked.Error()) ||
		!strings.Contains(c.err.String(), "hint: ") {
		t.Errorf("exit code %d, stderr %q", code, c.err.String())
	}
}

// TestSecretsStayHidden crawls with credentials from both places and looks for
// them in everything written.
func TestSecretsStayHidden(t *testing.T) {
	const fromEnv, fromFile = "AKIAENVIRONMENTVALUE", "file-secret-value/+="
	c, dir := testMain(t), fixtureDir(t, "runpod")
	c.env["GPUTIDE_AWS_ACCESS_KEY_ID"] = fromEnv
	creds := writeFile(t, "GPUTIDE_AWS_SECRET_ACCESS_KEY="+fromFile+"\n", 0o600)
	for _, args := range [][]string{
		{"crawl", "--fixtures", dir, "--credentials", creds, "--log-level", "debug"},
		{"providers", "--credentials", creds},
		{"providers", "--credentials", creds, "-o", "json"},
		{"crawl", "--provider", "aws", "--deadline", "1s", "--credentials", creds, "--log-level", "debug"},
	} {
		c.run(t, args...)
		for _, secret := range []string{fromEnv, fromFile} {
			if strings.Contains(c.out.String()+c.err.String(), secret) {
				t.Errorf("gputide %q shows a credential:\n%s\n%s", args, c.out.String(), c.err.String())
			}
		}
	}
	if err := os.Chmod(creds, 0o644); err != nil {
		t.Fatal(err)
	}
	if code := c.run(t, "crawl", "--fixtures", dir, "--credentials", creds); code != exitError || !strings.Contains(c.err.String(), "hint: chmod 600 ") {
		t.Errorf("a file others may read: exit code %d, %s", code, c.err.String())
	}
}
