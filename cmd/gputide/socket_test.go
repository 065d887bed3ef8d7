package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gputide/gputide"
)

func TestSocketFile(t *testing.T) {
	c := testMain(t)
	path := c.env["GPUTIDE_DB"] + ".sock"
	listen := func() error {
		l, err := listenSocket(t.Context(), path)
		if err == nil {
			info, statErr := os.Stat(path)
			if statErr != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("socket %v: %v", info, statErr)
			}
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			l.Close()
		}
		return err
	}
	if err := listen(); err != nil {
		t.Error(err)
	}
	if err := listen(); err != nil {
		t.Errorf("one that a dead daemon left: %v", err)
	}
	os.Remove(path)
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := listen(); !errors.Is(err, gputide.ErrInvalid) || string(mustRead(t, path)) != "mine" {
		t.Errorf("a file that is no socket: %v", err)
	}
	os.Remove(path)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := listen(); !errors.Is(err, gputide.ErrConflict) {
		t.Errorf("a socket that answers: %v", err)
	}
	path = filepath.Join(t.TempDir(), strings.Repeat("x", 108))
	if err := listen(); !errors.Is(err, gputide.ErrInvalid) || !strings.Contains(err.Error(), "GPUTIDE_SOCKET") {
		t.Errorf("a long path: %v", err)
	}
}

// TestLongPath holds that a database whose socket would be too long is served
// where GPUTIDE_SOCKET says, and can be asked without a daemon as ever.
func TestLongPath(t *testing.T) {
	c, dir := testMain(t), fixtureDir(t, "runpod")
	c.env["GPUTIDE_DB"] = filepath.Join(t.TempDir(), strings.Repeat("d", 120)+".db")
	c.crawlAt(t, dir, day1, exitOK)
	want := c.must(t, "query", "offers")
	if code := c.run(t, "serve"); code != exitError || !strings.Contains(c.err.String(), "hint: set GPUTIDE_SOCKET") {
		t.Errorf("exit code %d, %s", code, c.err.String())
	}
	c.env["GPUTIDE_SOCKET"] = filepath.Join(t.TempDir(), "s")
	c.daemon(t, c.idle(), "")
	b := c.beside()
	if got := b.must(t, "query", "offers"); got != want {
		t.Errorf("through the socket:\n%s", got)
	}
	// The socket of one database is not asked about another.
	c.env["GPUTIDE_DB"] = filepath.Join(t.TempDir(), "other.db")
	if code := b.run(t, "query", "offers"); code != exitError || !strings.Contains(b.err.String(), "not found") {
		t.Errorf("another database: exit code %d, %s", code, b.err.String())
	}
}
