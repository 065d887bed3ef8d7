package normalize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gputide/gputide"
)

// plainHan writes a device name of a Chinese page as the catalogue spells it:
// full-width letters plain, makers and families in Latin letters, without the
// count and the words for a card. "８卡 昇腾９１０Ｂ３" reads as "ascend 910B3".
// Text in ASCII is returned as it is.
func plainHan(s string) string {
	if isASCII(s) {
		return s
	}
	return dropCounts(hanWords().Replace(gputide.FoldWidth(s)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// hanWords replaces words; of two that start alike the longer comes first. A
// blank keeps a word apart from its neighbours.
func hanWords() *strings.Replacer {
	return strings.NewReplacer(
		"加速卡", " ", "加速器", " ", "显卡", " ", "显存", " ", "芯片", " ", "处理器", " ",
		"英伟达", " nvidia ", "华为", " ", "昇腾", " ascend ", "思元", " mlu", "寒武纪", " ",
		"昆仑芯", " kunlun ",
	)
}

// dropCounts removes counts of cards with their measure word, "8卡", "* 4 颗",
// "双卡", and the word where it stands alone. The number of a model stays:
// "A100卡" is an A100.
func dropCounts(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		switch r {
		case '卡', '颗', '张', '块':
			out = append(dropCount(out), ' ')
		default:
			out = append(out, r)
		}
	}
	return string(out)
}

// dropCount removes the count at the end of text, with the sign of
// multiplication before it.
func dropCount(text []rune) []rune {
	const most = 3 // digits of a count
	start := len(trimBlank(text))
	end := start
	for start > 0 && end-start <= most && text[start-1] >= '0' && text[start-1] <= '9' {
		start--
	}
	switch {
	case start < end && end-start <= most && (start == 0 || !isWordRune(text[start-1])):
	case start == end && end > 0 && strings.ContainsRune("单双两四八", text[end-1]):
		start--
	default:
		return text
	}
	head := trimBlank(text[:start])
	if n := len(head); n > 0 && strings.ContainsRune("*×xX", head[n-1]) && (n == 1 || !isWordRune(head[n-2])) {
		head = head[:n-1]
	}
	return head
}

func trimBlank(text []rune) []rune {
	n := len(text)
	for n > 0 && unicode.IsSpace(text[n-1]) {
		n--
	}
	return text[:n]
}

// isWordRune reports a character that continues the name of a model.
func isWordRune(r rune) bool {
	return r == '-' || r == '.' || (r < utf8.RuneSelf && isNameRune(r) && r != 'x' && r != 'X')
}
