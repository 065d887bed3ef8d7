package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the width help is wrapped to.
const helpWidth = 100

// usage writes how a command is called: examples first, then the commands below
// it, its filters apart from its other flags.
func usage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	fmt.Fprintf(w, "Usage:\n  %s\n", useLine(cmd))
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", strings.TrimRight(cmd.Example, "\n"))
	}
	if subs := commandList(cmd); subs != "" {
		fmt.Fprintf(w, "\nCommands:\n%s", subs)
	}
	filters, flags := splitFlags(cmd)
	for _, s := range []struct {
		title string
		flags *pflag.FlagSet
	}{
		{"Filters", filters},
		{"Flags", flags},
		{"Flags of every command", cmd.InheritedFlags()},
	} {
		if s.flags.HasAvailableFlags() {
			fmt.Fprintf(w, "\n%s:\n%s", s.title, s.flags.FlagUsagesWrapped(helpWidth))
		}
	}
	return nil
}

// useLine is how a command is called; one that only groups others names no
// flags.
func useLine(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() && cmd.Name() == cmd.Use { // it takes no argument of its own
		return cmd.CommandPath() + " COMMAND"
	}
	return cmd.UseLine()
}

// commandList lists the commands below one, and its help topics.
func commandList(cmd *cobra.Command) string {
	var b strings.Builder
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			fmt.Fprintf(&b, "  %-12s %s\n", sub.Name(), sub.Short)
		}
	}
	return b.String()
}

// splitFlags returns the filters of a command and its other flags.
func splitFlags(cmd *cobra.Command) (filters, flags *pflag.FlagSet) {
	filters, flags = pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	filters.SortFlags, flags.SortFlags = false, false
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Annotations[filterMark] != nil {
			filters.AddFlag(f)
		} else {
			flags.AddFlag(f)
		}
	})
	return filters, flags
}
