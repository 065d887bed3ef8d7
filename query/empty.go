package query

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// constraint is one part of a request that narrows its answer.
type constraint[R any] struct {
	label string // as in "region=us-east-9"
	drop  func(*R)
}

// filterConstraints returns the active filters of a request as constraints.
func filterConstraints[R any](filter func(*R) *Filter, req R) []constraint[R] {
	var out []constraint[R]
	for _, d := range allFilters() {
		if v := d.value(filter(&req)); v != "" {
			out = append(out, constraint[R]{
				label: d.name + "=" + clip(v),
				drop:  func(r *R) { d.clear(filter(r)) },
			})
		}
	}
	return out
}

// whyEmpty finds what emptied an answer: each constraint without which there
// would be rows; where there is none such, the first constraints that leave
// nothing together. count returns the rows of a request.
func whyEmpty[R any](req R, cs []constraint[R], noun string, count func(R) (int, error)) (*Empty, error) {
	var found []Without
	for _, c := range cs {
		less := req
		c.drop(&less)
		n, err := count(less)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			found = append(found, Without{Filter: c.label, Rows: n})
		}
	}
	if len(found) > 0 {
		return &Empty{Without: found, Text: textWithout(found, noun)}, nil
	}
	return firstEmpty(req, cs, noun, count)
}

// firstEmpty adds one constraint after the other until nothing is left.
func firstEmpty[R any](req R, cs []constraint[R], noun string, count func(R) (int, error)) (*Empty, error) {
	labels := make([]string, 0, len(cs))
	var found []Without
	for kept := range len(cs) + 1 {
		less := req
		for _, later := range cs[kept:] {
			later.drop(&less)
		}
		n, err := count(less)
		if err != nil {
			return nil, err
		}
		if n == 0 && kept == 0 {
			return &Empty{Text: "no " + noun + " stored; `gputide crawl` fetches some"}, nil
		}
		if kept > 0 {
			labels = append(labels, cs[kept-1].label)
			found = append(found, Without{Filter: cs[kept-1].label})
		}
		if n == 0 {
			break
		}
	}
	return &Empty{Without: found, Text: "no " + noun + " match " + strings.Join(labels, " and ")}, nil
}

func textWithout(found []Without, noun string) string {
	parts := make([]string, len(found))
	for i, w := range found {
		parts[i] = fmt.Sprintf("%s emptied the answer: %d %s without it", w.Filter, w.Rows, noun)
	}
	return strings.Join(parts, "; ")
}

func (e *Engine) emptyOffers(ctx context.Context, req OffersRequest, hidden []Hidden) (*Empty, error) {
	if len(hidden) > 0 {
		return allHidden(hidden), nil
	}
	cs := filterConstraints(func(r *OffersRequest) *Filter { return &r.Filter }, req)
	cs = append(cs, momentConstraint(req, func(r *OffersRequest) *time.Time { return &r.At })...)
	return whyEmpty(req, cs, "offers", func(less OffersRequest) (int, error) {
		r, err := e.stage(ctx, &less)
		if err != nil {
			return 0, err
		}
		shown, hidden, err := e.gather(ctx, r)
		n := len(shown)
		for _, h := range hidden {
			n += h.Count
		}
		return n, err
	})
}

// allHidden says that the defaults left out everything the filter selected.
func allHidden(hidden []Hidden) *Empty {
	parts := make([]string, len(hidden))
	for i, h := range hidden {
		parts[i] = fmt.Sprintf("%d %s (%s shows them)", h.Count, h.Reason, h.Ask)
	}
	return &Empty{Text: "all matching offers are hidden: " + strings.Join(parts, ", ")}
}

// momentConstraint returns the moment asked about as a constraint: before the
// first crawl it alone empties an answer.
func momentConstraint[R any](req R, at func(*R) *time.Time) []constraint[R] {
	if at(&req).IsZero() {
		return nil
	}
	return []constraint[R]{{"at=" + stampText(*at(&req)), func(r *R) { *at(r) = time.Time{} }}}
}

// windowConstraints returns the bounds of a window as constraints.
func windowConstraints[R any](req R, bounds func(*R) (from, to *time.Time)) []constraint[R] {
	var out []constraint[R]
	from, to := bounds(&req)
	if !from.IsZero() {
		out = append(out, constraint[R]{"from=" + stampText(*from), func(r *R) { from, _ := bounds(r); *from = time.Time{} }})
	}
	if !to.IsZero() {
		out = append(out, constraint[R]{"to=" + stampText(*to), func(r *R) { _, to := bounds(r); *to = time.Time{} }})
	}
	return out
}
