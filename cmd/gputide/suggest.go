package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// near returns up to three of names that look like word, best first.
func near(word string, names []string) []string {
	type scored struct {
		name string
		dist int
	}
	word = strings.ToLower(word)
	var hits []scored
	for _, n := range names {
		d := levenshtein.ComputeDistance(word, strings.ToLower(n))
		prefix := len(word) >= 2 && strings.HasPrefix(strings.ToLower(n), word)
		if prefix {
			d = 0
		}
		if d <= max(1, len(word)/3) {
			hits = append(hits, scored{n, d})
		}
	}
	slices.SortFunc(hits, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.dist, b.dist), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, h := range hits[:min(len(hits), 3)] {
		out = append(out, h.name)
	}
	return out
}

// didYouMean words a list of near names, empty for none.
func didYouMean(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return ": did you mean " + names[0] + "?"
	}
	last := len(names) - 1
	return ": did you mean " + strings.Join(names[:last], ", ") + " or " + names[last] + "?"
}

// nearCommands returns the commands that word may have meant: those of cmd, or
// those of that name a level below it, as "query offers" is.
func nearCommands(cmd *cobra.Command, word string) []string {
	var names, below []string
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		names = append(names, c.Name())
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() && strings.EqualFold(sub.Name(), word) {
				below = append(below, sub.CommandPath())
			}
		}
	}
	if out := near(word, names); len(out) > 0 {
		return out
	}
	return below
}

// flagFault words a flag value that cannot be read without the text of the
// parser below it.
func flagFault(err error) string {
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err.Error()
	}
	f := bad.GetFlag()
	want := ""
	switch f.Value.Type() {
	case "int":
		want = "give a whole number"
	case "uint64":
		want = "give a whole number, not negative"
	case "duration":
		want = "give a duration such as 90s, 10m or 1h30m"
	default:
		return err.Error()
	}
	return fmt.Sprintf("cannot read --%s %q: %s", f.Name, clip(bad.GetValue()), want)
}

func dashed(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "--" + n
	}
	return out
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	cmd.Flags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return names
}

// oneOf checks a flag value against a closed list.
func oneOf[T ~string](flag, value string, allowed []T) (T, error) {
	names := make([]string, len(allowed))
	for i, a := range allowed {
		if value == string(a) {
			return a, nil
		}
		names[i] = string(a)
	}
	hint := didYouMean(near(value, names))
	if hint == "" {
		hint = ": one of " + strings.Join(names, ", ")
	}
	var zero T
	return zero, usagef("unknown value %q for --%s%s", value, flag, hint)
}
