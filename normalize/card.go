package normalize

import (
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

// card is one row of the catalogue as matching needs it. Numbers that were not
// found are 0.
type card struct {
	slug, model, variant string
	vendor               string
	class                gputide.DeviceKind
	stack                string
	memory               float64 // label, GB
	also                 []float64
	usable               []float64 // MiB
	memoryType           string
	interconnect         string
	forms                []string // what spellings call its form
	cores, exact         []string // of its names and aliases; see spelling
	domestic             bool     // of a vendor that sells in China only
	details              cardDetails
}

// cardDetails are the columns that only people and queries look at.
type cardDetails struct {
	title, form, architecture, isa, release string
	bandwidth                               float64
	rates                                   [len(precisions)]float64
	interconnectGBs                         float64
	pcieGen                                 string
	tdp                                     float64
	rtCores                                 string
	migMax                                  float64
	aliases                                 string // separated by semicolons
	source, sourceDate, evidence            string
}

// precisions are the names of the rates in the order of the columns.
var precisions = [...]string{"fp64", "fp64_tensor", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int8", "int4"}

// readCard reads a card line. The order of the fields is that of the compiler in
// the tests.
func readCard(f *fields) card {
	k := card{
		slug: f.text(), model: f.text(), variant: f.text(), vendor: f.text(), class: gputide.DeviceKind(f.text()),
		stack: f.text(), memory: f.number(), also: f.numbers(), usable: f.numbers(), memoryType: f.text(),
		interconnect: f.text(), forms: f.list(), cores: f.list(), exact: f.list(),
	}
	d := &k.details
	d.title, d.form, d.architecture, d.isa, d.release = f.text(), f.text(), f.text(), f.text(), f.text()
	d.bandwidth = f.number()
	for i := range d.rates {
		d.rates[i] = f.number()
	}
	d.interconnectGBs, d.pcieGen, d.tdp = f.number(), f.text(), f.number()
	d.rtCores, d.migMax, d.aliases = f.text(), f.number(), f.text()
	d.source, d.sourceDate, d.evidence = f.text(), f.text(), f.text()
	k.domestic = slices.Contains(domesticVendors(), k.vendor)
	return k
}

// accelerator returns the card as part of an offer; Confidence and Raw are the
// reader's.
func (k *card) accelerator() gputide.Accelerator {
	return gputide.Accelerator{
		Slug: k.slug, Vendor: k.vendor, Model: k.model, Variant: k.variant, Class: k.class, Stack: k.stack,
		MemoryGB: optional(k.memory), Interconnect: k.interconnect,
	}
}

func (k *card) catalogueEntry() gputide.CatalogueEntry {
	d := &k.details
	dense := make(map[string]float64)
	for i, v := range d.rates {
		if v != 0 {
			dense[precisions[i]] = v
		}
	}
	return gputide.CatalogueEntry{
		Accelerator: k.accelerator(), Title: d.title, BandwidthGBs: optional(d.bandwidth), Dense: dense,
		Source: d.source, SourceDate: d.sourceDate, Evidence: d.evidence,
	}
}

// Entry is one card of the catalogue with everything the table holds of it. A
// nil or empty field was not found; none is zero for "unsupported".
type Entry struct {
	gputide.CatalogueEntry

	Form            string // form factor, in words
	Architecture    string
	ISA             string // compute capability or instruction set
	Release         string // YYYY or YYYY-MM
	MemoryType      string
	UsableMiB       []int64  // memory as drivers and APIs report it
	InterconnectGBs *float64 // both directions, per device
	PCIeGen         string
	TDPW            *float64
	RTCores         *bool
	MIGMax          *int // slices one card can be cut into
	Aliases         []string
}

func (k *card) entry() Entry {
	d := &k.details
	e := Entry{
		CatalogueEntry: k.catalogueEntry(), Form: d.form, Architecture: d.architecture, ISA: d.isa, Release: d.release,
		MemoryType: k.memoryType, InterconnectGBs: optional(d.interconnectGBs), PCIeGen: d.pcieGen, TDPW: optional(d.tdp),
	}
	for _, u := range k.usable {
		e.UsableMiB = append(e.UsableMiB, int64(u))
	}
	if d.rtCores != "" {
		e.RTCores = new(d.rtCores == "yes")
	}
	if d.migMax != 0 {
		e.MIGMax = new(int(d.migMax))
	}
	if d.aliases != "" {
		e.Aliases = strings.Split(d.aliases, ";")
	}
	return e
}

// cardForms lists what spellings call the form of a card: SXM5 also sxm, NVL
// also pcie.
func cardForms(form, name, variant string) []string {
	forms := append(spell(form).forms, spell(name).forms...)
	for _, f := range slices.Clone(forms) {
		if strings.HasPrefix(f, "sxm") {
			forms = append(forms, "sxm")
		}
	}
	if variant != "" {
		forms = append(forms, variant)
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// stackSlug shortens the name of a software stack: "DTK (ROCm fork)" is dtk.
func stackSlug(s string) string {
	s, _, _ = strings.Cut(s, " (")
	s, _, _ = strings.Cut(s, " /")
	return strings.ReplaceAll(strings.ToLower(s), " ", "-")
}

// isRemark reports whether an alias of the table is a remark and not a name that
// is looked up.
func isRemark(alias string) bool {
	return strings.HasSuffix(alias, "unconfirmed)") || strings.HasSuffix(alias, "pool name)")
}
