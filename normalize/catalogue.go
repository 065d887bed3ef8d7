package normalize

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the compiled tables
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

//go:embed accelerators.json
var acceleratorsJSON []byte

// rulesVersion is raised when the rules that read names change what they yield
// for the same table, so that stored derived fields are rebuilt.
const rulesVersion = "1"

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
	MIGMax          *int
	Aliases         []string
}

// Catalogue is the accelerator catalogue. It does not change after loading and
// is safe for concurrent use.
type Catalogue struct {
	version string
	cards   []card
	bySlug  map[string]*card
	names   map[string][]*card     // folded slug, model and model-variant
	cores   map[string][]*card     // core of a spelling → the cards that bear it
	exact   map[string][]*card     // folded alias → cards
	masked  map[string][]maskedRow // folded name
}

// card is a row with what matching needs of it.
type card struct {
	entry    Entry
	also     []float64
	forms    []string // what a spelling may call its form
	domestic bool     // of a vendor that sells in China only
}

// LoadCatalogue returns the embedded catalogue. An error means that the table
// the program was built with is damaged.
func LoadCatalogue() (*Catalogue, error) { return loadCatalogue(acceleratorsJSON) }

func loadCatalogue(data []byte) (*Catalogue, error) {
	var table catalogueTable
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&table); err != nil {
		return nil, fmt.Errorf("accelerator catalogue: %w: %w", gputide.ErrInvalid, err)
	}
	sum := sha256.Sum256(data)
	c := &Catalogue{
		version: rulesVersion + "." + hex.EncodeToString(sum[:4]),
		cards:   make([]card, len(table.Cards)),
		bySlug:  make(map[string]*card, len(table.Cards)),
		names:   make(map[string][]*card, 3*len(table.Cards)),
		cores:   make(map[string][]*card, 4*len(table.Cards)),
		exact:   make(map[string][]*card, 4*len(table.Cards)),
		masked:  make(map[string][]maskedRow, len(table.Masked)),
	}
	for i := range table.Cards {
		c.cards[i] = newCard(&table.Cards[i])
		if err := c.index(&c.cards[i]); err != nil {
			return nil, fmt.Errorf("accelerator catalogue: %w", err)
		}
	}
	if err := c.indexMasked(table.Masked); err != nil {
		return nil, fmt.Errorf("accelerator catalogue: %w", err)
	}
	return c, c.indexCollisions()
}

func newCard(r *cardRow) card {
	dense := make(map[string]float64)
	for name, v := range map[string]*float64{
		"fp64": r.FP64, "fp64_tensor": r.FP64Tensor, "fp32": r.FP32, "tf32": r.TF32, "bf16": r.BF16,
		"fp16": r.FP16, "fp8": r.FP8, "fp4": r.FP4, "int8": r.INT8, "int4": r.INT4,
	} {
		if v != nil {
			dense[name] = *v
		}
	}
	c := card{
		also:     r.AlsoGB,
		domestic: slices.Contains(domesticVendors(), r.Vendor),
		entry: Entry{
			CatalogueEntry: gputide.CatalogueEntry{
				Accelerator: gputide.Accelerator{
					Slug: r.Slug, Vendor: r.Vendor, Model: r.Model, Variant: r.Variant,
					Class: gputide.DeviceKind(r.Class), Stack: stackSlug(r.Stack), MemoryGB: r.MemoryGB, Interconnect: r.Interconnect,
				},
				Title: r.Name, BandwidthGBs: r.BandwidthGBs, Dense: dense,
				Source: r.Source, SourceDate: r.SourceDate, Evidence: r.Evidence,
			},
			Form: r.Form, Architecture: r.Architecture, ISA: r.ISA, Release: r.Release, MemoryType: r.MemoryType,
			UsableMiB: r.UsableMiB, InterconnectGBs: r.InterconnectGBs, PCIeGen: r.PCIeGen, TDPW: r.TDPW,
			RTCores: r.RTCores, MIGMax: r.MIGMax, Aliases: r.Aliases,
		},
	}
	c.forms = cardForms(r)
	return c
}

// cardForms lists what spellings call the form of a card: SXM5 also sxm, NVL
// also pcie.
func cardForms(r *cardRow) []string {
	forms := append(spell(r.Form).forms, spell(r.Name).forms...)
	for _, f := range forms {
		if strings.HasPrefix(f, "sxm") {
			forms = append(forms, "sxm")
		}
	}
	if r.Variant != "" {
		forms = append(forms, r.Variant)
	}
	return forms
}

// stackSlug shortens the name of a software stack: "DTK (ROCm fork)" is dtk.
func stackSlug(s string) string {
	s, _, _ = strings.Cut(s, " (")
	s, _, _ = strings.Cut(s, " /")
	return strings.ReplaceAll(strings.ToLower(s), " ", "-")
}

func (c *Catalogue) index(k *card) error {
	e := &k.entry
	if e.Slug == "" || e.Model == "" || c.bySlug[e.Slug] != nil {
		return fmt.Errorf("%w: slug %q is empty or there twice", gputide.ErrInvalid, e.Slug)
	}
	switch e.Class {
	case gputide.DeviceGPU, gputide.DeviceASIC, gputide.DeviceFPGA, gputide.DeviceVideo:
	default:
		return fmt.Errorf("%w: %s: class %q", gputide.ErrInvalid, e.Slug, e.Class)
	}
	c.bySlug[e.Slug] = k
	addCard(c.names, fold(e.Slug), k)
	addCard(c.names, fold(e.Model), k)
	addCard(c.names, fold(e.Model+e.Variant), k)
	addCard(c.cores, spell(e.Slug).core, k)
	addCard(c.cores, spell(e.Title).core, k)
	for _, a := range e.Aliases {
		if strings.HasSuffix(a, "unconfirmed)") || strings.HasSuffix(a, "pool name)") {
			continue // a remark, not a name
		}
		sp := spell(a)
		addCard(c.exact, sp.exact, k)
		addCard(c.cores, sp.core, k)
	}
	return nil
}

func addCard(m map[string][]*card, key string, k *card) {
	if key != "" && !slices.Contains(m[key], k) {
		m[key] = append(m[key], k)
	}
}

func (c *Catalogue) indexMasked(rows []maskedRow) error {
	for _, r := range rows {
		if r.Slug != "" && c.bySlug[r.Slug] == nil {
			return fmt.Errorf("%w: masked name %q: no card %q", gputide.ErrInvalid, r.Name, r.Slug)
		}
		switch gputide.Confidence(r.Confidence) {
		case gputide.ConfidenceHigh, gputide.ConfidenceMedium, gputide.ConfidenceLow:
		default:
			return fmt.Errorf("%w: masked name %q: confidence %q", gputide.ErrInvalid, r.Name, r.Confidence)
		}
		key := fold(r.Name)
		c.masked[key] = append(c.masked[key], r)
	}
	return nil
}

// indexCollisions gives the short names that several cards answer to their
// cards, so that memory, and nothing else, decides between them.
func (c *Catalogue) indexCollisions() error {
	for core, slugs := range collisions() {
		for _, slug := range slugs {
			k := c.bySlug[slug]
			if k == nil {
				return fmt.Errorf("accelerator catalogue: %w: collision %s: no card %q", gputide.ErrInvalid, core, slug)
			}
			addCard(c.cores, core, k)
		}
	}
	return nil
}

// Version names the contents of the catalogue and the rules that read it.
func (c *Catalogue) Version() string { return c.version }

// Entries lists the cards in the order of the table.
func (c *Catalogue) Entries() []Entry {
	out := make([]Entry, len(c.cards))
	for i := range c.cards {
		out[i] = c.cards[i].entry
	}
	return out
}

// Entry returns the card of a slug.
func (c *Catalogue) Entry(slug string) (gputide.CatalogueEntry, bool) {
	k := c.bySlug[slug]
	if k == nil {
		return gputide.CatalogueEntry{}, false
	}
	return k.entry.CatalogueEntry, true
}
