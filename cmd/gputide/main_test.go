package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(envPeak); path != "" {
		os.Exit(writePeak(path, os.Args[1:]))
	}
	testscript.Main(factsRun{m}, map[string]func(){"gputide": main})
}

// testNow is the present of tests.
var testNow = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// cli is the program in this process with what it wrote.
type cli struct {
	*Main
	out, err bytes.Buffer
	env      map[string]string
}

// testMain returns the program with a fixed clock, no network and a home of its
// own.
func testMain(t *testing.T) *cli {
	t.Helper()
	home := t.TempDir()
	c := &cli{env: map[string]string{"HOME": home, "GPUTIDE_DB": filepath.Join(home, "test.db")}}
	c.Main = &Main{
		Stdout: &c.out, Stderr: &c.err, Now: func() time.Time { return testNow },
		LookupEnv: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok },
		Dial:      refuseDial,
	}
	return c
}

// run runs one command line and returns its exit code; the outputs are those of
// this run only.
func (c *cli) run(t *testing.T, args ...string) int {
	t.Helper()
	c.out.Reset()
	c.err.Reset()
	return c.Run(t.Context(), args)
}

// must runs one command line that has to succeed and returns its output.
func (c *cli) must(t *testing.T, args ...string) string {
	t.Helper()
	if code := c.run(t, args...); code != exitOK {
		t.Fatalf("gputide %q: exit code %d\nstdout:\n%s\nstderr:\n%s", args, code, c.out.String(), c.err.String())
	}
	return c.out.String()
}

func TestScripts(t *testing.T) {
	fixtures, err := filepath.Abs(filepath.Join("..", "..", "fixtures"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("FIXTURES", fixtures)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("GPUTIDE_DB", filepath.Join(env.WorkDir, "test.db"))
			env.Setenv("XDG_CONFIG_HOME", "")
			env.Setenv("XDG_DATA_HOME", "")
			return nil
		},
		Cmds: scriptCommands(),
	})
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// refuseDial is a network that is not there.
func refuseDial(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("no network in tests")
}
