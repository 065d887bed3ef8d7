package normalize

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gputide/gputide"
)

func TestCatalogueIsSound(t *testing.T) {
	c := testCatalogue(t)
	entries := c.Entries()
	if len(entries) < 263 {
		t.Fatalf("%d cards", len(entries))
	}
	for _, e := range entries {
		slug := e.Model
		if e.Variant != "" {
			slug += "-" + e.Variant
		}
		if rest := strings.TrimPrefix(e.Slug, slug); rest != "" && (!strings.HasPrefix(rest, "-") || !strings.HasSuffix(rest, "gb")) {
			t.Errorf("%s is not %s[-<gb>gb]", e.Slug, slug)
		}
		if e.Slug != strings.ToLower(e.Slug) || e.Vendor == "" || e.Title == "" || e.Source == "" || e.Raw != "" {
			t.Errorf("%+v", e)
		}
		if !slices.Contains([]string{"datasheet", "secondary", "press"}, e.Evidence) {
			t.Errorf("%s: evidence %q", e.Slug, e.Evidence)
		}
		for name, v := range e.Dense {
			if v <= 0 {
				t.Errorf("%s: %s is %v", e.Slug, name, v)
			}
		}
		if e.MemoryGB != nil && *e.MemoryGB <= 0 {
			t.Errorf("%s: memory %v", e.Slug, *e.MemoryGB)
		}
		got, ok := c.Entry(e.Slug)
		if diff := cmp.Diff(e.CatalogueEntry, got); !ok || diff != "" {
			t.Errorf("%s: %v\n%s", e.Slug, ok, diff)
		}
	}
	if _, ok := c.Entry("no-such-card"); ok {
		t.Error("a card that is not there")
	}
}

// TestEveryCardResolves: each card is found under its slug and its own name with
// its own memory, and every alias leads to its card or to the family it shares.
func TestEveryCardResolves(t *testing.T) {
	c := testCatalogue(t)
	for i := range c.cards {
		e := c.cards[i].entry()
		d := &gputide.Device{Name: e.Slug, Vendor: e.Vendor, MemoryGB: e.MemoryGB}
		if a, ok := c.Resolve("alibaba", d); !ok || a.Slug != e.Slug {
			t.Errorf("slug %s: %+v", e.Slug, a)
		}
		for _, alias := range e.Aliases {
			if strings.HasSuffix(alias, "unconfirmed)") || strings.HasSuffix(alias, "pool name)") {
				continue
			}
			slugs, ok := c.Match(alias)
			if !ok || !slices.Contains(slugs, e.Slug) {
				t.Errorf("alias %q of %s names %v", alias, e.Slug, slugs)
			}
			if fold(alias) == "ascend910b" {
				continue // B1, B2 or B3: it says the family only
			}
			r := c.read("alibaba", &gputide.Device{Name: alias, MemoryGB: e.MemoryGB})
			if r.card == nil && r.confidence == "" && !r.mismatch {
				t.Errorf("alias %q of %s is read as nothing", alias, e.Slug)
			}
			if r.card != nil && r.card.slug != e.Slug && (r.card.model != e.Model || r.confidence == high) {
				t.Errorf("alias %q of %s is read as %s (%s)", alias, e.Slug, r.card.slug, r.confidence)
			}
		}
	}
}

// TestDenseFigures spot-checks the cards that two independent sources confirm
// with the vendors' dense figures: TFLOPS, and GB/s of memory bandwidth.
func TestDenseFigures(t *testing.T) {
	c := testCatalogue(t)
	for _, tc := range []struct {
		slug      string
		precision string
		dense     float64
		bandwidth float64
	}{
		{"a10-24gb", "fp16", 125, 600},
		{"a30-24gb", "fp16", 165, 933},
		{"a40-48gb", "fp16", 149.7, 696},
		{"a100-sxm-40gb", "fp16", 312, 1555},
		{"a100-sxm-80gb", "bf16", 312, 2039},
		{"a100-pcie-40gb", "tf32", 156, 1555},
		{"a100-pcie-80gb", "int8", 624, 1935},
		{"a800-sxm-80gb", "fp16", 312, 2039},
		{"h100-sxm-80gb", "bf16", 989.4, 3350},
		{"h100-sxm-80gb", "fp8", 1979, 3350},
		{"h100-pcie-80gb", "fp16", 756, 2039},
		{"h100-nvl-94gb", "fp16", 835.5, 3938},
		{"h200-sxm-141gb", "fp8", 1979, 4800},
		{"gh200-96gb", "fp16", 989.4, 4000},
		{"b200-sxm-180gb", "fp8", 4500, 8000},
		{"b300-sxm-288gb", "fp4", 14000, 8000},
		{"gb200-186gb", "fp8", 5000, 8000},
		{"gb300-288gb", "fp8", 5000, 8000},
		{"l4-24gb", "fp16", 121, 300},
		{"l40-48gb", "fp16", 181, 864},
		{"l40s-48gb", "fp16", 362, 864},
		{"t4-16gb", "fp16", 65, 320},
		{"v100-sxm2-16gb", "fp16", 125, 900},
		{"v100-sxm2-32gb", "fp32", 15.7, 900},
		{"v100-pcie-16gb", "fp16", 112.2, 900},
		{"v100-pcie-32gb", "fp64", 7, 900},
		{"p100-pcie-16gb", "fp16", 18.7, 732},
		{"p100-sxm2-16gb", "fp16", 21.2, 732},
		{"rtx-a4000-16gb", "fp32", 19.2, 448},
		{"rtx-a5000-24gb", "fp32", 27.8, 768},
		{"rtx-a6000-48gb", "fp32", 38.7, 768},
		{"rtx-6000-ada-48gb", "fp32", 91.1, 960},
		{"rtx-4090-24gb", "fp32", 82.6, 1008},
		{"rtx-3090-24gb", "fp32", 35.6, 936},
		{"rtx-5090-32gb", "fp4", 1676, 1792},
		{"rtx-5080-16gb", "fp32", 56.3, 960},
		{"rtx-4080-16gb", "fp32", 48.7, 717},
		{"mi250x-128gb", "fp16", 383, 3277},
		{"mi300x-192gb", "fp16", 1307.4, 5300},
		{"mi325x-256gb", "fp16", 1307.4, 6000},
		{"mi355x-288gb", "fp16", 2500, 8000},
		{"gaudi2-96gb", "bf16", 432, 2450},
		{"gaudi3-128gb", "bf16", 1677, 3700},
		{"tpu-v4-32gb", "bf16", 275, 1200},
		{"tpu-v5e-16gb", "bf16", 197, 819},
		{"tpu-v5p-95gb", "bf16", 459, 2765},
		{"tpu-v6e-32gb", "bf16", 918, 1640},
		{"tpu-v7x-192gb", "fp8", 4614, 7380},
		{"trainium-32gb", "bf16", 190, 820},
		{"trainium2-96gb", "bf16", 667, 2900},
		{"trainium3-144gb", "fp8", 2517, 4900},
		{"inferentia2-32gb", "bf16", 190, 820},
	} {
		e, ok := c.Entry(tc.slug)
		if !ok || e.BandwidthGBs == nil {
			t.Errorf("%s: %v, no bandwidth", tc.slug, ok)
			continue
		}
		if got := e.Dense[tc.precision]; math.Abs(got-tc.dense) > tc.dense*0.01 {
			t.Errorf("%s: %s is %v, want %v dense", tc.slug, tc.precision, got, tc.dense)
		}
		if got := *e.BandwidthGBs; math.Abs(got-tc.bandwidth) > tc.bandwidth*0.01 {
			t.Errorf("%s: %v GB/s, want %v", tc.slug, got, tc.bandwidth)
		}
	}
}

func TestMatch(t *testing.T) {
	c := testCatalogue(t)
	for _, tc := range []struct {
		pattern string
		want    []string
	}{
		{"h100-sxm-80gb", []string{"h100-sxm-80gb"}},
		{"h100", []string{"h100-sxm-80gb", "h100-sxm-94gb", "h100-sxm-96gb", "h100-pcie-80gb", "h100-nvl-94gb"}},
		{"H100_SXM", []string{"h100-sxm-80gb", "h100-sxm-94gb", "h100-sxm-96gb"}},
		{"gh200", []string{"gh200-96gb", "gh200-144gb"}},
		{"h200", []string{"h200-sxm-141gb", "h200-nvl-141gb"}},
		{"a10", []string{"a10-24gb"}},
		{"p4", []string{"p4-8gb"}},
		{"p1", nil},
		{"rtx-4090", []string{"rtx-4090-24gb"}},
		{"rtx-4090-d", []string{"rtx-4090-d-24gb"}},
		{"rtx-4060", []string{"rtx-4060-8gb"}},
		{"RTX 4060 Ti", []string{"rtx-4060-ti-8gb", "rtx-4060-ti-16gb"}},
		{"ascend-910b4", []string{"ascend-910b4-32gb"}},
		{"ascend-910b4-1", []string{"ascend-910b4-1-64gb"}},
		{"rtx-pro-6000", []string{"rtx-pro-6000-server-96gb", "rtx-pro-6000-workstation-96gb", "rtx-pro-6000-maxq-96gb"}},
		{"rtx-pro-6000-maxq", []string{"rtx-pro-6000-maxq-96gb"}},
		{"mi250", []string{"mi250-128gb"}},
		// Aliases name every card they describe.
		{"4090", []string{"rtx-4090-24gb"}},
		{"A6000", []string{"rtx-a6000-48gb"}},
		{"NVIDIA H100 80GB HBM3", []string{"h100-sxm-80gb"}},
		{"a100 80gb", []string{"a100-pcie-80gb", "a100-sxm-80gb"}},
		{"A100 PCIe", []string{"a100-pcie-40gb", "a100-pcie-80gb"}},
		{"GH200 480GB", []string{"gh200-96gb"}},
		{"RTX PRO 6000 WK", []string{"rtx-pro-6000-workstation-96gb"}},
		{"rtx 6000", []string{"quadro-rtx-6000-24gb", "rtx-pro-6000-server-96gb", "rtx-6000-ada-48gb", "rtx-a6000-48gb"}},
		{"rtx 6000 24gb", []string{"quadro-rtx-6000-24gb"}},
		{"昆仑芯P800", []string{"kunlun-p800-96gb"}},
		{"h10", nil},
		{"100", nil},
		{"gpu", nil},
		{"nvidia", nil},
		{"80gb", nil},
		{"", nil},
		{"-", nil},
		{strings.Repeat("h", 10_000), nil},
	} {
		got, ok := c.Match(tc.pattern)
		if ok != (tc.want != nil) {
			t.Errorf("%.40q: %v", tc.pattern, ok)
		}
		slices.Sort(got)
		slices.Sort(tc.want)
		if !slices.Equal(got, tc.want) {
			t.Errorf("%.40q: %v, want %v", tc.pattern, got, tc.want)
		}
	}
}

// TestPatternsNameOneModel: no slug, model or model with variant reads like that
// of another model once case and punctuation are gone.
func TestPatternsNameOneModel(t *testing.T) {
	c := testCatalogue(t)
	for key, cards := range c.names {
		for _, k := range cards {
			if k.model != cards[0].model {
				t.Errorf("%q is both %s and %s", key, cards[0].slug, k.slug)
			}
		}
	}
}

func TestNear(t *testing.T) {
	c := testCatalogue(t)
	for pattern, want := range map[string]string{
		"h10": "h100", "rtx-4900": "rtx-4090", "a100-sxm-80": "a100-sxm-80gb", "mi330x": "mi300x", "gb20": "gb200",
	} {
		if got := c.Near(pattern, 5); !slices.Contains(got, want) {
			t.Errorf("%s: %v, want %s among them", pattern, got, want)
		}
	}
	if got := c.Near("zzzzzzzzzzzz", 5); len(got) != 0 {
		t.Errorf("nothing is near, got %v", got)
	}
	if got := c.Near("h100", 3); len(got) > 3 {
		t.Errorf("%v", got)
	}
	if got := c.Near(strings.Repeat("x", 5000), 3); got != nil {
		t.Errorf("%v", got)
	}
}

func TestLoadCatalogueRefuses(t *testing.T) {
	version, body, _ := strings.Cut(acceleratorsTSV, "\n")
	first, _, _ := strings.Cut(body, "\n")
	edit := func(old, new string) string { return version + "\n" + strings.Replace(body, old, new, 1) }
	for name, data := range map[string]string{
		"empty":            "",
		"no version":       "\n" + body,
		"unknown line":     edit("card\t", "cart\t"),
		"no slug":          edit("grid-k2\t", "\t"),
		"slug twice":       version + "\n" + first + "\n" + body,
		"unknown class":    edit("\tgpu\t", "\ttoaster\t"),
		"a field too few":  edit("\tsecondary\n", "\n"),
		"a field too many": edit("\tsecondary\n", "\tsecondary\tx\n"),
		"no number":        edit("\t160\t", "\tmuch\t"),
		"number of zero":   edit("\t160\t", "\t0\t"),
		"masked as nobody": edit("gpuh\talibaba\t96\t\th20-96gb", "gpuh\talibaba\t96\t\tnobody"),
		"unsure how sure":  edit("h20-96gb\t\tmedium", "h20-96gb\t\tmaybe"),
		"masked, cut":      edit("h20-96gb\t\tmedium", "h20-96gb"),
		"collisions gone":  version + "\n" + first + "\n",
	} {
		if data == acceleratorsTSV {
			t.Errorf("%s: the edit did nothing", name)
		}
		if _, err := loadCatalogue(data); !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVersionFollowsContents(t *testing.T) {
	c := testCatalogue(t)
	other, err := loadCatalogue(strings.Replace(acceleratorsTSV, "\n", "0\n", 1))
	if err != nil {
		t.Fatal(err)
	}
	if c.Version() == other.Version() || len(c.Version()) > 16 {
		t.Errorf("versions %q and %q", c.Version(), other.Version())
	}
}

func FuzzMatch(f *testing.F) {
	for _, s := range []string{"h100", "RTX 6000", "1g.24gb mig", "8x", "80 gb", "昆仑芯P800", "."} {
		f.Add(s)
	}
	c := testCatalogue(f)
	f.Fuzz(func(t *testing.T, pattern string) {
		slugs, ok := c.Match(pattern)
		if ok != (len(slugs) > 0) {
			t.Fatalf("%v, %v", slugs, ok)
		}
		seen := map[string]bool{}
		for _, s := range slugs {
			if _, known := c.Entry(s); !known || seen[s] {
				t.Fatalf("%v", slugs)
			}
			seen[s] = true
		}
		if near := c.Near(pattern, 5); len(near) > 5 {
			t.Fatalf("%v", near)
		}
	})
}

func BenchmarkLoadCatalogue(b *testing.B) {
	for b.Loop() {
		if _, err := LoadCatalogue(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoadRegions(b *testing.B) {
	for b.Loop() {
		if _, err := LoadRegions(); err != nil {
			b.Fatal(err)
		}
	}
}
