package normalize

import (
	"fmt"
	"strings"

	"github.com/gputide/gputide"
)

// Regions is the region table. It does not change after loading and is safe for
// concurrent use.
type Regions struct {
	version   string
	places    map[string]gputide.Place     // country code or city
	providers map[string]map[string]string // provider → region code → place
	nations   map[string]bool              // providers whose codes are built from country codes
}

// LoadRegions returns the embedded table. An error means that the table the
// program was built with is damaged.
func LoadRegions() (*Regions, error) { return loadRegions(regionsTSV) }

func loadRegions(data string) (*Regions, error) {
	const places, providers = 256, 48 // about; only to size the tables
	r := &Regions{
		places:    make(map[string]gputide.Place, places),
		providers: make(map[string]map[string]string, providers),
		nations:   make(map[string]bool),
	}
	version, err := tableLines(data, r.add)
	if err != nil {
		return nil, fmt.Errorf("region table: %w", err)
	}
	r.version = rulesVersion + "." + version
	return r, nil
}

// add takes one line. Countries come before the cities in them, places before
// the regions that lie there.
func (r *Regions) add(kind string, f *fields) error {
	switch kind {
	case lineCountry:
		code := f.text()
		p := gputide.Place{Country: code, Continent: f.text(), MainlandCN: code == "cn", NameEN: f.text(), NameZH: f.text()}
		p.CountryEN, p.CountryZH = p.NameEN, p.NameZH
		r.places[code] = p
		return nil
	case lineCity:
		return r.addCity(f)
	case lineRegion:
		provider, code, place := f.text(), f.text(), f.text()
		if _, ok := r.places[place]; !ok {
			return fmt.Errorf("%w: no place %q", gputide.ErrInvalid, place)
		}
		if r.providers[provider] == nil {
			r.providers[provider] = make(map[string]string)
		}
		r.providers[provider][code] = place
		return nil
	case lineNation:
		r.nations[f.text()] = true
		return nil
	}
	return fmt.Errorf("%w: unknown kind of line", gputide.ErrInvalid)
}

func (r *Regions) addCity(f *fields) error {
	key, country, en, zh := f.text(), f.text(), f.text(), f.text()
	p, ok := r.places[country]
	if !ok || p.City != "" {
		return fmt.Errorf("%w: no country %q", gputide.ErrInvalid, country)
	}
	p.City = en
	if en != p.NameEN { // a city that is its country has one name
		p.NameEN, p.NameZH = en+", "+p.NameEN, p.NameZH+zh
	}
	r.places[key] = p
	return nil
}

// Version names the contents of the table.
func (r *Regions) Version() string { return r.version }

// Lookup returns where a region of a provider lies; false for one the table does
// not have. One code is one place in every partition of a provider.
func (r *Regions) Lookup(provider, partition, region string) (gputide.Place, bool) {
	if where, ok := r.providers[provider][region]; ok {
		p, ok := r.places[where]
		return p, ok
	}
	if r.nations[provider] {
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
	if p, ok := r.country(second); ok && first != "us" && first != "ca" {
		return p, true
	}
	return r.country(first)
}

func (r *Regions) country(code string) (gputide.Place, bool) {
	if len(code) != 2 {
		return gputide.Place{}, false
	}
	p, ok := r.places[code]
	return p, ok
}
