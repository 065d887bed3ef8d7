package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

func main() {
	text.OverrideRuneWidthEastAsianWidth(false) // "≈" is one column in every locale
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	m := &Main{Name: os.Args[0], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, LookupEnv: os.LookupEnv, Now: time.Now}
	code := m.Run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// The exit codes of every verb.
const (
	exitOK        = 0
	exitError     = 1
	exitUsage     = 2
	exitProviders = 3 // crawl: one or more providers failed; the others are stored
)

// Main is the program with everything it takes from outside, so that a test
// runs it in its own process.
type Main struct {
	Name      string    // how the program was called; empty is gputide
	Stdin     io.Reader // nil is none
	Stdout    io.Writer
	Stderr    io.Writer
	LookupEnv func(name string) (string, bool)
	Now       func() time.Time

	// Dial replaces the dialler of the network, Transport all of it; nil is the
	// network.
	Dial      func(ctx context.Context, network, addr string) (net.Conn, error)
	Transport http.RoundTripper

	opt    globals
	lang   lang
	log    *slog.Logger
	redact *fetch.Redactor
}

// Run runs one command line, without the program's name, and returns the exit
// code. It writes answers to Stdout, everything else to Stderr.
func (m *Main) Run(ctx context.Context, args []string) int {
	out := &answerWriter{w: m.Stdout}
	m.Stdout = out
	defer func() { m.Stdout = out.w }()
	root := m.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.err // an answer that did not arrive is no success
	}
	if err == nil {
		return exitOK
	}
	if !errors.Is(err, errReported) {
		m.complain(ctx, err)
	}
	return exitCode(err)
}

// errReported marks an error whose text the user has seen already.
var errReported = errors.New("already reported")

// usageError is a command line that cannot be understood.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// errProviders is returned when a crawl ended and some providers failed.
var errProviders = fmt.Errorf("some providers failed: %w", errReported)

func exitCode(err error) int {
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, errProviders):
		return exitProviders
	}
	return exitError
}

// complain prints an error and, on a line of its own, what to do about it.
func (m *Main) complain(ctx context.Context, err error) {
	text := err.Error()
	hint := ""
	if he, ok := errors.AsType[*gputide.HintError](err); ok {
		hint = he.Hint
		text = withoutHint(text, he)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		text = "interrupted"
	}
	if m.redact != nil {
		text, hint = m.redact.Text(text), m.redact.Text(hint)
	}
	fmt.Fprintf(m.Stderr, "gputide: %s\n", clean(text))
	if hint != "" {
		fmt.Fprintf(m.Stderr, "hint: %s\n", clean(hint))
	}
}

// envText returns an environment variable, empty when unset.
func (m *Main) envText(name string) string {
	v, _ := m.LookupEnv(name)
	return v
}

// noArgs refuses positional arguments as a usage error.
func noArgs(cmd *cobra.Command, args []string) error { return argCount(0, 0)(cmd, args) }

// argCount refuses fewer or more positional arguments as a usage error.
func argCount(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > most && most == 0:
			return usagef("%s takes no arguments, got %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
		case len(args) > most:
			return usagef("%s takes at most %d arguments, got %d; see %s --help", cmd.CommandPath(), most, len(args), cmd.CommandPath())
		case len(args) < least:
			return usagef("%s needs an argument: %s", cmd.CommandPath(), cmd.UseLine())
		}
		return nil
	}
}
