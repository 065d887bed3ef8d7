package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
)

// flagMeaning says what a flag tells the reader of an offer.
type flagMeaning struct {
	flag    gputide.Flag
	meaning string
}

// offerFlags is the one table of flags: `gputide help flags` and docs/flags.md
// are made from it.
func offerFlags() []flagMeaning {
	return []flagMeaning{
		{gputide.FlagAccountZone, "the zone is a letter of one account and not a zone id; it is never joined with ids"},
		{gputide.FlagUnknownAccelerator, "the catalogue does not know the accelerator's name; the price is kept and the raw name stands in accelerator.raw"},
		{gputide.FlagUnknownRegion, "the region table does not know the region; country is null"},
		{gputide.FlagMaskedAccelerator, "the provider hides the model behind a name of its own; see accelerator.confidence"},
		{gputide.FlagSourceChanged, "the price was read from another source than the one before; the difference may be the source's"},
		{gputide.FlagSpotEqualsOnDemand, "the spot price is that of its on-demand partner at the moment; left out of the cheapest spot unless asked for"},
		{gputide.FlagSpotAboveOnDemand, "the spot price is above that of its on-demand partner at the moment; left out of the cheapest spot unless asked for"},
		{gputide.FlagTruncated, "the listings were not read to their end; statistics that need all of them are null"},
		{gputide.FlagNoFX, "no exchange rate is known for the moment; the converted price is null"},
		{gputide.FlagFXOld, "the exchange rate is older than seven days"},
		{gputide.FlagMemoryMismatch, "the memory the source reports does not fit the card the name stands for"},
		{gputide.FlagSpecUnknown, "nothing is known of the instance type beside its name"},
		{gputide.FlagListedNotSold, "the price list has it and the provider does not sell it so; left out unless asked for"},
		{gputide.FlagAcceleratorOnly, "the price is that of the cards alone, the machine they are attached to comes on top; left out unless asked for"},
	}
}

// stateMeaning says what a state means.
type stateMeaning struct {
	state   gputide.State
	meaning string
}

// offerStates is the table of states in order of precedence.
func offerStates() []stateMeaning {
	return []stateMeaning{
		{gputide.StateUnknown, "the moment lies before the offer was first seen"},
		{gputide.StateWithdrawn, "the provider no longer lists it"},
		{gputide.StateHeld, "it is listed, but its row could not be used; the last price is kept"},
		{gputide.StateGap, "its source could not be read; the last price is kept, with its age"},
		{gputide.StateStale, "the last good run is older than twice the time between runs"},
		{gputide.StateSoldOut, "listed at its price, none available"},
		{gputide.StatePriced, "confirmed at its price"},
		{gputide.StateImportedEnd, "after the last observation of imported history"},
	}
}

// flagsTopic is a help topic without a command of its own.
func flagsTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("Flags say what a reader must know about an offer (field flags, column FLAGS):\n\n")
	for _, f := range offerFlags() {
		meaningLine(&b, string(f.flag), f.meaning)
	}
	b.WriteString("\nStates, one for an offer at a moment (field state, filter --state):\n\n")
	for _, s := range offerStates() {
		meaningLine(&b, string(s.state), s.meaning)
	}
	return &cobra.Command{Use: "flags", Short: "What the flags and states of offers mean", Long: strings.TrimRight(b.String(), "\n")}
}

// meaningLine writes a word and its meaning, wrapped beside it.
func meaningLine(b *strings.Builder, word, meaning string) {
	const width = 56
	head := word
	for meaning != "" {
		line := meaning
		if len(line) > width {
			if end := strings.LastIndexByte(line[:width+1], ' '); end > 0 {
				line = line[:end]
			}
		}
		fmt.Fprintf(b, "  %-23s%s\n", head, line)
		head, meaning = "", strings.TrimLeft(meaning[len(line):], " ")
	}
}
