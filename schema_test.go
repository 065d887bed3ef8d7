package gputide

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"
)

func TestCount(t *testing.T) {
	tests := []struct {
		count Count
		text  string
		value float64
	}{
		{NewCount(8, 1), "8", 8},
		{NewCount(2, 16), "1/8", 0.125},
		{NewCount(3, 2), "3/2", 1.5},
		{NewCount(0, 1), "", 0},
		{NewCount(1, 0), "", 0},
		{Count{}, "", 0},
	}
	for _, tt := range tests {
		if tt.count.String() != tt.text || tt.count.Value() != tt.value || tt.count.Known() != (tt.text != "") {
			t.Errorf("%+v: %q %v", tt.count, tt.count, tt.count.Value())
		}
		if tt.text == "" {
			continue
		}
		if back, err := ParseCount(tt.text); err != nil || back != tt.count {
			t.Errorf("ParseCount(%q) = %+v, %v", tt.text, back, err)
		}
	}
	for _, s := range []string{"", "0", "1/0", "0/4", "-1", "0.167", "1/2/3", "99999999999"} {
		if c, err := ParseCount(s); !errors.Is(err, ErrInvalid) {
			t.Errorf("ParseCount(%q) = %v, %v; want ErrInvalid", s, c, err)
		}
	}
}

func TestTermHours(t *testing.T) {
	for term, want := range map[Term]int64{
		"24h": 24, "1d": 24, "1w": 168, "1mo": 730, "1y": 8760, "3y": 26280, NewTerm(6, "mo"): 4380,
	} {
		if got, err := term.Hours(); err != nil || got != want {
			t.Errorf("%s = %d h, %v; want %d", term, got, err, want)
		}
	}
	for _, term := range []Term{"", "y", "1", "0y", "1yr", "-1y", "1.5y", "1 y", "99999999999h"} {
		if h, err := term.Hours(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q = %d h, %v; want ErrInvalid", term, h, err)
		}
	}
}

func TestCurrencyValid(t *testing.T) {
	for c, want := range map[Currency]bool{"USD": true, "CNY": true, "usd": false, "": false, "US": false, "USDT": false, "U$D": false} {
		if c.Valid() != want {
			t.Errorf("%q valid = %t, want %t", c, c.Valid(), want)
		}
	}
}

func TestEveryListedMarketIsValid(t *testing.T) {
	for _, m := range Markets() {
		if !m.Valid() {
			t.Errorf("market %q is listed and not valid", m)
		}
	}
	if Market("on-demand").Valid() {
		t.Error(`market "on-demand" is valid`)
	}
}

func TestSpecFillTakesOnlyWhatIsMissing(t *testing.T) {
	s := Spec{InstanceType: "p5.48xlarge", VCPU: new(192.0), Device: Device{Name: "H100", Count: NewCount(8, 1)}}
	s.Fill(&Spec{VCPU: new(96.0), MemoryGiB: new(2048.0), CPUArch: "x86_64", Device: Device{Name: "H200", Count: NewCount(4, 1)}})
	if *s.VCPU != 192 || s.Device.Name != "H100" || s.Device.Count != NewCount(8, 1) {
		t.Errorf("Fill overwrote what was said: %+v", s)
	}
	if s.MemoryGiB == nil || *s.MemoryGiB != 2048 || s.CPUArch != "x86_64" || s.NetworkGbps != nil {
		t.Errorf("Fill did not take exactly what was missing: %+v", s)
	}
}

func TestSignalLabel(t *testing.T) {
	tests := []struct {
		name  string
		value int64
		want  string
	}{
		{SignalInterruption, 0, "<5%"},
		{SignalInterruption, 4, ">20%"},
		{SignalInterruption, 5, ""},
		{SignalAvailability, AvailabilityNone, "none"},
		{SignalAvailability, AvailabilityYes, "available"},
		{SignalAvailability, -1, ""},
		{SignalSavings, 2, ""},
	}
	for _, tt := range tests {
		if got := SignalLabel(tt.name, tt.value); got != tt.want {
			t.Errorf("SignalLabel(%s, %d) = %q, want %q", tt.name, tt.value, got, tt.want)
		}
	}
}

func TestErrorsUnwrapToTheirSentinels(t *testing.T) {
	fetch := &FetchError{Source: "gpus", URL: "https://x.test/", Status: 429, RetryAfter: time.Minute, Attempt: 3, Kind: ErrRateLimited, Err: io.EOF}
	drift := &DriftError{Source: "gpus", Path: "data.id", Want: "text", Got: "number", Err: io.ErrUnexpectedEOF}
	partial := &PartialError{Done: 1, Failed: []error{fetch, drift}}
	hint := &HintError{Err: partial, Hint: "wait a minute"}
	for _, want := range []error{ErrRateLimited, io.EOF, ErrSchemaDrift, io.ErrUnexpectedEOF} {
		if !errors.Is(hint, want) {
			t.Errorf("%v is not %v", hint, want)
		}
	}
	if got, want := fetch.Error(), "gpus: rate limited (HTTP 429), retry after 1m0s after 3 attempts: https://x.test/: EOF"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if errors.Is(&FetchError{Kind: ErrAuth}, context.Canceled) {
		t.Error("a fetch error without a cause unwraps to one")
	}
}

// recordingSink keeps what a batch hands over.
type recordingSink struct {
	Sink
	offers  []RawOffer
	signals []Signal
	skips   []Skipped
	scopes  []ScopeRun
	omitted int64
	failed  []string
}

func (s *recordingSink) Offer(o RawOffer) { s.offers = append(s.offers, o) }

func (s *recordingSink) Signal(v Signal)                           { s.signals = append(s.signals, v) }
func (s *recordingSink) Skip(v Skipped)                            { s.skips = append(s.skips, v) }
func (s *recordingSink) Scope(v ScopeRun)                          { s.scopes = append(s.scopes, v) }
func (s *recordingSink) Omit(_, _ string, n int64)                 { s.omitted += n }
func (s *recordingSink) Source(id string, _ SourceStatus, _ error) { s.failed = append(s.failed, id) }

func TestBatchSaysWhoseRowsTheyAre(t *testing.T) {
	sink := &recordingSink{}
	at := time.Date(2026, 9, 10, 12, 0, 0, 999, time.FixedZone("CST", 8*3600))
	b := NewBatch("runpod", at, sink)
	if want := time.Date(2026, 9, 10, 4, 0, 0, 0, time.UTC); !b.At().Equal(want) || b.At().Location() != time.UTC {
		t.Errorf("At = %s, want %s", b.At(), want)
	}
	key := Key{Provider: "someone", InstanceType: "H100×1"}
	b.Add(RawOffer{Key: key})
	b.Stock("gpus", key, AvailabilityLow, "EU-RO-1", "US-WA-2")
	b.Skip("gpus", key, "no_price", "securePrice null")
	b.SkipUnknown("gpus", Scope{Market: Spot}, "bad_row", "no id")
	b.Omit("gpus", "not_offered", 2)
	b.Omit("gpus", "nothing", 0)
	b.Done("gpus", Scope{Market: OnDemand}, "https://x.test/")
	b.Fail("gpus", Scope{Market: Spot}, ErrUnavailable)

	if got := sink.offers[0].Key.Provider; got != "runpod" {
		t.Errorf("offer of provider %q", got)
	}
	if len(sink.signals) != 2 || sink.signals[1].Key.Region != "US-WA-2" || sink.signals[1].Key.Provider != "runpod" || sink.signals[1].Name != SignalAvailability {
		t.Errorf("signals: %+v", sink.signals)
	}
	if k := sink.skips[0].Key; k == nil || k.Provider != "runpod" {
		t.Errorf("skip of a known key: %+v", sink.skips[0])
	}
	if s := sink.skips[1]; s.Key != nil || s.Scope.Market != Spot {
		t.Errorf("skip of an unknown key: %+v", s)
	}
	if sink.omitted != 2 {
		t.Errorf("omitted %d rows, want 2", sink.omitted)
	}
	if sink.scopes[0].Status != ScopeDone || sink.scopes[1].Status != ScopeFailed || sink.scopes[1].Reason == "" || len(sink.failed) != 1 {
		t.Errorf("scopes: %+v, failed sources %v", sink.scopes, sink.failed)
	}
}
