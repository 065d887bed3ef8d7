package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gputide/gputide"
)

// site is a region of a provider: one code means different places to two.
type site struct{ provider, region string }

// sites returns the regions of which anything is stored, with where they lie.
func (e *Engine) sites(ctx context.Context) (map[site]gputide.Place, error) {
	providers, err := e.Reader.Values(ctx, gputide.FieldProvider)
	if err != nil {
		return nil, fmt.Errorf("known providers: %w", err)
	}
	codes, err := e.Reader.Values(ctx, gputide.FieldRegion)
	if err != nil {
		return nil, fmt.Errorf("known regions: %w", err)
	}
	beside, err := e.besideOffers(ctx, &filterField{key: gputide.FieldRegion})
	if err != nil {
		return nil, err
	}
	out := map[site]gputide.Place{}
	for _, p := range slices.Concat(providers, e.Providers) {
		for _, c := range slices.Concat(codes, beside) {
			if at, ok := e.Regions.Lookup(p, "", c); ok {
				out[site{p, c}] = at
			}
		}
	}
	return out, nil
}

// regionValues understands the values of the region filter: codes and patterns
// of codes as the providers write them, else the name of a place in English or
// Chinese, which is judged by provider and code.
func (e *Engine) regionValues(ctx context.Context, d *filterField, in []string) (codes []string, named map[site]bool, err error) {
	var rest []string
	for _, v := range in {
		got, err := e.values(ctx, d, []string{v})
		switch {
		case errors.Is(err, gputide.ErrInvalid):
			rest = append(rest, v)
		case err != nil:
			return nil, nil, err
		}
		codes = append(codes, got...)
	}
	if len(rest) == 0 {
		return codes, nil, nil
	}
	sites, err := e.sites(ctx)
	if err != nil {
		return nil, nil, err
	}
	named = map[site]bool{}
	for _, v := range rest {
		found := false
		for s, at := range sites {
			if isCalled(v, at.City, at.NameEN, at.NameZH) {
				named[s], found = true, true
			}
		}
		if !found {
			return nil, nil, e.noSuchRegion(ctx, d, v, sites)
		}
	}
	return codes, named, nil
}

// noSuchRegion says that a region has no such code or name, and which are near.
func (e *Engine) noSuchRegion(ctx context.Context, d *filterField, v string, sites map[site]gputide.Place) error {
	if isLatin(v) {
		_, err := e.values(ctx, d, []string{v})
		return err
	}
	var names []string
	for _, at := range sites {
		names = append(names, strings.TrimPrefix(at.NameZH, at.CountryZH), at.NameZH)
	}
	return unknownName(d.name, v, names)
}

// unknownName says that a Chinese name is not known, and which names share a
// character with it.
func unknownName(field, v string, names []string) error {
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.ContainsAny(name, v) })
	slices.Sort(names)
	return unknown(field, v, slices.Compact(names))
}

// countryNamed returns the code of the country a person names.
func (e *Engine) countryNamed(ctx context.Context, d *filterField, v string) ([]string, error) {
	sites, err := e.sites(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, at := range sites {
		if isCalled(v, at.CountryEN, at.CountryZH) {
			return []string{at.Country}, nil
		}
		names = append(names, at.CountryZH)
	}
	if !isLatin(v) {
		return nil, unknownName(d.name, v, names)
	}
	known, err := e.Reader.Values(ctx, d.key)
	if err != nil {
		return nil, fmt.Errorf("known countries: %w", err)
	}
	return nil, unknown(d.name, v, known)
}

// isCalled reports whether text is one of the names of a place. Of a Chinese
// name the end is enough: 广州 is 中国广州.
func isCalled(text string, names ...string) bool {
	const least = 2 // characters of a Chinese name
	text = strings.ToLower(strings.TrimSpace(gputide.FoldWidth(text)))
	for _, name := range names {
		name = strings.ToLower(name)
		if text != "" && text == name {
			return true
		}
		if !isLatin(text) && utf8.RuneCountInString(text) >= least && strings.HasSuffix(name, text) {
			return true
		}
	}
	return false
}

func isLatin(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x2E80 })
}

// spoken returns the schema's word for the Chinese one of a closed field, and
// other values without full-width forms.
func spoken(field, v string) string {
	v = strings.TrimSpace(gputide.FoldWidth(v))
	word := ""
	switch field {
	case "market":
		word = map[string]string{
			"按需": "on_demand", "按量": "on_demand", "按量付费": "on_demand", "按量计费": "on_demand", "按小时": "on_demand",
			"竞价": "spot", "竞价实例": "spot", "抢占式": "spot", "抢占式实例": "spot",
			"包年包月": "subscription", "包月": "subscription", "包年": "subscription", "预留实例": "commitment", "预留": "commitment",
		}[v]
	case "continent":
		word = map[string]string{
			"亚洲": "asia", "欧洲": "europe", "北美": "north-america", "北美洲": "north-america", "南美": "south-america",
			"南美洲": "south-america", "非洲": "africa", "大洋洲": "oceania",
		}[v]
	case "term":
		return strings.NewReplacer("个月", "mo", "月", "mo", "年", "y", "天", "d", "周", "w", "小时", "h").Replace(v)
	case "count":
		return strings.TrimRight(v, "卡颗张块 ")
	}
	if word != "" {
		return word
	}
	return v
}

// bareSize drops what a person writes before a least size: 显存≥80G is 80G.
func bareSize(s string) string {
	s = strings.TrimSpace(gputide.FoldWidth(s))
	for _, word := range []string{"显存", "内存"} {
		s = strings.TrimSpace(strings.TrimPrefix(s, word))
	}
	for _, sign := range []string{"≥", ">=", "不低于", "不少于", "至少"} {
		if rest, ok := strings.CutPrefix(s, sign); ok {
			return strings.TrimSpace(rest)
		}
	}
	return s
}
