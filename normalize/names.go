package normalize

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName bounds the text of a device name that is looked at.
const maxName = 256

// spelling is what one spelling of a device says, taken apart into whole
// tokens: nothing is ever matched by a prefix.
type spelling struct {
	exact   string   // all of it, lower case, letters and digits only
	core    string   // what is left of it without vendor, form, memory and filling words
	forms   []string // sxm, sxm4, pcie, nvl, oam, server, workstation, maxq
	memory  float64  // GB printed in it; 0 when none is
	memType string   // hbm3, gddr6
	sliced  bool     // it names a MIG profile
}

// spell takes a spelling apart. Text beyond maxName is no name.
func spell(s string) spelling {
	if len(s) > maxName {
		return spelling{}
	}
	s = strings.ToLower(plainHan(s))
	sp := spelling{exact: fold(s)}
	tokens := tokenise(s)
	var core strings.Builder
	for i := 0; i < len(tokens); i++ {
		tok := tokens[i]
		switch {
		case i == 0 && len(tokens) > 1 && isCountPrefix(tok):
		case sp.takeProfile(tokens, &i):
		case sp.takeMemory(tokens, &i):
		case sp.takeWord(tokens, &i):
		default:
			core.WriteString(strings.ReplaceAll(strings.TrimPrefix(tok, "nvidia"), ".", ""))
		}
	}
	sp.core = core.String()
	return sp
}

// fold reduces text to its letters and digits, in lower case.
func fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= utf8.RuneSelf:
			return b.String() + strings.Map(foldRune, s[i:])
		case 'A' <= c && c <= 'Z':
			b.WriteByte(c + 'a' - 'A')
		case 'a' <= c && c <= 'z', isDigit(c):
			b.WriteByte(c)
		}
	}
	return b.String()
}

func foldRune(r rune) rune {
	if isNameRune(r) {
		return unicode.ToLower(r)
	}
	return -1
}

func isNameRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// tokenise splits lower-case text at everything that is neither letter nor
// digit; a point between digits stays.
func tokenise(s string) []string {
	tokens := make([]string, 0, 8)
	start := -1
	for i, r := range s {
		in := isNameRune(r) ||
			(r == '.' && start >= 0 && isDigit(s[i-1]) && i+1 < len(s) && isDigit(s[i+1]))
		switch {
		case in && start < 0:
			start = i
		case !in && start >= 0:
			tokens = append(tokens, s[start:i])
			start = -1
		}
	}
	if start >= 0 {
		tokens = append(tokens, s[start:])
	}
	return tokens
}

// isCountPrefix reports whether tok is the count of "8x H100".
func isCountPrefix(tok string) bool {
	n, ok := strings.CutSuffix(tok, "x")
	return ok && len(n) <= 3 && isNumber(n)
}

func isNumber(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// takeProfile reads a MIG profile, "mig" or "1g.24gb", whose size is not the
// memory of the card.
func (sp *spelling) takeProfile(tokens []string, i *int) bool {
	if tokens[*i] == "mig" {
		sp.sliced = true
		return true
	}
	g, ok := strings.CutSuffix(tokens[*i], "g")
	if !ok || len(g) != 1 || !isNumber(g) || *i+1 == len(tokens) || !strings.HasSuffix(tokens[*i+1], "gb") {
		return false
	}
	sp.sliced = true
	*i++
	return true
}

// takeMemory reads a size: "80gb", "80g", "80 gb".
func (sp *spelling) takeMemory(tokens []string, i *int) bool {
	tok := tokens[*i]
	for _, unit := range [...]string{"gib", "gb", "g"} {
		if n, ok := strings.CutSuffix(tok, unit); ok && n != "" {
			return sp.setMemory(n)
		}
	}
	if *i+1 < len(tokens) && (tokens[*i+1] == "gb" || tokens[*i+1] == "gib") && sp.setMemory(tok) {
		*i++
		return true
	}
	return false
}

func (sp *spelling) setMemory(n string) bool {
	if !isDigit(n[0]) || strings.Trim(n, "0123456789.") != "" {
		return false
	}
	v, err := strconv.ParseFloat(n, 64)
	if err != nil || v <= 0 || v > 1e5 {
		return false
	}
	sp.memory = v
	return true
}

// takeWord reads a word that says something other than the model.
func (sp *spelling) takeWord(tokens []string, i *int) bool {
	tok := tokens[*i]
	switch tok {
	case "nvidia", "geforce", "tesla", "amd", "instinct", "intel", "google", "aws", "amazon", "hgx", "dgx", "nvlink",
		"gpu", "gpus", "accelerator", "accelerators", "edition", "generation", "blackwell", "grace", "hopper", "superchip",
		"graphics", "card":
		return true
	case "sxm", "sxm2", "sxm3", "sxm4", "sxm5", "sxm6", "pcie", "nvl", "oam", "server", "workstation", "maxq":
		sp.forms = append(sp.forms, tok)
		return true
	case "se", "bse":
		sp.forms = append(sp.forms, "server")
		return true
	case "wk", "ws":
		sp.forms = append(sp.forms, "workstation")
		return true
	case "max":
		if *i+1 < len(tokens) && tokens[*i+1] == "q" {
			sp.forms = append(sp.forms, "maxq")
			*i++
			return true
		}
	}
	if strings.HasPrefix(tok, "hbm") || strings.HasPrefix(tok, "gddr") {
		sp.memType = tok
		return true
	}
	return false
}
