package main

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean removes from text of outside what a terminal would obey: escape
// sequences, control characters, and marks that turn the direction of writing.
// A line break becomes a blank.
func clean(s string) string {
	if !strings.ContainsFunc(s, unsafeRune) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if n := escapeLen(s[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case unsafeRune(r):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unsafeRune reports a character that must not reach a terminal.
func unsafeRune(r rune) bool {
	switch {
	case unicode.IsControl(r):
		return true
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C:
		return true // direction marks
	case r == 0x2028, r == 0x2029, r == 0xFEFF:
		return true
	}
	return false
}

// escapeLen returns the length of a terminal control sequence (CSI, OSC) at the
// start of s, 0 when there is none.
func escapeLen(s string) int {
	if len(s) < 2 || s[0] != 0x1b {
		return 0
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
	case ']':
		if i := strings.IndexByte(s, 0x07); i > 0 {
			return i + 1
		}
		if i := strings.Index(s, "\x1b\\"); i > 0 {
			return i + 2
		}
	}
	return 1
}

// safeCell makes a CSV cell that a spreadsheet reads as text: one that would
// start a formula gets a leading apostrophe. Numbers stay as they are.
func safeCell(s string) string {
	s = clean(s)
	if s == "" || !strings.ContainsRune("=+-@", rune(s[0])) || isNumber(s) {
		return s
	}
	return "'" + s
}

// isNumber reports whether s is a plain decimal with an optional sign.
func isNumber(s string) bool {
	digits := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '-' && i == 0, c == '.' && digits > 0 && !strings.Contains(s[:i], "."):
		default:
			return false
		}
	}
	return digits > 0
}

// jsonGuard escapes in JSON text the characters encoding/json leaves as they are
// and a terminal would obey. The text means the same.
type jsonGuard struct{ w io.Writer }

func (g jsonGuard) Write(p []byte) (int, error) {
	s := string(p)
	if !strings.ContainsFunc(s, guarded) {
		return g.w.Write(p)
	}
	var b strings.Builder
	for _, r := range s {
		if guarded(r) {
			b.WriteString(`\u`)
			const hex = "0123456789abcdef"
			for shift := 12; shift >= 0; shift -= 4 {
				b.WriteByte(hex[(r>>shift)&0xf])
			}
			continue
		}
		b.WriteRune(r)
	}
	if _, err := io.WriteString(g.w, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// guarded are the unsafe characters that may stand in JSON as they are.
func guarded(r rune) bool { return r != '\n' && r != '\t' && r != '\r' && unsafeRune(r) }
