//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// child is a daemon in a process of its own.
type child struct {
	cmd  *exec.Cmd
	log  *bufio.Scanner
	said []string
}

// program returns a path at which the test binary runs as gputide.
func program(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "gputide")
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	return link
}

// startChild starts a daemon on fixtures that is due every second, and returns
// when it serves.
func startChild(t *testing.T, db, fixtures string) *child {
	t.Helper()
	conf := filepath.Join(t.TempDir(), "gputide.yaml")
	if err := os.WriteFile(conf, []byte("db: "+db+"\nproviders:\n  runpod: {every: 1s}\n  ecb: {every: 1s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program(t), "serve", "--config", conf, "--fixtures", fixtures)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd, log: bufio.NewScanner(pipe)}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	c.until(t, "serving", 1)
	return c
}

// until reads the log until a message has come n times, and returns those lines.
func (c *child) until(t *testing.T, message string, n int) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for len(lines) < n && c.log.Scan() {
		c.said = append(c.said, c.log.Text())
		var line map[string]any
		if err := json.Unmarshal(c.log.Bytes(), &line); err != nil {
			t.Fatalf("log line %q: %v", c.log.Text(), err)
		}
		if line["msg"] == message {
			lines = append(lines, line)
		}
	}
	if len(lines) < n {
		t.Fatalf("the daemon ended before %d × %q; its log:\n%s", n, message, strings.Join(c.said, "\n"))
	}
	return lines
}

// stop sends a signal and returns how the daemon ended, with the rest of its log.
func (c *child) stop(t *testing.T, sig os.Signal) (int, string) {
	t.Helper()
	if err := c.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	var rest strings.Builder
	for c.log.Scan() {
		fmt.Fprintln(&rest, c.log.Text())
	}
	_ = c.cmd.Wait()
	return c.cmd.ProcessState.ExitCode(), rest.String()
}

// TestDaemonProcess runs the real program on a schedule of seconds: it crawls,
// logs one line a run, is asked through its socket, keeps a second daemon out,
// and ends cleanly.
func TestDaemonProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes and waits for their seconds")
	}
	c, dir := testMain(t), fixtureDir(t, "runpod", "ecb")
	c.Main.Now = time.Now
	db := c.env["GPUTIDE_DB"]
	d := startChild(t, db, dir)
	for _, line := range d.until(t, "crawl done", 4) {
		for _, key := range []string{"provider", "run", "offers", "skips", "dur"} {
			if line[key] == nil {
				t.Errorf("the line of a run lacks %s: %v", key, line)
			}
		}
	}
	info, err := os.Stat(db + ".sock")
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("socket: %v, %v", info, err)
	}
	if out := c.must(t, "query", "offers", "--gpu", "h100", "-o", "csv"); strings.Count(out, "\n") < 2 {
		t.Errorf("offers:\n%s", out)
	}
	second := exec.CommandContext(t.Context(), program(t), "serve", "--db", db)
	second.Env = []string{"HOME=" + t.TempDir()}
	text, err := second.CombinedOutput()
	if second.ProcessState.ExitCode() != exitError || !strings.Contains(string(text), "hint: one daemon has a database") {
		t.Errorf("a second daemon: %v\n%s", err, text)
	}
	c.must(t, "query", "types") // the first one's socket is untouched
	code, rest := d.stop(t, syscall.SIGTERM)
	if code != exitOK || strings.Contains(rest, "ERROR") {
		t.Errorf("exit code %d, log:\n%s", code, rest)
	}
	if _, err := os.Stat(db + ".sock"); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
	c.must(t, "db", "check")
}

// TestDaemonSignals ends daemons at moments of their crawls by both signals; a
// killed one leaves its socket, which the next takes over.
func TestDaemonSignals(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	c, dir := testMain(t), fixtureDir(t, "runpod", "ecb")
	db := c.env["GPUTIDE_DB"]
	for i, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGINT, syscall.SIGTERM} {
		d := startChild(t, db, dir) // the crawls of its start are under way
		code, rest := d.stop(t, sig)
		if sig != syscall.SIGKILL && code != exitOK {
			t.Errorf("%d %s: exit code %d\n%s", i, sig, code, rest)
		}
		c.must(t, "db", "check")
	}
}

// TestDaemonDiskFull lets no file grow or be written past its first pages: runs
// fail, queries go on, and when there is room again the next run is stored.
func TestDaemonDiskFull(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes and waits for their seconds")
	}
	prlimit, err := exec.LookPath("prlimit")
	if err != nil {
		t.Skip("needs prlimit")
	}
	c, dir := testMain(t), fixtureDir(t, "runpod", "ecb")
	c.Main.Now = time.Now
	d := startChild(t, c.env["GPUTIDE_DB"], dir)
	d.until(t, "crawl done", 2)
	limit := func(size string) {
		t.Helper()
		pid := strconv.Itoa(d.cmd.Process.Pid)
		if text, err := exec.CommandContext(t.Context(), prlimit, "--pid", pid, "--fsize="+size+":").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	limit("8192")
	failed := d.until(t, "crawl failed", 2)
	if text := fmt.Sprint(failed[0]["err"]); !strings.Contains(text, "file too large") {
		t.Errorf("the run failed with %s", text)
	}
	if out := c.must(t, "query", "offers", "-o", "csv"); strings.Count(out, "\n") < 2 {
		t.Errorf("offers while the disk is full:\n%s", out)
	}
	limit("unlimited")
	run := d.until(t, "crawl done", 2)[1]["run"]
	if code, rest := d.stop(t, syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d\n%s", code, rest)
	}
	c.must(t, "db", "check")
	c.must(t, "runs", "show", fmt.Sprint(run))
}
