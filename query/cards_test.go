package query

import (
	"strings"

	"github.com/gputide/gputide"
)

// cards is a catalogue of a few cards; the model is the part before the first
// dash.
type cards struct{}

func (cards) Version() string { return "test" }

func (cards) all() []gputide.CatalogueEntry {
	card := func(slug, vendor, model, variant, stack string, gb float64, link string, fp8 float64) gputide.CatalogueEntry {
		e := gputide.CatalogueEntry{
			Accelerator: gputide.Accelerator{
				Slug: slug, Vendor: vendor, Model: model, Variant: variant, Class: gputide.DeviceGPU,
				Stack: stack, MemoryGB: &gb, Interconnect: link, Confidence: gputide.ConfidenceHigh,
			},
			Title: strings.ToUpper(model), Dense: map[string]float64{"fp16": 1}, Source: "a data sheet",
			SourceDate: "2026-02-07", Evidence: "datasheet",
		}
		if fp8 > 0 {
			e.Dense["fp8"] = fp8
		}
		return e
	}
	return []gputide.CatalogueEntry{
		card("h100-sxm-80gb", "nvidia", "h100", "sxm", "cuda", 80, "NVLink4", 1979),
		card("h100-pcie-80gb", "nvidia", "h100", "pcie", "cuda", 80, "NVLink4 bridge", 1513),
		card("l4-24gb", "nvidia", "l4", "", "cuda", 24, "", 242),
		card("v100-sxm2-16gb", "nvidia", "v100", "sxm2", "cuda", 16, "NVLink2", 0),
		card("mi300x-192gb", "amd", "mi300x", "", "rocm", 192, "Infinity Fabric", 2614),
	}
}

func (c cards) Resolve(provider string, d *gputide.Device) (gputide.Accelerator, bool) {
	for _, e := range c.all() {
		if e.Slug == d.Name {
			e.Raw = d.Name
			return e.Accelerator, true
		}
	}
	acc := gputide.Accelerator{Raw: d.Name}
	if d.Name == "h100-80gb" { // a form is not said
		return gputide.Accelerator{Slug: d.Name, Vendor: "nvidia", Model: "h100", MemoryGB: new(80.0), Confidence: gputide.ConfidenceHigh}, true
	}
	if d.Kind == gputide.DeviceFPGA {
		acc.Class = gputide.DeviceFPGA
	}
	return acc, false
}

func (c cards) Match(pattern string) (slugs []string, ok bool) {
	for _, e := range c.all() {
		if pattern == e.Slug || pattern == e.Model || pattern == e.Model+"-"+e.Variant {
			slugs = append(slugs, e.Slug)
		}
	}
	return slugs, slugs != nil
}

func (c cards) Near(pattern string, n int) []string {
	var models []string
	for _, e := range c.all() {
		models = append(models, e.Model)
	}
	return nearest(pattern, models)
}

func (c cards) Entry(slug string) (gputide.CatalogueEntry, bool) {
	for _, e := range c.all() {
		if e.Slug == slug {
			return e, true
		}
	}
	return gputide.CatalogueEntry{}, false
}

// table is a region table of a few regions.
type table struct{}

func (table) Lookup(provider, partition, region string) (gputide.Place, bool) {
	if region == "ap-1" && provider == "aws" {
		region = "tokyo"
	}
	p, ok := map[string]gputide.Place{
		"us-east-1":   {Country: "us", Continent: "north-america"},
		"eu-west-1":   {Country: "ie", Continent: "europe"},
		"cn-north-1":  china("Beijing", "北京"),
		"EU-RO-1":     {Country: "ro", Continent: "europe"},
		"US-WA-2":     {Country: "us", Continent: "north-america"},
		"cn-hangzhou": china("Hangzhou", "杭州"),
		"ap-1":        {Country: "sg", Continent: "asia", City: "Singapore", NameEN: "Singapore", NameZH: "新加坡"},
		"tokyo":       {Country: "jp", Continent: "asia", City: "Tokyo", NameEN: "Tokyo, Japan", NameZH: "日本东京"},
	}[region]
	return p, ok
}

func china(en, zh string) gputide.Place {
	return gputide.Place{
		Country: "cn", Continent: "asia", MainlandCN: true, City: en, NameEN: en + ", China", NameZH: "中国" + zh,
		CountryEN: "China", CountryZH: "中国",
	}
}
