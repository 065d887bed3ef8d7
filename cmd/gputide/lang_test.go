package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/query"
)

// TestWordsInChinese holds that every heading of a table and every market and
// state has a word in Chinese.
func TestWordsInChinese(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	heads := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`head: +"([^"]+)"`).FindAllStringSubmatch(string(source), -1) {
			heads++
			if _, ok := headsZH()[m[1]]; !ok {
				t.Errorf("%s: heading %q", name, m[1])
			}
		}
	}
	if heads < 100 {
		t.Errorf("%d headings found", heads)
	}
	for _, m := range gputide.Markets() {
		if langZH.cell("MARKET", string(m)) == string(m) {
			t.Errorf("market %s", m)
		}
	}
	for _, s := range gputide.States() {
		if langZH.cell("STATE", string(s)) == string(s) {
			t.Errorf("state %s", s)
		}
	}
}

func TestCellsInChinese(t *testing.T) {
	for _, tt := range []struct{ head, in, want string }{
		{"MARKET", "subscription 1mo", "包年包月 1个月"},
		{"MARKET", "commitment ri_standard 3y partial", "承诺 ri_standard 3年 部分预付"},
		{"MARKET", "spot", "竞价"},
		{"PUBLISHED", "¥2500/月", "¥2500/月"},
		{"PUBLISHED", "$0.3/h", "$0.3/时"},
		{"PUBLISHED", "$2715.6 upfront + $0.3/h", "$2715.6 预付 + $0.3/时"},
		{"PUBLISHED", "€1.2/gpu/mo", "€1.2/卡/月"},
		{"PUBLISHED", "$466.56/y", "$466.56/年"},
		{"PUBLISHED", "$9/3y", "$9/3年"},
		{"TYPE", "spot/h 1mo", "spot/h 1mo"}, // a provider's word
		{"STATE", "", ""},
	} {
		if got := langZH.cell(tt.head, tt.in); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.head, tt.in, got, tt.want)
		}
		if got := langEN.cell(tt.head, tt.in); got != tt.in {
			t.Errorf("English %s %q: %q", tt.head, tt.in, got)
		}
	}
}

// columnsOf counts the columns of a terminal that text takes.
func columnsOf(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x2E80 && r < 0xFE00 || r >= 0xFF01 && r <= 0xFF60 {
			n++
		}
	}
	return n
}

// TestWideTable holds that Chinese characters, which take two columns, keep a
// table straight and within its width.
func TestWideTable(t *testing.T) {
	rows := []query.OfferRow{
		{
			KeyRow: query.KeyRow{Provider: "tencent", Region: "ap-guangzhou", InstanceType: "GN7.2XLARGE32", Market: "subscription", Term: "1mo", Stat: "list", Currency: "CNY"},
			State:  gputide.StatePriced, Published: query.PublishedRow{Amount: "2500", Unit: "mo", Basis: "instance", Currency: "CNY"},
		},
		{KeyRow: query.KeyRow{Provider: "aws", Region: "us-east-1", InstanceType: "g5.xlarge", Market: "spot", Stat: "list", Currency: "USD"}, State: gputide.StateStale},
		{KeyRow: query.KeyRow{Provider: "acme", Region: "火星", InstanceType: "x", Market: "on_demand", Stat: "list"}, State: gputide.StateGap},
	}
	c := testMain(t)
	c.lang = langZH
	const want = `
  公布价  云厂商   地域                   机型           计费            状态  距今
¥2500/月  tencent  中国广州 ap-guangzhou  GN7.2XLARGE32  包年包月 1个月  有价    0s
          aws      美国 us-east-1         g5.xlarge      竞价            过期    0s
          acme     火星                   x              按量            缺口    0s
`
	var b bytes.Buffer
	if _, err := printTable(screen{w: &b, lang: langZH}, c.offerTable(rows), rows); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[1:], b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, width := range []int{40, 60, 70} {
		b.Reset()
		if _, err := printTable(screen{w: &b, width: width, lang: langZH}, c.offerTable(rows), rows); err != nil {
			t.Fatal(err)
		}
		ends := map[int]bool{}
		for l := range strings.SplitSeq(strings.TrimRight(b.String(), "\n"), "\n") {
			if n := columnsOf(l); n > width {
				t.Errorf("%d columns of %d: %s", n, width, l)
			}
			ends[columnsOf(l)] = true
		}
		if width > 40 && len(ends) != 1 {
			t.Errorf("width %d: lines end at %v:\n%s", width, ends, b.String())
		}
	}
}
