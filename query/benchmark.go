package query

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// PerMLPerf is followed by the model of a benchmark, and by what narrows it:
// "mlperf:llama2-70b-99", "mlperf:llama2-70b-99:Server",
// "mlperf:llama2-70b-99@v4.1-0043". Without a scenario it is Offline; without a
// round or result it is the newest round stored.
const PerMLPerf = "mlperf"

const (
	scenarioOffline = "Offline"
	unitTokens      = "Tokens/s"
)

// Why an offer has no price per unit of a benchmark.
const skipNoResult = "no MLPerf result of the accelerator, count and memory"

// BenchmarkRow is the MLPerf result a price is divided by.
type BenchmarkRow struct {
	Round       Text      `json:"round"`
	ID          Text      `json:"id"`
	Submitter   Text      `json:"submitter"`
	System      Text      `json:"system"`
	Accelerator Text      `json:"accelerator"` // as published
	Model       Text      `json:"model"`
	Scenario    Text      `json:"scenario"`
	Result      Text      `json:"result"` // decimal text
	Units       Text      `json:"units"`
	Results     int       `json:"results"`      // of the same machine in the round; the lower median of them is taken
	Confidence  Text      `json:"confidence"`   // that the result is one of the machine offered
	PerCurrency *Fraction `json:"per_currency"` // tokens, samples or queries that one unit of the currency buys
}

// benchAsk is what is asked of the results.
type benchAsk struct{ model, scenario, only string }

// parseBench reads "mlperf:MODEL[:SCENARIO][@ROUND or ID]"; false for another
// unit.
func parseBench(s string) (benchAsk, bool, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), PerMLPerf)
	if !ok {
		return benchAsk{}, false, nil
	}
	rest, only, narrowed := strings.Cut(rest, "@")
	name, has := strings.CutPrefix(rest, ":")
	model, scenario, _ := strings.Cut(name, ":")
	if !has || model == "" || (narrowed && only == "") {
		return benchAsk{}, true, &gputide.HintError{
			Err:  fmt.Errorf("%w: per %q", gputide.ErrInvalid, clip(s)),
			Hint: "write it as mlperf:llama2-70b-99, mlperf:llama2-70b-99:Server or mlperf:llama2-70b-99@v4.1",
		}
	}
	return benchAsk{model: model, scenario: cmp.Or(scenario, scenarioOffline), only: only}, true, nil
}

// machine is what a result and an offer are matched by.
type machine struct {
	slug  string
	count gputide.Count
}

// benchResult is a result read through the catalogue.
type benchResult struct {
	gputide.Benchmark
	machine machine
	device  gputide.Accelerator
	value   *big.Rat
}

// benchmarks are the results of one model and scenario.
type benchmarks struct {
	results []benchResult
	found   map[machine]*benchMatch
}

// benchMatch is the result that stands for a machine; nil is none.
type benchMatch struct {
	result     *benchResult
	n          int
	confidence gputide.Confidence
}

// benchmarks reads the results asked for.
func (e *Engine) benchmarks(ctx context.Context, ask benchAsk) (*benchmarks, error) {
	all, err := e.Reader.Benchmarks(ctx, gputide.BenchmarkFilter{})
	if err != nil {
		return nil, fmt.Errorf("benchmark results: %w", err)
	}
	if len(all) == 0 {
		return nil, &gputide.HintError{
			Err:  fmt.Errorf("%w: no MLPerf result is stored", gputide.ErrNotFound),
			Hint: "`gputide import FILE --profile mlperf_inference` reads a summary of results",
		}
	}
	field := func(of func(*gputide.Benchmark) string) (values []string) {
		for i := range all {
			values = append(values, of(&all[i]))
		}
		slices.Sort(values)
		return slices.Compact(values)
	}
	keep := func(name, want string, of func(*gputide.Benchmark) []string) error {
		known := field(func(b *gputide.Benchmark) string { return of(b)[0] })
		all = slices.DeleteFunc(all, func(b gputide.Benchmark) bool {
			return !slices.ContainsFunc(of(&b), func(v string) bool { return strings.EqualFold(v, want) })
		})
		if len(all) == 0 {
			return unknown(name, want, known)
		}
		return nil
	}
	if err := keep("benchmark", ask.model, func(b *gputide.Benchmark) []string { return []string{b.Model} }); err != nil {
		return nil, err
	}
	if err := keep("scenario", ask.scenario, func(b *gputide.Benchmark) []string { return []string{b.Scenario} }); err != nil {
		return nil, err
	}
	only := ask.only
	if only == "" {
		only = slices.MaxFunc(all, func(a, b gputide.Benchmark) int { return compareRounds(a.Round, b.Round) }).Round
	}
	if err := keep("round or result", only, func(b *gputide.Benchmark) []string { return []string{b.Round, b.ID} }); err != nil {
		return nil, err
	}
	units := field(func(b *gputide.Benchmark) string { return b.Units })
	if slices.Contains(units, unitTokens) {
		units = []string{unitTokens}
	}
	all = slices.DeleteFunc(all, func(b gputide.Benchmark) bool { return b.Units != units[0] })
	return e.readResults(all), nil
}

// readResults reads the accelerators of results through the catalogue. A result
// over several nodes, or of an accelerator the catalogue does not know, is of no
// instance.
func (e *Engine) readResults(all []gputide.Benchmark) *benchmarks {
	out := &benchmarks{found: map[machine]*benchMatch{}}
	for _, b := range all {
		d := b.Device()
		acc, known := e.Catalogue.Resolve("", &d)
		value, err := gputide.ParseAmount(b.Result)
		if !known || !d.Count.Known() || err != nil || value.Sign() <= 0 {
			continue
		}
		out.results = append(out.results, benchResult{Benchmark: b, machine: machine{acc.Slug, d.Count}, device: acc, value: value})
	}
	slices.SortFunc(out.results, func(a, b benchResult) int { return cmp.Or(a.value.Cmp(b.value), cmp.Compare(a.ID, b.ID)) })
	return out
}

// compareRounds orders the names of rounds as versions: v4.1 before v10.0.
func compareRounds(a, b string) int {
	noDigit := func(r rune) bool { return r < '0' || r > '9' }
	x, y := strings.FieldsFunc(a, noDigit), strings.FieldsFunc(b, noDigit)
	return cmp.Or(slices.CompareFunc(x, y, func(a, b string) int {
		n, errN := strconv.ParseUint(a, 10, 64)
		m, errM := strconv.ParseUint(b, 10, 64)
		if errN != nil || errM != nil {
			return strings.Compare(a, b)
		}
		return cmp.Compare(n, m)
	}), strings.Compare(a, b))
}

// of returns the result that stands for the machine of an offer: the lower
// median of those of the same accelerator, count and memory, and how sure that
// reading is. A slice of a card and a masked one have none.
func (b *benchmarks) of(c *candidate) (*benchMatch, string) {
	v := c.view
	switch {
	case !v.count.Known():
		return nil, skipNoCount
	case slices.Contains(c.flags, gputide.FlagMaskedAccelerator):
		return nil, skipMasked
	case v.device.Slug == "", v.row.Share != "" && gputide.ShareKind(v.row.Share) != gputide.ShareWhole:
		return nil, skipNoResult
	}
	m := machine{v.device.Slug, v.count}
	match, ok := b.found[m]
	if !ok {
		match = b.match(&v.device, v.count)
		b.found[m] = match
	}
	if match == nil {
		return nil, skipNoResult
	}
	return match, ""
}

// match finds the result of a machine: of the same card or, where one side does
// not say the form, of the same model and memory.
func (b *benchmarks) match(have *gputide.Accelerator, count gputide.Count) *benchMatch {
	var exact, loose []*benchResult
	for i := range b.results {
		r := &b.results[i]
		switch {
		case r.machine.count != count:
		case r.machine.slug == have.Slug:
			exact = append(exact, r)
		case r.device.Model == have.Model && sameMemory(&r.device, have) && (r.device.Variant == "" || have.Variant == ""):
			loose = append(loose, r)
		}
	}
	found, least := exact, gputide.ConfidenceHigh
	if len(found) == 0 {
		found, least = loose, gputide.ConfidenceMedium
	}
	if len(found) == 0 {
		return nil
	}
	r := found[(len(found)-1)/2]
	return &benchMatch{result: r, n: len(found), confidence: leastSure(least, r.device.Confidence, have.Confidence)}
}

func sameMemory(a, b *gputide.Accelerator) bool {
	return a.MemoryGB != nil && b.MemoryGB != nil && *a.MemoryGB == *b.MemoryGB
}

// leastSure returns the lowest of some confidences; one not said is low.
func leastSure(list ...gputide.Confidence) gputide.Confidence {
	order := []gputide.Confidence{gputide.ConfidenceHigh, gputide.ConfidenceMedium, gputide.ConfidenceLow}
	worst := 0
	for _, c := range list {
		i := slices.Index(order, c)
		if i < 0 {
			i = len(order) - 1
		}
		worst = max(worst, i)
	}
	return order[worst]
}

// row returns the output form, beside the price of an instance-hour.
func (m *benchMatch) row(hour *big.Rat) *BenchmarkRow {
	r := m.result
	const hourSeconds = 60 * 60
	work := new(big.Rat).Mul(r.value, big.NewRat(hourSeconds, 1))
	return &BenchmarkRow{
		Round: Text(r.Round), ID: Text(r.ID), Submitter: Text(r.Submitter), System: Text(r.System), Accelerator: Text(r.Accelerator),
		Model: Text(r.Model), Scenario: Text(r.Scenario), Result: Text(r.Result), Units: Text(r.Units), Results: m.n,
		Confidence: Text(m.confidence), PerCurrency: NewFraction(work.Quo(work, hour)),
	}
}
