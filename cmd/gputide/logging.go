package main

import (
	"log/slog"

	"github.com/gputide/gputide/crawler/fetch"
)

// setLogger builds the logger of the process: text on a terminal, JSON
// elsewhere, on standard error, with credentials removed. Unless a level is
// asked for it tells of warnings and errors, and of nothing on a terminal: the
// report of a verb says it all to the person before it.
func (m *Main) setLogger() error {
	onTerminal := isTerminal(m.Stderr)
	name := m.opt.logLevel
	if name == "" {
		name = "warn"
		if onTerminal {
			name = logOff
		}
	}
	if _, err := oneOf("log-level", name, logLevels()); err != nil {
		return err
	}
	m.redact = fetch.NewRedactor()
	if name == logOff {
		m.log = slog.New(slog.DiscardHandler)
		return nil
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return err
	}
	opt := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewJSONHandler(m.Stderr, opt)
	if onTerminal {
		h = slog.NewTextHandler(m.Stderr, opt)
	}
	m.log = slog.New(m.redact.Handler(h))
	return nil
}

const logOff = "off"

func logLevels() []string { return []string{"debug", "info", "warn", "error", logOff} }
