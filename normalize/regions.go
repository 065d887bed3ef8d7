package normalize

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the compiled tables
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gputide/gputide"
)

//go:embed regions.json
var regionsJSON []byte

// regionTable is regions.yaml.
type regionTable struct {
	Countries map[string]countryRow  `yaml:"countries" json:"countries"`
	Cities    map[string]cityRow     `yaml:"cities" json:"cities"`
	Providers map[string]providerRow `yaml:"providers" json:"providers"`
}

type countryRow struct {
	Continent string `yaml:"continent" json:"continent"`
	EN        string `yaml:"en" json:"en"`
	ZH        string `yaml:"zh" json:"zh"`
}

type cityRow struct {
	Country string `yaml:"country" json:"country"`
	EN      string `yaml:"en" json:"en"`
	ZH      string `yaml:"zh" json:"zh"`
}

type providerRow struct {
	ByCountry bool              `yaml:"by_country,omitempty" json:"by_country,omitempty"`
	Regions   map[string]string `yaml:"regions,omitempty" json:"regions,omitempty"`
}

// Regions is the region table. It does not change after loading and is safe for
// concurrent use.
type Regions struct {
	version string
	table   regionTable
}

// LoadRegions returns the embedded table. An error means that the table the
// program was built with is damaged.
func LoadRegions() (*Regions, error) { return loadRegions(regionsJSON) }

func loadRegions(data []byte) (*Regions, error) {
	sum := sha256.Sum256(data)
	r := &Regions{version: rulesVersion + "." + hex.EncodeToString(sum[:4])}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r.table); err != nil {
		return nil, fmt.Errorf("region table: %w: %w", gputide.ErrInvalid, err)
	}
	for key, city := range r.table.Cities {
		if _, ok := r.table.Countries[city.Country]; !ok {
			return nil, fmt.Errorf("region table: %w: %s: no country %q", gputide.ErrInvalid, key, city.Country)
		}
	}
	for provider, p := range r.table.Providers {
		for code, where := range p.Regions {
			if _, ok := r.place(where); !ok {
				return nil, fmt.Errorf("region table: %w: %s %s: no place %q", gputide.ErrInvalid, provider, code, where)
			}
		}
	}
	return r, nil
}

// Version names the contents of the table.
func (r *Regions) Version() string { return r.version }

// Lookup returns where a region of a provider lies; false for one the table does
// not have. One code is one place in every partition of a provider.
func (r *Regions) Lookup(provider, partition, region string) (gputide.Place, bool) {
	p, ok := r.table.Providers[provider]
	if !ok || region == "" {
		return gputide.Place{}, false
	}
	if where, ok := p.Regions[region]; ok {
		return r.place(where)
	}
	if p.ByCountry {
		return r.byCountry(region)
	}
	return gputide.Place{}, false
}

// byCountry reads codes built from ISO country codes, alone, first, or behind a
// part of the world: US, CA-MTL-1, EU-RO-1. States and provinces come second
// too, and some are spelled like countries: US-IL-1 is not Israel.
func (r *Regions) byCountry(region string) (gputide.Place, bool) {
	first, rest, _ := strings.Cut(strings.ToLower(region), "-")
	second, _, _ := strings.Cut(rest, "-")
	if _, ok := r.table.Countries[second]; ok && first != "us" && first != "ca" {
		return r.place(second)
	}
	if _, ok := r.table.Countries[first]; ok {
		return r.place(first)
	}
	return gputide.Place{}, false
}

// place returns the place of a city or country key.
func (r *Regions) place(key string) (gputide.Place, bool) {
	city, isCity := r.table.Cities[key]
	if isCity {
		key = city.Country
	}
	country, ok := r.table.Countries[key]
	if !ok {
		return gputide.Place{}, false
	}
	p := gputide.Place{
		Country: key, City: city.EN, Continent: country.Continent, MainlandCN: key == "cn",
		NameEN: country.EN, NameZH: country.ZH,
	}
	if isCity && city.EN != country.EN {
		p.NameEN = city.EN + ", " + country.EN
		p.NameZH = country.ZH + city.ZH
	}
	return p, true
}
