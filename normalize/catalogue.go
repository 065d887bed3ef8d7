package normalize

import (
	"fmt"
	"slices"

	"github.com/gputide/gputide"
)

// rulesVersion is raised when the rules that read names change what they yield
// for the same table, so that stored derived fields are rebuilt.
const rulesVersion = "2"

// Catalogue is the accelerator catalogue. It does not change after loading and
// is safe for concurrent use.
type Catalogue struct {
	version string
	cards   []card
	bySlug  map[string]*card
	names   map[string][]*card // folded slug, model and model with variant
	cores   map[string][]*card // core of a spelling → the cards that bear it
	exact   map[string][]*card // folded alias → cards
	masked  map[string][]maskedName
}

// maskedName is a device name that its seller does not explain, with what it
// most likely is.
type maskedName struct {
	providers  []string // empty: any
	memory     float64  // GB the reading holds for; 0: any
	sliced     bool     // sold in slices up to that size
	card       *card    // nil: no card is named
	vendor     string   // where only that much is known
	confidence gputide.Confidence
}

// LoadCatalogue returns the embedded catalogue. An error means that the table
// the program was built with is damaged.
func LoadCatalogue() (*Catalogue, error) { return loadCatalogue(acceleratorsTSV) }

func loadCatalogue(data string) (*Catalogue, error) {
	const cards = 320 // about; only to size the tables
	c := &Catalogue{
		cards:  make([]card, 0, cards),
		bySlug: make(map[string]*card, cards),
		names:  make(map[string][]*card, 3*cards),
		cores:  make(map[string][]*card, 4*cards),
		exact:  make(map[string][]*card, 4*cards),
		masked: make(map[string][]maskedName),
	}
	var masked []fields
	version, err := tableLines(data, func(kind string, f *fields) error {
		switch kind {
		case lineCard:
			c.cards = append(c.cards, readCard(f))
		case lineMasked: // names cards, which are not all there yet
			masked = append(masked, *f)
			*f = fields{}
		default:
			return fmt.Errorf("%w: unknown kind of line", gputide.ErrInvalid)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("accelerator catalogue: %w", err)
	}
	c.version = rulesVersion + "." + version
	for i := range c.cards {
		if err := c.index(&c.cards[i]); err != nil {
			return nil, fmt.Errorf("accelerator catalogue: %w", err)
		}
	}
	for i := range masked {
		if err := c.indexMasked(&masked[i]); err != nil {
			return nil, fmt.Errorf("accelerator catalogue: %w", err)
		}
	}
	return c, c.indexCollisions()
}

func (c *Catalogue) index(k *card) error {
	if k.slug == "" || k.model == "" || c.bySlug[k.slug] != nil {
		return fmt.Errorf("%w: slug %q is empty or there twice", gputide.ErrInvalid, k.slug)
	}
	switch k.class {
	case gputide.DeviceGPU, gputide.DeviceASIC, gputide.DeviceFPGA, gputide.DeviceVideo:
	default:
		return fmt.Errorf("%w: %s: class %q", gputide.ErrInvalid, k.slug, k.class)
	}
	c.bySlug[k.slug] = k
	addCard(c.names, fold(k.slug), k)
	addCard(c.names, fold(k.model), k)
	if k.variant != "" {
		addCard(c.names, fold(k.model+k.variant), k)
	}
	for _, core := range k.cores {
		addCard(c.cores, core, k)
	}
	for _, name := range k.exact {
		addCard(c.exact, name, k)
	}
	return nil
}

func addCard(m map[string][]*card, key string, k *card) {
	if cards := m[key]; !slices.Contains(cards, k) {
		m[key] = append(cards, k)
	}
}

func (c *Catalogue) indexMasked(f *fields) error {
	key := f.text()
	m := maskedName{providers: f.list(), memory: f.number(), sliced: f.text() != ""}
	slug := f.text()
	m.card, m.vendor, m.confidence = c.bySlug[slug], f.text(), gputide.Confidence(f.text())
	if f.err != nil || f.more || key == "" || (slug != "" && m.card == nil) {
		return fmt.Errorf("%w: masked name %q: malformed line, or no card %q", gputide.ErrInvalid, key, slug)
	}
	switch m.confidence {
	case gputide.ConfidenceHigh, gputide.ConfidenceMedium, gputide.ConfidenceLow:
	default:
		return fmt.Errorf("%w: masked name %q: confidence %q", gputide.ErrInvalid, key, m.confidence)
	}
	c.masked[key] = append(c.masked[key], m)
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
		out[i] = c.cards[i].entry()
	}
	return out
}

// Entry returns the card of a slug.
func (c *Catalogue) Entry(slug string) (gputide.CatalogueEntry, bool) {
	k := c.bySlug[slug]
	if k == nil {
		return gputide.CatalogueEntry{}, false
	}
	return k.catalogueEntry(), true
}
