package query

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// Bounds of what a filter may hold.
const (
	mostValues    = 1000
	mostValueText = 200
)

// unsaid is the value of a filter that stands for an empty field.
const unsaid = "-"

// plan is a filter with its values understood.
type plan struct {
	key     []gputide.Match // key fields, for the store
	derived []gputide.Match // gpu, vendor, software, count, for the store
	exact   []gputide.Match // key fields that may be empty, judged here
	place   *place          // nil selects every place
	spec    specTest
	budget  *budget
	states  []gputide.State
	flags   []gputide.Flag
	stock   *bool // in stock or not; nil is either
	stats   []string
	tiers   []string
}

// selection returns the series of p in the store, without place.
func (p *plan) selection() gputide.Selection {
	return gputide.Selection{Matches: slices.Concat(p.key, p.derived)}
}

// keyOnly returns the matches of p on the named key fields.
func (p *plan) keyOnly(fields ...gputide.Field) []gputide.Match {
	var out []gputide.Match
	for _, m := range p.key {
		if slices.Contains(fields, m.Field) {
			out = append(out, m)
		}
	}
	return out
}

// matches judges the fields the store was not asked for.
func (p *plan) matches(k *gputide.Key) bool {
	for _, m := range p.exact {
		if !slices.Contains(m.Values, k.Get(m.Field)) {
			return false
		}
	}
	return k.Region == "" || p.place.codes(k)
}

// plan understands the values of f for one question. It returns
// [gputide.ErrInvalid] for a value that means nothing and for a filter that
// does not apply to the question.
func (e *Engine) plan(ctx context.Context, f *Filter, q question) (*plan, error) {
	p := &plan{stock: f.Available}
	p.spec.bareMetal = f.BareMetal
	for _, d := range allFilters() {
		if !d.active(f) {
			continue
		}
		if d.asks&q == 0 {
			return nil, fmt.Errorf("%w: filter %s does not apply here", gputide.ErrInvalid, d.name)
		}
		if d.list == nil {
			continue
		}
		d.asked = q
		if err := e.understand(ctx, p, &d, *d.list(f)); err != nil {
			return nil, err
		}
	}
	return p, p.amounts(f)
}

// understand adds the values of one list filter to p.
func (e *Engine) understand(ctx context.Context, p *plan, d *filterField, in []string) error {
	if d.name == "region" {
		codes, named, err := e.regionValues(ctx, d, in)
		if err != nil {
			return err
		}
		p.place = p.place.within(codes, named)
		return nil
	}
	values, err := e.values(ctx, d, in)
	if err != nil {
		return err
	}
	p.add(d, values)
	return nil
}

// add puts the understood values of one list filter in their place.
func (p *plan) add(d *filterField, values []string) {
	m := gputide.Match{Field: d.key, Values: values}
	switch d.name {
	case "country", "continent":
		p.place = p.place.with(d.key, values)
	case "gpu", "vendor", "software", "count":
		p.derived = append(p.derived, m)
		p.spec.derived = append(p.spec.derived, m)
	case "interconnect":
		p.spec.interconnect = values
	case "precision":
		p.spec.precision = values
	case "state":
		for _, v := range values {
			p.states = append(p.states, gputide.State(v))
		}
	case "flag":
		for _, v := range values {
			p.flags = append(p.flags, gputide.Flag(v))
		}
	default:
		p.addKey(m)
	}
}

func (p *plan) addKey(m gputide.Match) {
	switch m.Field {
	case gputide.FieldStat:
		p.stats = m.Values
	case gputide.FieldTier:
		p.tiers = m.Values
	}
	if slices.Contains(m.Values, "") {
		p.exact = append(p.exact, m)
		return
	}
	p.key = append(p.key, m)
}

// amounts understands the filters that are one number.
func (p *plan) amounts(f *Filter) error {
	for _, a := range []struct {
		name string
		text string
		into **float64
	}{
		{"min-gpu-memory", f.MinGPUMemory, &p.spec.minGPUMemory},
		{"fits", f.Fits, &p.spec.fits},
		{"min-ram", f.MinRAM, &p.spec.minRAM},
	} {
		if a.text == "" {
			continue
		}
		v, err := ParseSize(a.text)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		*a.into = &v
	}
	if f.MaxPrice == "" {
		return nil
	}
	b, err := parseBudget(f.MaxPrice)
	p.budget = b
	return err
}

// values understands the values of a list filter.
func (e *Engine) values(ctx context.Context, d *filterField, in []string) ([]string, error) {
	if len(in) > mostValues {
		return nil, fmt.Errorf("%w: %s has %d values, most are %d", gputide.ErrInvalid, d.name, len(in), mostValues)
	}
	var out []string
	for _, v := range in {
		v = strings.TrimSpace(v)
		if v == "" || len(v) > mostValueText {
			return nil, fmt.Errorf("%w: %s %q", gputide.ErrInvalid, d.name, clip(v))
		}
		got, err := e.value(ctx, d, v)
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func (e *Engine) value(ctx context.Context, d *filterField, v string) ([]string, error) {
	v = spoken(d.name, v)
	if v == unsaid && isKeyField(d.key) {
		return []string{""}, nil
	}
	if d.enum != nil {
		return enumValue(d, v)
	}
	switch d.name {
	case "interconnect":
		return []string{strings.ToLower(v)}, nil
	case "gpu":
		return e.gpuValue(v)
	case "count":
		c, err := gputide.ParseCount(v)
		if err != nil {
			return nil, &gputide.HintError{Err: err, Hint: "write it as 8 or 1/8"}
		}
		return []string{c.String()}, nil
	case "currency":
		c, err := parseCurrency(d.name, v)
		return []string{string(c)}, err
	case "country":
		return e.countryValue(ctx, d, v)
	}
	if d.name == "term" {
		return termValue(v)
	}
	if name, ok := e.Called[strings.ToLower(v)]; ok && d.name == "provider" {
		v = name
	}
	return e.openValue(ctx, d, v)
}

// isKeyField reports whether f is a field of the key, which may be empty.
func isKeyField(f gputide.Field) bool { return slices.Contains(gputide.KeyFields(), f) }

func enumValue(d *filterField, v string) ([]string, error) {
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }
	for _, known := range d.enum {
		if plain(known) == plain(v) {
			return []string{known}, nil
		}
	}
	return nil, unknown(d.name, v, d.enum)
}

func termValue(v string) ([]string, error) {
	t := gputide.Term(strings.ToLower(v))
	if _, err := t.Hours(); err != nil {
		return nil, &gputide.HintError{Err: err, Hint: "write a number and h, d, w, mo or y, as in 1y"}
	}
	return []string{string(t)}, nil
}

func (e *Engine) gpuValue(v string) ([]string, error) {
	if slugs, ok := e.Catalogue.Match(v); ok {
		return slugs, nil
	}
	err := fmt.Errorf("%w: gpu %q is not known", gputide.ErrInvalid, clip(v))
	if near := e.Catalogue.Near(v, mostNear); len(near) > 0 {
		return nil, &gputide.HintError{Err: err, Hint: "did you mean " + strings.Join(near, ", ") + "?"}
	}
	return nil, &gputide.HintError{Err: err, Hint: "`gputide gpus` lists the names"}
}

func (e *Engine) countryValue(ctx context.Context, d *filterField, v string) ([]string, error) {
	code := strings.ToLower(v)
	if len(code) == 2 && strings.Trim(code, "abcdefghijklmnopqrstuvwxyz") == "" {
		return []string{code}, nil
	}
	return e.countryNamed(ctx, d, v)
}

// openValue finds a value among those stored: as it is, in another case, or as
// a pattern. While nothing is stored of the field any value will do.
func (e *Engine) openValue(ctx context.Context, d *filterField, v string) ([]string, error) {
	known, err := e.Reader.Values(ctx, d.key)
	if err != nil {
		return nil, fmt.Errorf("known values of %s: %w", d.name, err)
	}
	if len(known) == 0 || slices.Contains(known, v) {
		return []string{v}, nil
	}
	beside, err := e.besideOffers(ctx, d)
	if err != nil {
		return nil, err
	}
	known = slices.Concat(known, beside)
	slices.Sort(known)
	known = slices.Compact(known)
	var found []string
	for _, k := range known {
		if glob(strings.ToLower(v), strings.ToLower(gputide.FoldWidth(k))) {
			found = append(found, k)
		}
	}
	if len(found) == 0 {
		return nil, unknown(d.name, v, known)
	}
	return found, nil
}

// vocabulary returns the schema's own words for a field that is open to others:
// asking for one of them is no mistake where nothing of it is stored.
func vocabulary(f gputide.Field) []string {
	switch f {
	case gputide.FieldOS:
		return []string{"linux", "rhel", "suse", "windows"}
	case gputide.FieldLicense:
		return []string{"byol", "ha", "sql_ent", "sql_std", "sql_web"}
	case gputide.FieldTenancy:
		return []string{"dedicated", "host", "shared"}
	}
	return nil
}

// besideOffers returns the values of a field that no stored offer need have: the
// schema's own words, providers not yet crawled, types of which only the shape is
// known, and what signals name, as the regions of offers with one price
// everywhere.
func (e *Engine) besideOffers(ctx context.Context, d *filterField) ([]string, error) {
	out := vocabulary(d.key)
	now := e.moment(time.Time{})
	switch d.key {
	case gputide.FieldProvider:
		out = append(out, e.Providers...)
	case gputide.FieldInstanceType:
		specs, err := e.Reader.Specs(ctx, gputide.Selection{}, now)
		if err != nil {
			return nil, fmt.Errorf("instance types: %w", err)
		}
		for i := range specs {
			out = append(out, specs[i].InstanceType)
		}
	}
	if !isKeyField(d.key) {
		return out, nil
	}
	keys, err := e.signalKeys(ctx, d.asked == askSignals, now)
	if err != nil {
		return nil, err
	}
	for i := range keys {
		if v := keys[i].Get(d.key); v != "" {
			out = append(out, v)
		}
	}
	return out, nil
}

// signalKeys returns the keys of the signals of a moment, or of all there were.
func (e *Engine) signalKeys(ctx context.Context, ever bool, at time.Time) ([]gputide.Key, error) {
	var out []gputide.Key
	for _, name := range gputide.SignalNames() {
		if ever {
			list, err := e.Reader.SignalIntervals(ctx, gputide.Selection{}, name, timeOf(0), at.Add(time.Second))
			if err != nil {
				return nil, fmt.Errorf("history of signal %s: %w", name, err)
			}
			for i := range list {
				out = append(out, list[i].Key)
			}
			continue
		}
		list, err := e.Reader.Signals(ctx, gputide.Selection{}, name, at)
		if err != nil {
			return nil, fmt.Errorf("signal %s: %w", name, err)
		}
		for i := range list {
			out = append(out, list[i].Key)
		}
	}
	return out, nil
}

// glob reports whether text matches a pattern in which * stands for any
// characters.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	if last == 0 {
		return pattern == text
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for _, part := range parts[1:last] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, parts[last])
}
