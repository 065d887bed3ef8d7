package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// maxImportMemory bounds what an import or export of the shared history may
// hold, in KiB.
const maxImportMemory = 256 << 10

// TestHistoryMemory imports the whole shared history with a process for each
// file, exports it and imports the export, and looks at the peak of each.
func TestHistoryMemory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(shared(t), "history")
	exe, home := program(t), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(db string, out *os.File, args ...string) {
		t.Helper()
		peak := filepath.Join(home, "peak")
		cmd := exec.CommandContext(t.Context(), self, append([]string{exe}, args...)...)
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = out, &errs
		cmd.Env = []string{"HOME=" + home, "GPUTIDE_DB=" + filepath.Join(home, db), envPeak + "=" + peak}
		if err := cmd.Run(); err != nil {
			t.Fatalf("gputide %q: %v\n%s", args, err, errs.String())
		}
		kib, err := strconv.Atoi(string(mustRead(t, peak)))
		if err != nil || kib <= 0 {
			t.Fatalf("gputide %q: no peak of memory: %v", args, err)
		}
		if kib > maxImportMemory {
			t.Errorf("gputide %q held %d KiB, want at most %d", args, kib, maxImportMemory)
		}
	}
	for _, f := range historyFiles() {
		run("history.db", nil, "import", filepath.Join(dir, f[0]), "--profile", f[1])
	}
	path := filepath.Join(home, "export.ndjson")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	run("history.db", out, "export", "-o", "ndjson")
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	run("back.db", nil, "import", path, "--profile", "export")
}

// envPeak names a file: this program, small when it has just begun, then runs a
// command and writes into the file how much memory it held at most, in KiB. A
// child counts what its parent held when it was forked, and that of a process
// of many tests is far more.
const envPeak = "GPUTIDE_TEST_PEAK"

// writePeak runs a command for TestHistoryMemory and returns its exit code.
func writePeak(path string, args []string) int {
	if err := os.Unsetenv(envPeak); err != nil { // the command may be this program again
		return exitError
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitError
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return exitError
	}
	if err := os.WriteFile(path, []byte(strconv.FormatInt(usage.Maxrss, 10)), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitError
	}
	return exitOK
}
