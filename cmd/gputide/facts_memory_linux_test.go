package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
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
	run := func(db string, out *os.File, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), exe, args...)
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = out, &errs
		cmd.Env = []string{"HOME=" + home, "GPUTIDE_DB=" + filepath.Join(home, db)}
		if err := cmd.Run(); err != nil {
			t.Fatalf("gputide %q: %v\n%s", args, err, errs.String())
		}
		usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok || usage.Maxrss <= 0 {
			t.Fatalf("gputide %q: no peak of memory", args)
		}
		if usage.Maxrss > maxImportMemory {
			t.Errorf("gputide %q held %d KiB, want at most %d", args, usage.Maxrss, maxImportMemory)
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
