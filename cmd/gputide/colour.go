package main

import (
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/gputide/gputide"
)

type colours = text.Colors

// stateColour marks what is not simply priced.
func stateColour(s gputide.State) colours {
	switch s {
	case gputide.StatePriced:
		return nil
	case gputide.StateWithdrawn, gputide.StateUnknown:
		return colours{text.FgRed}
	}
	return colours{text.FgYellow}
}

// statusColour marks what did not end well.
func statusColour(status string) colours {
	switch status {
	case statusFailed:
		return colours{text.FgRed}
	case statusPartial, string(gputide.ScopeHeld):
		return colours{text.FgYellow}
	}
	return nil
}
