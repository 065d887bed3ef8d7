package normalize

import (
	"strings"
	"testing"

	"github.com/gputide/gputide"
)

// TestChineseNames reads device names as Chinese pages write them. What was
// written stays in Raw.
func TestChineseNames(t *testing.T) {
	c, err := LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"昇腾910B3":                "ascend-910b3-64gb",
		"华为昇腾 ９１０Ｂ３ 加速卡":         "ascend-910b3-64gb",
		"昇腾910C芯片":               "ascend-910c-128gb",
		"４颗 NVIDIA T4":           "t4-16gb",
		"4 颗 NVIDIA T4":          "t4-16gb",
		"NVIDIA T4 * 4卡":         "t4-16gb",
		"英伟达T4显卡":                "t4-16gb",
		"8卡A100 80GB SXM4":       "a100-sxm-80gb",
		"A100 SXM4 80GB×8卡":      "a100-sxm-80gb",
		"Ａ１００　ＳＸＭ４　８０ＧＢ":         "a100-sxm-80gb",
		"双卡 A10":                 "a10-24gb",
		"A10卡":                   "a10-24gb", // the number is the model's
		"昆仑芯P800":                "kunlun-p800-96gb",
		"思元270-S4":               "mlu270-s4-16gb",
		"昇腾":                     "",
		"8卡":                     "",
		"卡":                      "",
		strings.Repeat("昇", 300): "",
	} {
		a, ok := c.Resolve("tencent", &gputide.Device{Name: name})
		if a.Slug != want || ok != (want != "") || a.Raw != name {
			t.Errorf("%s: %q %v, raw %q, want %q", name, a.Slug, ok, a.Raw, want)
		}
	}
}

// TestChinesePatterns asks for cards in Chinese.
func TestChinesePatterns(t *testing.T) {
	c, err := LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		"昇腾910B":   "Ascend 910B",
		"昇腾９１０Ｃ":   "ascend-910c",
		"英伟达 H100": "h100",
		"ｈ２０":      "h20",
	} {
		got, ok := c.Match(pattern)
		plain, _ := c.Match(want)
		if !ok || strings.Join(got, " ") != strings.Join(plain, " ") {
			t.Errorf("%s matches %v, %s %v", pattern, got, want, plain)
		}
	}
	if got, ok := c.Match("昇腾910B"); !ok || len(got) < 2 {
		t.Errorf("昇腾910B matches %v", got)
	}
	if near := c.Near("昇腾910D", 5); len(near) == 0 {
		t.Error("nothing is near 昇腾910D")
	}
}
