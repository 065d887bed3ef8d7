package importcsv

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

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
	if err := p.checkFiles(); err != nil {
		return err
	}
	switch p.Form {
	case FormPrices, FormSpotHistory:
		return p.checkPrices()
	case FormRates, FormECB, FormSignals, FormAdvisor:
		if p.Provider == "" || p.Feed == "" || !p.pricesUnset() {
			return fmt.Errorf("form %s takes provider and feed, and no kind, columns, providers or markets", p.Form)
		}
		return p.checkTables("profile")
	case FormBenchmarks, FormExport:
		if p.Provider != "" || p.Feed != "" || !p.pricesUnset() {
			return fmt.Errorf("form %s takes no provider, feed, kind, columns or markets", p.Form)
		}
		return nil
	}
	return fmt.Errorf("form %q", p.Form)
}

// pricesUnset reports whether nothing is said that only prices have.
func (p *Profile) pricesUnset() bool {
	return p.Kind == "" && len(p.Whole) == 0 && len(p.Providers) == 0 && len(p.Markets) == 0 && len(p.Columns) == 0 &&
		len(p.Prices) == 0 && len(p.Set) == 0 && !p.Open
}

func (p *Profile) checkFiles() error {
	f := p.Files
	if f == nil {
		return nil
	}
	if _, err := path.Match(f.Path, ""); err != nil || f.Path == "" {
		return fmt.Errorf("files: path %q", f.Path)
	}
	if f.Provider != providerFolder && f.Provider != providerFile {
		return fmt.Errorf("files: provider %q", f.Provider)
	}
	return nil
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
	if len(p.Providers) == 0 && !p.Open {
		return fmt.Errorf("no providers")
	}
	if err := p.Set.check(); err != nil {
		return fmt.Errorf("set: %w", err)
	}
	if p.Name != OpenProfile {
		if err := p.checkColumns(); err != nil {
			return err
		}
	}
	if err := p.checkTables("profile"); err != nil {
		return err
	}
	for _, word := range slices.Sorted(maps.Keys(p.Providers)) {
		r := p.Providers[word]
		if err := p.checkRules(word, &r); err != nil {
			return fmt.Errorf("provider %q: %w", word, err)
		}
	}
	return nil
}

// checkColumns checks that columns hold known fields, each once, and all that a
// price cannot do without.
func (p *Profile) checkColumns() error {
	if len(p.Columns) == 0 {
		if len(p.Prices) > 0 {
			return fmt.Errorf("prices without columns")
		}
		return nil
	}
	held := make(map[string]bool)
	for _, column := range slices.Sorted(maps.Keys(p.Columns)) {
		field := p.Columns[column]
		if !slices.Contains(Columns(), field) {
			return fmt.Errorf("column %q: unknown field %q, want one of %s", column, field, strings.Join(Columns(), ", "))
		}
		if held[field] {
			return fmt.Errorf("two columns hold %s", field)
		}
		held[field] = true
	}
	if held[columnPrice] == (len(p.Prices) > 0) {
		return fmt.Errorf("one column must hold price, or prices must name some")
	}
	for _, column := range slices.Sorted(maps.Keys(p.Prices)) {
		if _, ok := p.Columns[column]; ok {
			return fmt.Errorf("column %q holds a price and %s", column, p.Columns[column])
		}
	}
	return nil
}

func (p *Profile) checkRules(word string, r *Rules) error {
	if r.Omit != "" {
		if !isLeftOut(r.Omit) {
			return fmt.Errorf("omit: unknown reason %q", r.Omit)
		}
		return nil
	}
	if r.Set[gputide.FieldProvider] == "" {
		return fmt.Errorf("it does not set provider")
	}
	if len(p.tables(r).Markets) == 0 && !p.Open {
		return fmt.Errorf("no markets")
	}
	if err := r.Set.check(); err != nil {
		return fmt.Errorf("set: %w", err)
	}
	for name, table := range map[string]map[string]Fields{"region": r.Regions, "suffix": r.Suffixes, "zone": r.ZoneNames} {
		for key, f := range table {
			if err := f.check(); err != nil {
				return fmt.Errorf("%s %q: %w", name, key, err)
			}
		}
	}
	for name, table := range map[string]map[string]Reason{"regions": r.OmitRegions, "markets": r.OmitMarkets, "labels": r.OmitLabels} {
		for key, reason := range table {
			if !isLeftOut(reason) {
				return fmt.Errorf("omit_%s %q: unknown reason %q", name, key, reason)
			}
		}
	}
	for key, n := range r.Counts {
		if _, err := gputide.ParseCount(n); err != nil {
			return fmt.Errorf("counts %q: %w", key, err)
		}
	}
	switch r.Zones {
	case "", ZoneIDs, ZoneLetters:
	default:
		return fmt.Errorf("zones %q", r.Zones)
	}
	switch r.Cards {
	case "", cardsByLabel, cardsByType:
	default:
		return fmt.Errorf("cards %q", r.Cards)
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
	for word, unit := range t.Units {
		switch unit {
		case gputide.PerHour, gputide.PerSecond, gputide.PerMinute, gputide.PerDay, gputide.PerWeek, gputide.PerMonth, gputide.PerYear, gputide.PerTerm:
		default:
			return fmt.Errorf("%s: units %q: unit %q", of, word, unit)
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
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if err := k.Set(name, f[name]); err != nil {
			return err
		}
	}
	return nil
}
