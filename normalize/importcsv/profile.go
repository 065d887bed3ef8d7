package importcsv

import (
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
	FormPrices      Form = "prices"       // CSV of prices; the common CSV unless columns say otherwise
	FormSpotHistory Form = "spot_history" // JSON of `aws ec2 describe-spot-price-history`
	FormRates       Form = "rates"        // CSV of exchange rates: one currency and day a row
	FormECB         Form = "ecb"          // the ECB's own CSV: a day a row, a currency a column
	FormSignals     Form = "signals"      // CSV of spot advisor data: interruption and savings a row
	FormAdvisor     Form = "advisor"      // the spot advisor's own JSON
	FormBenchmarks  Form = "benchmarks"   // CSV of MLPerf results: one a row
	FormExport      Form = "export"       // what gputide exports, CSV or NDJSON
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

	// Evidence says what the reading of the form rests on where no file of the
	// source was at hand; empty is a file read whole.
	Evidence string `yaml:"evidence"`

	// Source and provider of what is not a price: those of the live adapter, so
	// that both are one series.
	Feed       string            `yaml:"feed"`
	Provider   string            `yaml:"provider"`
	Partitions map[string]string `yaml:"partitions"`

	// Columns names the columns of a CSV whose header is not that of its form,
	// with the field each one holds; other columns are not read.
	Columns map[string]string `yaml:"columns"`

	// Prices names the columns of a CSV that states several prices in a row, with
	// the market word of each. An empty cell is no offer.
	Prices map[string]string `yaml:"prices"`

	// Files is set of a source that is many files.
	Files *Files `yaml:"files"`

	// Open takes a provider, market or operating system that no table lists as it
	// stands: the words of the schema itself.
	Open bool `yaml:"open"`

	Set       Fields `yaml:"set"` // fields of every row
	Tables    `yaml:",inline"`
	Providers map[string]Rules `yaml:"providers"` // by the file's word
}

// Files says which files of a folder, archive or clone are read, and what their
// path tells.
type Files struct {
	// Path matches the files, in the form of path.Match. Of a clone the highest
	// match of a leading version folder is read.
	Path string `yaml:"path"`

	// Provider is what names the provider: folder, the one the file lies in, or
	// file, its own name without the ending.
	Provider string `yaml:"provider"`
}

// The parts of a path that name a provider.
const (
	providerFolder = "folder"
	providerFile   = "file"
)

// ProviderOf returns the word for the provider of a file.
func (f *Files) ProviderOf(name string) string {
	if f.Provider == providerFolder {
		return path.Base(path.Dir(name))
	}
	return strings.TrimSuffix(path.Base(name), path.Ext(name))
}

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

// Map adds columns to a profile: name is a column of the file, field what it
// holds. It returns [gputide.ErrInvalid] for a form without columns and for an
// unknown field.
func (p *Profile) Map(columns map[string]string) error {
	if p.Form != FormPrices {
		return fmt.Errorf("%w: the columns of form %s are fixed", gputide.ErrInvalid, p.Form)
	}
	all := make(map[string]string, len(p.Columns)+len(columns))
	if p.Columns == nil && p.Name != OpenProfile {
		for _, name := range commonColumns() {
			all[name] = name
		}
	}
	maps.Copy(all, p.Columns)
	told := make(map[string]string, len(columns))
	for _, column := range slices.Sorted(maps.Keys(columns)) {
		field := columns[column]
		if other, twice := told[field]; twice {
			return fmt.Errorf("%w: columns %q and %q hold %s", gputide.ErrInvalid, other, column, field)
		}
		told[field] = column
		for old, f := range all {
			if f == field {
				delete(all, old)
			}
		}
		all[column] = field
	}
	mapped := *p
	mapped.Columns = all
	if err := mapped.checkColumns(); err != nil {
		return fmt.Errorf("%w: %w", gputide.ErrInvalid, err)
	}
	p.Columns = all
	return nil
}

// OpenProfile is the profile of CSV files that no other one knows. Its columns
// are told by [Profile.Map], its words are those of the schema.
const OpenProfile = "csv"

// Constants sets key fields of every row, over what the profile says. It returns
// [gputide.ErrInvalid] for an unknown field.
func (p *Profile) Constants(set Fields) error {
	if err := set.check(); err != nil {
		return err
	}
	all := make(Fields, len(p.Set)+len(set))
	maps.Copy(all, p.Set)
	maps.Copy(all, set)
	p.Set = all
	return nil
}
