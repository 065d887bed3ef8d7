package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/gputide/gputide"
)

const (
	mostNear  = 5  // near values named in an error
	mostKnown = 12 // values named when none is near
)

// unknown says that a value of a field means nothing and names the near ones.
// It unwraps to [gputide.ErrInvalid].
func unknown(field, value string, known []string) error {
	err := fmt.Errorf("%w: %s %q is not known", gputide.ErrInvalid, field, clip(value))
	hint := suggest(value, known)
	if hint == "" && field == "type" {
		hint = "`gputide query types` lists them"
	}
	if hint == "" {
		return err
	}
	return &gputide.HintError{Err: err, Hint: hint}
}

func suggest(value string, known []string) string {
	if near := nearest(value, known); len(near) > 0 {
		return "did you mean " + strings.Join(near, ", ") + "?"
	}
	if len(known) > 0 && len(known) <= mostKnown {
		return "known: " + strings.Join(known, ", ")
	}
	return ""
}

// nearest returns the known values close to value, closest first: within two
// edits or a third of its length, or one holding the other.
func nearest(value string, known []string) []string {
	type near struct {
		value string
		far   int
	}
	want := strings.ToLower(value)
	if want == "" {
		return nil
	}
	limit := max(2, len([]rune(want))/3)
	var found []near
	for _, k := range known {
		have := strings.ToLower(k)
		far := levenshtein.ComputeDistance(want, have)
		within := len(want) >= 2 && len(have) >= 2 && (strings.Contains(have, want) || strings.Contains(want, have))
		limit := limit
		if len(want) < 3 || len(want) == 3 && have != "" && have[0] != want[0] {
			limit = 1 // two edits make any three letters of any others
		}
		if far <= limit || within {
			found = append(found, near{k, far})
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.value, b.value))
	})
	out := make([]string, 0, mostNear)
	for _, n := range found {
		if len(out) < mostNear && !slices.Contains(out, n.value) {
			out = append(out, n.value)
		}
	}
	return out
}

// clip shortens text from outside for an error message.
func clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
