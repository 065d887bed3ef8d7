package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestKill kills children that crawl, at random moments, and holds that the next
// crawl leaves a database equal to one that was never killed. The crash tests of
// the store aim inside commits; here the whole program is killed anywhere.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	const kills = 12
	random := rand.New(rand.NewPCG(1, 2))
	dir := fixtureDir(t, "runpod", "ecb")
	killed, twin := testMain(t), testMain(t)
	at := func(i int) string {
		return time.Date(2026, 8, 22, i, 0, 0, 0, time.UTC).Format(time.RFC3339)
	}
	for i := range kills {
		edit(t, filepath.Join(dir, runpodBody), fmt.Sprintf(`"securePrice": 2.%d,`, 39+i), fmt.Sprintf(`"securePrice": 2.%d,`, 40+i))
		killChild(t, killed.env["GPUTIDE_DB"], dir, at(i), time.Duration(random.IntN(60))*time.Millisecond)
		killed.crawlAt(t, dir, at(i), exitOK)
		twin.crawlAt(t, dir, at(i), exitOK)
		killed.must(t, "db", "check")
	}
	for _, args := range [][]string{
		{"query", "offers", "--all", "-o", "ndjson"},
		{"query", "types", "-o", "ndjson"},
		{"query", "signals", "-o", "ndjson"},
	} {
		if diff := cmp.Diff(twin.must(t, args...), killed.must(t, args...)); diff != "" {
			t.Errorf("gputide %q (-twin +killed):\n%s", args, diff)
		}
	}
	if diff := cmp.Diff(twin.changesOf(t), killed.changesOf(t)); diff != "" {
		t.Errorf("changes (-twin +killed):\n%s", diff)
	}
}

// killChild starts a crawl of its own process and kills it after a while.
func killChild(t *testing.T, db, dir, at string, after time.Duration) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// testscript.Main runs the program when the test binary bears its name.
	link := filepath.Join(t.TempDir(), "gputide")
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), link, "crawl", "--fixtures", dir, "--at", at, "--db", db)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.NewTimer(after)
	defer timer.Stop()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() > 0) {
			t.Fatalf("the child failed: %v", err)
		}
		return
	case <-timer.C:
	}
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	<-done
}
