package query

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/gputide/gputide"
)

// stockPast is what availability signals say over a window.
type stockPast struct {
	place   *place
	regions Regions
	byType  map[specKey][]gputide.SignalHistory
}

// stockPast reads the availability of the selected series, and of all others of
// their instance types, over the window of them all.
func (e *Engine) stockPast(ctx context.Context, p *past) (*stockPast, error) {
	s := &stockPast{place: p.scene.plan.place, regions: e.Regions, byType: map[specKey][]gputide.SignalHistory{}}
	sel, ok := signalSelection(p.offers)
	if !ok {
		return s, nil
	}
	from, to := p.span()
	if !from.Before(to) {
		return s, nil
	}
	list, err := e.Reader.SignalIntervals(ctx, sel, gputide.SignalAvailability, from.Add(-time.Second), to)
	if err != nil {
		return nil, fmt.Errorf("history of signal %s: %w", gputide.SignalAvailability, err)
	}
	for i := range list {
		k := specKey{provider: list[i].Key.Provider, instanceType: list[i].Key.InstanceType}
		s.byType[k] = append(s.byType[k], list[i])
	}
	return s, nil
}

// of returns the signals that speak of an offer, as [place.stock] chooses them.
func (s *stockPast) of(k *gputide.Key) []gputide.SignalHistory {
	var out []gputide.SignalHistory
	for _, h := range s.byType[specKey{provider: k.Provider, instanceType: k.InstanceType}] {
		if speaksOf(&h.Key, k, true) && (k.Region != "" || s.place.hears(s.regions, &h.Key)) {
			out = append(out, h)
		}
	}
	return out
}

// cutSoldOut cuts priced intervals where availability signals speak and all of
// them say none: there the offer was sold out.
func cutSoldOut(list []gputide.Interval, signals []gputide.SignalHistory) []gputide.Interval {
	if len(signals) == 0 {
		return list
	}
	out := make([]gputide.Interval, 0, len(list))
	for i := range list {
		iv := list[i]
		if iv.State != gputide.StatePriced {
			out = append(out, iv)
			continue
		}
		for _, cut := range soldOut(&iv, signals) {
			if iv.From.Before(cut.From) {
				before := iv
				before.To = cut.From
				out = append(out, before)
			}
			out = append(out, cut)
			iv.From = cut.To
		}
		if iv.From.Before(iv.To) {
			out = append(out, iv)
		}
	}
	return out
}

// voice is a change of how many signals say an offer is in stock, and is not.
type voice struct {
	at       time.Time
	in, none int
}

// soldOut returns the parts of a priced interval in which the offer was sold
// out.
func soldOut(iv *gputide.Interval, signals []gputide.SignalHistory) []gputide.Interval {
	var voices []voice
	for i := range signals {
		voices = appendVoices(voices, iv, signals[i].Intervals)
	}
	slices.SortFunc(voices, func(a, b voice) int { return a.at.Compare(b.at) })
	var out []gputide.Interval
	var in, none int
	for i, v := range voices {
		in, none = in+v.in, none+v.none
		if none == 0 || in > 0 || !v.at.Before(voices[i+1].at) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].To.Equal(v.at) {
			out[n-1].To = voices[i+1].at
			continue
		}
		cut := *iv
		cut.State, cut.From, cut.To = gputide.StateSoldOut, v.at, voices[i+1].at
		out = append(out, cut)
	}
	return out
}

// appendVoices adds the start and the end of what one signal says inside a
// priced interval. It is heard for [stockLag] beyond its own last observation
// where the offer was observed later still.
func appendVoices(voices []voice, iv *gputide.Interval, values []gputide.SignalInterval) []voice {
	first := sort.Search(len(values), func(i int) bool { return values[i].To.After(iv.From) })
	for i := first; i < len(values) && values[i].From.Before(iv.To); i++ {
		s := &values[i]
		from, to := later(s.From, iv.From), earlier(s.To, iv.To)
		if heard := s.LastObserved.Add(stockLag); heard.Before(iv.LastObserved) {
			to = earlier(to, heard.Add(time.Second))
		}
		if !from.Before(to) {
			continue
		}
		v := voice{at: from, in: 1}
		if s.Value == gputide.AvailabilityNone {
			v = voice{at: from, none: 1}
		}
		voices = append(voices, v, voice{at: to, in: -v.in, none: -v.none})
	}
	return voices
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
