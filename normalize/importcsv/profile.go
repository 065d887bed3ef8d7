package importcsv

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/gputide/gputide"
)

//go:embed profiles/*.yaml
var profiles embed.FS

const (
	profileDir = "profiles"
	profileExt = ".yaml"
)

// Form is what the rows of a file are.
type Form string

// The forms of files.
const (
	FormPrices  Form = "prices"  // the common CSV: one price a row
	FormRates   Form = "rates"   // exchange rates: one currency and day a row
	FormSignals Form = "signals" // spot advisor: interruption and savings a row
)

// Profile says how the rows of one known file are read.
type Profile struct {
	Name  string `yaml:"-"`     // name of the profile and of its import source
	Title string `yaml:"title"` // what the file is, in one line
	Form  Form   `yaml:"form"`

	// Kind says whether absence at a moment withdraws; of prices only.
	Kind gputide.ImportKind `yaml:"kind"`

	// Whole names the key fields within whose values a moment lists everything;
	// empty is partition, seller, region and market. A file that lists every
	// region and seller at once names only the market, so that a region without
	// any row is missed.
	Whole []gputide.Field `yaml:"whole"`

	Covers  string `yaml:"covers"`  // what a time stamp of the file covers
	Source  string `yaml:"source"`  // where the file comes from
	Licence string `yaml:"licence"` // of the source

	// Source and provider of what is not a price: those of the live adapter, so
	// that both are one series.
	Feed       string            `yaml:"feed"`
	Provider   string            `yaml:"provider"`
	Partitions map[string]string `yaml:"partitions"`

	Tables    `yaml:",inline"`
	Providers map[string]Rules `yaml:"providers"` // by the file's word
}

// Tables translate the words of columns. Key fields are given by name.
type Tables struct {
	Markets map[string]Fields `yaml:"markets"`
	OS      map[string]Fields `yaml:"os"`
	Labels  map[string]string `yaml:"labels"` // accelerator label → its one spelling; others stay verbatim
}

// Rules are what a profile says of one provider.
type Rules struct {
	Set Fields `yaml:"set"` // fields of every row

	// Partitions is the price book of a region by the longest prefix of its code.
	Partitions map[string]string `yaml:"partitions"`

	// Regions translates the region column where it holds something else than
	// regions. Without it a region stays verbatim.
	Regions map[string]Fields `yaml:"regions"`

	// Attached lists prefixes of shapes that cards are attached to: their types
	// become `<shape>+<card>×<n>`.
	Attached []string `yaml:"attached"`

	Flags []gputide.Flag `yaml:"flags"` // of every row

	// A table given here replaces that of the profile.
	Tables `yaml:",inline"`
}

// Fields are values of key fields.
type Fields map[gputide.Field]string

// Names lists the profiles of this build, sorted.
func Names() []string {
	entries, err := fs.ReadDir(profiles, profileDir)
	if err != nil {
		return nil // the folder is compiled in
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), profileExt)
	}
	return names
}

// Load returns a profile of this build. It returns [gputide.ErrNotFound] for a
// name it does not have.
func Load(name string) (*Profile, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("%w: import profile %.80q", gputide.ErrNotFound, name)
	}
	text, err := profiles.ReadFile(path.Join(profileDir, name+profileExt))
	if err != nil {
		return nil, fmt.Errorf("import profile %s: %w", name, err)
	}
	p, err := parseProfile(name, text)
	if err != nil {
		return nil, fmt.Errorf("import profile %s: %w", name, err)
	}
	return p, nil
}

// parseProfile reads a profile strictly: an unknown key is an error.
func parseProfile(name string, text []byte) (*Profile, error) {
	p := &Profile{Name: name}
	if err := yaml.UnmarshalWithOptions(text, p, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%w: %w", gputide.ErrInvalid, err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", gputide.ErrInvalid, err)
	}
	return p, nil
}

func (p *Profile) check() error {
	for _, f := range [...]struct{ name, value string }{
		{"title", p.Title},
		{"covers", p.Covers},
		{"source", p.Source},
		{"licence", p.Licence},
	} {
		if strings.TrimSpace(f.value) == "" {
			return fmt.Errorf("%s is missing", f.name)
		}
	}
	switch p.Form {
	case FormPrices:
		return p.checkPrices()
	case FormRates, FormSignals:
		if p.Provider == "" || p.Feed == "" || p.Kind != "" || len(p.Providers) > 0 || len(p.Markets) > 0 {
			return fmt.Errorf("form %s takes provider and feed, and no kind, providers or markets", p.Form)
		}
		return p.checkTables("profile")
	}
	return fmt.Errorf("form %q", p.Form)
}

func (p *Profile) checkPrices() error {
	if p.Kind != gputide.ImportSnapshot && p.Kind != gputide.ImportEvents {
		return fmt.Errorf("kind %q", p.Kind)
	}
	if _, err := p.scope(&gputide.Key{}); err != nil {
		return err
	}
	if p.Feed != "" || p.Provider != "" {
		return fmt.Errorf("feed and provider are not for prices")
	}
	if len(p.Providers) == 0 {
		return fmt.Errorf("no providers")
	}
	if err := p.checkTables("profile"); err != nil {
		return err
	}
	for _, word := range slices.Sorted(maps.Keys(p.Providers)) {
		r := p.Providers[word]
		if r.Set[gputide.FieldProvider] == "" {
			return fmt.Errorf("provider %q does not set provider", word)
		}
		if len(p.tables(&r).Markets) == 0 {
			return fmt.Errorf("provider %q has no markets", word)
		}
		if err := r.check(word); err != nil {
			return err
		}
	}
	return nil
}

// scope returns the slice of a key that a moment lists whole; nil is that of the
// store.
func (p *Profile) scope(k *gputide.Key) (*gputide.Scope, error) {
	if len(p.Whole) == 0 {
		return nil, nil
	}
	var s gputide.Scope
	for _, f := range p.Whole {
		switch f {
		case gputide.FieldPartition:
			s.Partition = k.Partition
		case gputide.FieldSeller:
			s.Seller = k.Seller
		case gputide.FieldRegion:
			s.Region = k.Region
		case gputide.FieldMarket:
			s.Market = k.Market
		default:
			return nil, fmt.Errorf("whole: %q is no field of a scope", f)
		}
	}
	return &s, nil
}

func (r *Rules) check(word string) error {
	if err := r.Set.check(); err != nil {
		return fmt.Errorf("provider %q: set: %w", word, err)
	}
	for region, f := range r.Regions {
		if err := f.check(); err != nil {
			return fmt.Errorf("provider %q: region %q: %w", word, region, err)
		}
	}
	return r.checkTables(word)
}

func (t *Tables) checkTables(of string) error {
	for name, table := range map[string]map[string]Fields{"markets": t.Markets, "os": t.OS} {
		for word, f := range table {
			if err := f.check(); err != nil {
				return fmt.Errorf("%s: %s %q: %w", of, name, word, err)
			}
		}
	}
	for word, f := range t.Markets {
		if !gputide.Market(f[gputide.FieldMarket]).Valid() {
			return fmt.Errorf("%s: markets %q: market %q", of, word, f[gputide.FieldMarket])
		}
	}
	return nil
}

func (f Fields) check() error {
	var k gputide.Key
	for name, v := range f {
		if err := k.Set(name, v); err != nil {
			return err
		}
	}
	return nil
}

// apply sets the fields in k.
func (f Fields) apply(k *gputide.Key) {
	for name, v := range f {
		_ = k.Set(name, v) // checked when the profile was loaded
	}
}

// tables returns the tables that hold for a provider.
func (p *Profile) tables(r *Rules) Tables {
	t := p.Tables
	if r.Markets != nil {
		t.Markets = r.Markets
	}
	if r.OS != nil {
		t.OS = r.OS
	}
	if r.Labels != nil {
		t.Labels = r.Labels
	}
	return t
}

// partition returns the price book of a region.
func (r *Rules) partition(region string) string {
	best, found := "", ""
	for prefix, partition := range r.Partitions {
		if strings.HasPrefix(region, prefix) && cmp.Compare(len(prefix), len(best)) >= 0 {
			best, found = prefix, partition
		}
	}
	return found
}
