package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// isClone reports whether a folder is a clone of a repository, bare or not.
func isClone(dir string) bool {
	for _, name := range []string{".git", "HEAD"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			continue
		}
		if name == ".git" {
			return true
		}
		info, err := os.Stat(filepath.Join(dir, "objects"))
		return err == nil && info.IsDir()
	}
	return false
}

// git returns a call of git in the clone. What the clone configures that would
// run something is switched off.
func (im *importRun) git(ctx context.Context, args ...string) *exec.Cmd {
	args = append([]string{
		"-C", im.file, "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "log.showSignature=false",
	}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	return cmd
}

// commitMark begins the line of a commit in the log.
const commitMark = "\x01"

// commits returns the files that the commits of the main line changed, oldest
// first. Of a provider whose file stands in several version folders the highest
// one that came up so far is read.
func (im *importRun) commits(ctx context.Context) iter.Seq2[importDoc, error] {
	return func(yield func(importDoc, error) bool) {
		cmd := im.git(ctx, "log", "--first-parent", "--diff-merges=first-parent", "--reverse", "--no-renames", "--diff-filter=AM",
			"--no-textconv", "--no-ext-diff", "--format="+commitMark+"%H %ct", "--name-only", "-z", "HEAD", "--", ":(glob)**/"+im.profile.Files.Path,
			":(glob)"+im.profile.Files.Path)
		var told bytes.Buffer
		cmd.Stderr = &limitedWriter{w: &told, n: 4096}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			yield(importDoc{}, gitError(err, &told))
			return
		}
		stopped, err := im.eachChange(ctx, out, yield)
		if stopped || err != nil {
			_ = cmd.Process.Kill()
		}
		if failed := cmd.Wait(); !stopped {
			if err == nil && failed != nil {
				err = gitError(failed, &told)
			}
			if err != nil {
				yield(importDoc{}, err)
			}
		}
	}
}

// eachChange yields what a log names.
func (im *importRun) eachChange(ctx context.Context, log io.Reader, yield func(importDoc, error) bool) (stopped bool, err error) {
	sc := bufio.NewScanner(log)
	sc.Buffer(nil, 64<<10)
	sc.Split(splitNUL)
	highest := make(map[string]string) // by provider
	var commit string
	var at time.Time
	for sc.Scan() {
		text := strings.Trim(sc.Text(), "\n")
		if mark, ok := strings.CutPrefix(text, commitMark); ok {
			hash, seconds, _ := strings.Cut(mark, " ")
			n, err := strconv.ParseInt(seconds, 10, 64)
			if err != nil {
				return false, fmt.Errorf("%w: the log of git is not as expected: %.80q", gputide.ErrInvalid, text)
			}
			commit, at = hash, time.Unix(n, 0).UTC()
			continue
		}
		if text == "" || commit == "" {
			continue
		}
		p := im.profile.Files.ProviderOf(text)
		if old := highest[p]; old != "" && later(old, text) {
			continue
		}
		highest[p] = text
		object := commit + ":" + text
		doc := importDoc{name: object, provider: p, at: at, inside: true, open: func() (io.ReadCloser, error) { return im.blob(ctx, object) }}
		if !yield(doc, nil) {
			return true, nil
		}
	}
	return false, sc.Err()
}

// splitNUL splits at zero bytes.
func splitNUL(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// blob opens a file as of a commit.
func (im *importRun) blob(ctx context.Context, object string) (io.ReadCloser, error) {
	cmd := im.git(ctx, "cat-file", "blob", object)
	b := &gitBlob{cmd: cmd}
	cmd.Stderr = &limitedWriter{w: &b.told, n: 4096}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, gitError(err, &b.told)
	}
	b.Reader = out
	return b, nil
}

// gitBlob is a file that git writes.
type gitBlob struct {
	io.Reader
	cmd  *exec.Cmd
	told bytes.Buffer
}

// Close waits for git and returns its error. A file that was not read to its end
// is none.
func (b *gitBlob) Close() error {
	var rest [1]byte
	n, _ := io.ReadFull(b.Reader, rest[:])
	if n > 0 {
		_ = b.cmd.Process.Kill()
		_ = b.cmd.Wait()
		return nil
	}
	if err := b.cmd.Wait(); err != nil {
		return gitError(err, &b.told)
	}
	return nil
}

func gitError(err error, told *bytes.Buffer) error {
	if errors.Is(err, exec.ErrNotFound) {
		return &gputide.HintError{
			Err:  fmt.Errorf("%w: git is not installed", gputide.ErrNotFound),
			Hint: "install git, or check a commit out and tell its moment with --at",
		}
	}
	if text := strings.TrimSpace(told.String()); text != "" {
		return fmt.Errorf("git: %w: %s", err, clip(text))
	}
	return fmt.Errorf("git: %w", err)
}

// limitedWriter keeps the first n bytes.
type limitedWriter struct {
	w io.Writer
	n int
}

// Write keeps what there is room for and takes all.
func (l *limitedWriter) Write(p []byte) (int, error) {
	kept := p[:min(len(p), l.n)]
	l.n -= len(kept)
	if _, err := l.w.Write(kept); err != nil {
		return 0, err
	}
	return len(p), nil
}
