package lambda_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/providertest"
)

// shared returns a recorded answer; the test is skipped without it.
func shared(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("GPUTIDE_SHARED")
	if dir == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	body, err := os.ReadFile(filepath.Join(dir, "payloads", "lambda", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// offer is what is known of one offer.
type offer struct {
	USD   string // as published
	Basis gputide.Basis
	Count string
	GB    float64 // per card; 0 is not stated
}

func offers(c *providertest.Collector) map[string]offer {
	out := make(map[string]offer)
	for _, o := range c.Live() {
		got := offer{USD: o.Price.Amount, Basis: o.Price.Basis, Count: o.Spec.Device.Count.String()}
		if gb := o.Spec.Device.MemoryGB; gb != nil {
			got.GB = *gb
		}
		if o.Key.Currency == "USD" && o.Price.Unit == gputide.PerHour && o.Key.Region == "" {
			out[o.Key.InstanceType] = got
		}
	}
	return out
}

// knownPage holds the facts of the page as recorded in August 2026.
func knownPage() map[string]offer {
	known := make(map[string]offer)
	add := func(count string, gb float64, rows ...string) {
		for i := 0; i < len(rows); i += 2 {
			known[rows[i]] = offer{rows[i+1], gputide.BasisAccelerator, count, gb}
		}
	}
	add("8", 80, "gpu_8x_h100_sxm5", "3.99", "gpu_8x_a100_80gb_sxm4", "2.79")
	add("8", 40, "gpu_8x_a100", "1.99")
	add("8", 180, "NVIDIA B200 SXM6 180 GB×8", "6.69")
	add("8", 16, "NVIDIA Tesla V100 16 GB×8", "0.79")
	add("4", 180, "NVIDIA B200 SXM6 180 GB×4", "6.79")
	add("4", 80, "NVIDIA H100 SXM 80 GB×4", "4.09")
	add("4", 40, "NVIDIA A100 PCIe 40 GB×4", "1.99")
	add("4", 48, "NVIDIA A6000 48 GB×4", "1.09")
	add("2", 180, "NVIDIA B200 SXM6 180 GB×2", "6.89")
	add("2", 80, "NVIDIA H100 SXM 80 GB×2", "4.19")
	add("2", 40, "NVIDIA A100 PCIe 40 GB×2", "1.99")
	add("2", 48, "NVIDIA A6000 48 GB×2", "1.09")
	add("1", 180, "NVIDIA B200 SXM6 180 GB×1", "6.99")
	add("1", 96, "gpu_1x_gh200", "2.29")
	add("1", 80, "NVIDIA H100 SXM 80 GB×1", "4.29", "gpu_1x_h100_pcie", "3.29")
	add("1", 40, "gpu_1x_a100_sxm4", "1.99", "gpu_1x_a100", "1.99")
	add("1", 24, "gpu_1x_a10", "1.29", "NVIDIA Quadro RTX 6000 24 GB×1", "0.69")
	add("1", 48, "gpu_1x_a6000", "1.09")
	return known
}

func crawlPage(t *testing.T, body string) (*providertest.Collector, error) {
	t.Helper()
	return providertest.Collect(t.Context(), withoutKey(providertest.Replay(t, "lambda", providertest.Exchange{
		Source: "page", URL: "https://lambda.ai/pricing", Body: body, Header: map[string]string{"Content-Type": "text/html"},
	})))
}

// TestPageFacts proves what is known of the recorded section: 22 offers.
func TestPageFacts(t *testing.T) {
	c, err := crawlPage(t, shared(t, "pricing_page_instances_section_2026-08.html"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(knownPage(), offers(c)); d != "" {
		t.Errorf("facts (-known +read):\n%s", d)
	}
	if len(c.Offers) != 22 || len(c.Skips)+len(c.Omits) != 0 {
		t.Errorf("%d offers, skipped %v, omitted %v", len(c.Offers), c.Skips, c.Omits)
	}
	for _, o := range c.Offers {
		if o.Key.InstanceType != "gpu_8x_a100_80gb_sxm4" {
			continue
		}
		if s := o.Spec; *s.VCPU != 240 || *s.MemoryGiB != 1800 || int(*s.LocalDiskGB) != 21440 || s.LocalDiskKind != "ssd" {
			t.Errorf("machine of %s: %v vCPU, %v GiB, %v GB %s", o.Key.InstanceType, *s.VCPU, *s.MemoryGiB, *s.LocalDiskGB, s.LocalDiskKind)
		}
	}
}

// TestPageFactsNotice proves that the facts fail when the section is spoilt.
func TestPageFactsNotice(t *testing.T) {
	body := shared(t, "pricing_page_instances_section_2026-08.html")
	spoilt := map[string]string{
		"tabs swapped":          strings.NewReplacer(">8x<", ">4x<", ">4x<", ">8x<").Replace(body),
		"panels swapped":        strings.NewReplacer(`"tabpanel-:island-adac26na8ba91R19-R0:-0"`, `"tabpanel-:island-adac26na8ba91R19-R0:-1"`, `"tabpanel-:island-adac26na8ba91R19-R0:-1"`, `"tabpanel-:island-adac26na8ba91R19-R0:-0"`).Replace(strings.ReplaceAll(body, "aria-controls=\"tabpanel", "aria-controls=\"x-tabpanel")),
		"memory and price lost": strings.ReplaceAll(body, `data-label="VRAM/GPU"`, `data-label="VRAM"`),
		"price for an instance": strings.ReplaceAll(body, `PRICE/GPU/HR*`, `PRICE/HR*`),
		"plan renamed":          strings.Replace(body, `data-plan="NVIDIA GH200"`, `data-plan="NVIDIA GH201"`, 1),
		"memory swapped":        strings.NewReplacer("80 GB", "40 GB", "40 GB", "80 GB").Replace(body),
		"heading renamed":       strings.Replace(body, "Instances pricing", "Pricing", 1),
		"hidden panels dropped": strings.ReplaceAll(body, ` hidden>`, ` hidden><template>`),
	}
	for _, price := range []string{"6.69", "3.99", "2.79", "0.79", "4.09", "1.09", "6.99", "2.29", "3.29", "1.29", "0.69"} {
		spoilt["digit of "+price] = strings.Replace(body, "$"+price, "$"+price[:3]+"5", 1)
	}
	for name, text := range spoilt {
		t.Run(name, func(t *testing.T) {
			if text == body {
				t.Fatal("the page has nothing to spoil")
			}
			c, err := crawlPage(t, text)
			if err == nil && cmp.Equal(knownPage(), offers(c)) {
				t.Error("nothing is noticed")
			}
		})
	}
}

// knownAPI holds the facts of the answer of 2026-07-30: prices and cards, and
// where each is to be had.
func knownAPI() (map[string]offer, map[string]string) {
	of := func(usd, count string, gb float64) offer { return offer{usd, gputide.BasisInstance, count, gb} }
	return map[string]offer{
		"gpu_1x_a10": of("1.29", "1", 24), "gpu_1x_a100": of("1.99", "1", 40), "gpu_1x_a100_sxm4": of("1.99", "1", 40),
		"gpu_1x_h100_pcie": of("3.29", "1", 80), "gpu_1x_a6000": of("1.09", "1", 48), "gpu_8x_a100": of("15.92", "8", 40),
	}, map[string]string{
		"gpu_1x_a10": " us-east-1=available us-west-1=available", "gpu_1x_a100": " europe-central-1=available",
		"gpu_1x_a100_sxm4": " us-east-1=available", "gpu_1x_h100_pcie": " us-west-3=available",
		"gpu_1x_a6000": " =none", "gpu_8x_a100": " us-east-1=available",
	}
}

func stock(c *providertest.Collector) map[string]string {
	out := make(map[string]string)
	for _, s := range c.Signals {
		out[s.Key.InstanceType] += " " + s.Key.Region + "=" + gputide.SignalLabel(s.Name, s.Value)
	}
	return out
}

// TestAPIFacts proves what is known of the trimmed answer: six types, the count
// of cards by the name, and one that is sold out everywhere and keeps its price.
func TestAPIFacts(t *testing.T) {
	c, err := answer(t, shared(t, "api_instance_types_trimmed_2026-07-30.json"))
	if err != nil {
		t.Fatal(err)
	}
	prices, places := knownAPI()
	if d := cmp.Diff(prices, offers(c)); d != "" {
		t.Errorf("offers (-known +read):\n%s", d)
	}
	if d := cmp.Diff(places, stock(c)); d != "" {
		t.Errorf("stock (-known +read):\n%s", d)
	}
}

// TestAPIFactsNotice proves that the facts fail when the answer is spoilt.
func TestAPIFactsNotice(t *testing.T) {
	body := shared(t, "api_instance_types_trimmed_2026-07-30.json")
	prices, places := knownAPI()
	for name, text := range map[string]string{
		"digit of a price":    strings.Replace(body, "329", "328", 1),
		"digit of a count":    strings.ReplaceAll(body, "gpu_8x", "gpu_4x"),
		"prices swapped":      strings.NewReplacer("129", "109", "109", "129").Replace(body),
		"a region lost":       strings.Replace(body, `,{"name":"us-west-1"}`, "", 1),
		"a region more":       strings.Replace(body, `[]`, `[{"name":"us-east-1"}]`, 1),
		"regions renamed":     strings.ReplaceAll(body, "regions_with_capacity_available", "regions"),
		"prices renamed":      strings.ReplaceAll(body, "price_cents_per_hour", "price"),
		"one name renamed":    strings.Replace(body, `"name":"gpu_1x_a10"`, `"id":"gpu_1x_a10"`, 1),
		"two types exchanged": strings.NewReplacer("gpu_1x_a10\"", "gpu_1x_a6000\"", "gpu_1x_a6000\"", "gpu_1x_a10\"").Replace(body),
	} {
		t.Run(name, func(t *testing.T) {
			if text == body {
				t.Fatal("the answer has nothing to spoil")
			}
			c, err := answer(t, text)
			if err == nil && cmp.Equal(prices, offers(c)) && cmp.Equal(places, stock(c)) {
				t.Error("nothing is noticed")
			}
		})
	}
}

// TestDocumentedForm proves that the full form of the documentation is read.
func TestDocumentedForm(t *testing.T) {
	c, err := answer(t, shared(t, "api_instance_types_doc_example.json"))
	if err != nil || len(c.Offers) != 1 {
		t.Fatalf("offers %v, error %v", c.Offers, err)
	}
	s := c.Offers[0].Spec
	if s.Device.Name != "Example GPU (40 GB SXM4)" || s.Device.Count.String() != "8" || *s.VCPU != 124 || *s.MemoryGiB != 1800 ||
		int(*s.LocalDiskGB) != 6597 || c.Offers[0].Price.Amount != "15.92" {
		t.Errorf("offer %+v, spec %+v", c.Offers[0], s)
	}
}

// TestOneKey proves that both sources name one offer alike where the same card
// is told from both, and at the same price of an instance.
func TestOneKey(t *testing.T) {
	viaAPI, err := answer(t, shared(t, "api_instance_types_trimmed_2026-07-30.json"))
	if err != nil {
		t.Fatal(err)
	}
	viaPage, err := crawlPage(t, shared(t, "pricing_page_instances_section_2026-08.html"))
	if err != nil {
		t.Fatal(err)
	}
	price := func(o *gputide.RawOffer) string {
		v, err := gputide.ParseAmount(o.Price.Amount)
		if err != nil {
			t.Fatal(err)
		}
		if o.Price.Basis == gputide.BasisAccelerator {
			n, err := gputide.ParseAmount(o.Spec.Device.Count.String())
			if err != nil {
				t.Fatal(err)
			}
			v.Mul(v, n)
		}
		return v.FloatString(2)
	}
	listed := make(map[gputide.OfferID]string)
	for i := range viaPage.Offers {
		listed[viaPage.Offers[i].Key.ID()] = price(&viaPage.Offers[i])
	}
	for i := range viaAPI.Offers {
		o := &viaAPI.Offers[i]
		if got := listed[o.Key.ID()]; got != price(o) {
			t.Errorf("%s: %s by the API, %q by the page", o.Key.InstanceType, price(o), got)
		}
	}
}
