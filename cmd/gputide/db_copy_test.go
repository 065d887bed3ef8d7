package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestJudgedRows holds the JSON of restores and of accepted and rejected rows
// against the schemas.
func TestJudgedRows(t *testing.T) {
	c := worked(t)
	backup := filepath.Join(t.TempDir(), "backup.db")
	c.must(t, "db", "backup", backup)
	validate(t, "db_restore", c.must(t, "db", "restore", backup, "-o", "json"))
	validate(t, "db_restore", c.must(t, "db", "restore", backup, "-o", "json", "--db", filepath.Join(t.TempDir(), "new.db")))
	validate(t, "quarantine", c.must(t, "quarantine", "accept", "--all", "-o", "json"))
	validate(t, "changes", c.must(t, "query", "changes", "-o", "json"))
	validate(t, "runs", c.must(t, "runs", "list", "-o", "json"))
	validate(t, "run", c.must(t, "runs", "show", "-o", "json"))
}

// TestDaemonLooksAfterDatabase asks a daemon for what is else done here.
func TestDaemonLooksAfterDatabase(t *testing.T) {
	c := worked(t)
	d, stop := c.daemon(t, c.idle(), "")
	defer stop()
	b := c.beside()
	file := filepath.Join(t.TempDir(), "backup.db")
	validate(t, "db_compact", b.must(t, "db", "compact", "-o", "json"))
	validate(t, "db_backup", b.must(t, "db", "backup", file, "-o", "json"))
	b.must(t, "db", "check", "--db", file)
	b.must(t, "db", "backup", "-")
	if got := b.out.Len(); got < 4096 {
		t.Errorf("a backup of %d bytes on stdout", got)
	}
	if code := b.run(t, "db", "restore", file); code != exitError || !strings.Contains(b.err.String(), "hint: stop the daemon") {
		t.Errorf("restore under a daemon: exit code %d, %s", code, b.err.String())
	}
	before, err := d.db.Quarantine(t.Context(), "")
	if err != nil || len(before) == 0 {
		t.Fatalf("%d refused rows, %v", len(before), err)
	}
	if text := b.must(t, "quarantine", "accept", "--all", "--provider", "runpod"); !strings.Contains(text, "runpod") {
		t.Errorf("accepted by the daemon:\n%s%s", text, b.err.String())
	}
	if code := b.run(t, "quarantine", "reject", "00000000"); code != exitError || !strings.Contains(b.err.String(), "hint: gputide quarantine list") {
		t.Errorf("reject: exit code %d, %s", code, b.err.String())
	}
	after, err := d.db.Quarantine(t.Context(), "")
	if err != nil || len(after) >= len(before) {
		t.Errorf("%d refused rows after %d, %v", len(after), len(before), err)
	}
}
