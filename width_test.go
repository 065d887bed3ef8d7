package gputide_test

import (
	"testing"

	"github.com/gputide/gputide"
)

func TestFoldWidth(t *testing.T) {
	for in, want := range map[string]string{
		"":               "",
		"8 × A100":       "8 × A100",
		"ＧＮ１０Ｘｐ．２ＸＬ":     "GN10Xp.2XL",
		"显存\u3000８０ＧＢ～！": "显存 80GB~!",
		"《昇腾》、。￥":        "《昇腾》、。￥", // no forms of ASCII
	} {
		if got := gputide.FoldWidth(in); got != want {
			t.Errorf("FoldWidth(%q) = %q, want %q", in, got, want)
		}
	}
}
