package gputide

import "strings"

// FoldWidth returns s with the full-width forms of ASCII (ＡＢＣ１２３，：) and the
// ideographic space in their plain form. It is for comparing: what a source wrote
// is kept as it was written.
func FoldWidth(s string) string {
	const first, last, shift, space = '！', '～', '！' - '!', '\u3000'
	wide := func(r rune) bool { return (r >= first && r <= last) || r == space }
	if !strings.ContainsFunc(s, wide) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == space:
			return ' '
		case wide(r):
			return r - shift
		}
		return r
	}, s)
}
