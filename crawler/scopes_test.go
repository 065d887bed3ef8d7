package crawler

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func TestOneSourceFeedsAScope(t *testing.T) {
	drift := &gputide.DriftError{Source: "bulk", Path: "header", Want: "SKU", Got: "<html>"}
	x, y := gputide.Scope{Region: "x"}, gputide.Scope{Region: "y"}
	for _, tt := range []struct {
		name   string
		crawl  func(b *gputide.Batch)
		want   map[string]string // instance type → price
		feeder string
		bulk   gputide.SourceReport
		page   gputide.SourceReport
	}{
		{
			name: "the more authoritative of two",
			crawl: func(b *gputide.Batch) {
				b.Add(offer("page", "a", "4", inRegion("x")))
				b.Add(offer("page", "only-page", "4", inRegion("x")))
				b.Done("page", x)
				b.Add(offer("bulk", "a", "3", inRegion("x")))
				b.Done("bulk", x)
			},
			want: map[string]string{"a": "3"}, feeder: "bulk",
			bulk: gputide.SourceReport{Status: gputide.SourceOK, Read: 1, Kept: 1},
			page: gputide.SourceReport{Status: gputide.SourceOK, Read: 2, Omitted: map[string]int64{"superseded": 2}},
		},
		{
			name: "the next when the first fails",
			crawl: func(b *gputide.Batch) {
				b.Add(offer("bulk", "a", "3", inRegion("x")))
				b.Fail("bulk", x, drift)
				b.Add(offer("page", "a", "4", inRegion("x")))
				b.Done("page", x)
			},
			want: map[string]string{"a": "4"}, feeder: "page",
			bulk: gputide.SourceReport{Status: gputide.SourceFailed, Message: drift.Error(), Read: 1, Omitted: map[string]int64{"superseded": 1}},
			page: gputide.SourceReport{Status: gputide.SourceOK, Read: 1, Kept: 1},
		},
		{
			name: "a failure after it was done",
			crawl: func(b *gputide.Batch) {
				b.Add(offer("bulk", "a", "3", inRegion("x")))
				b.Done("bulk", x)
				b.Fail("bulk", x, drift)
			},
			want: map[string]string{}, feeder: "",
			bulk: gputide.SourceReport{Status: gputide.SourceFailed, Message: drift.Error(), Read: 1, Skipped: map[string]int64{"scope_failed": 1}},
			page: gputide.SourceReport{Status: gputide.SourceSkipped, Message: "not asked"},
		},
		{
			name: "rows outside every scope",
			crawl: func(b *gputide.Batch) {
				b.Add(offer("bulk", "a", "3", inRegion("x")))
				b.Add(offer("bulk", "b", "3", inRegion("nowhere")))
				b.Done("bulk", x)
				b.Done("page", y)
				b.Omit("page", "storage", 3)
			},
			want: map[string]string{"a": "3"}, feeder: "bulk",
			bulk: gputide.SourceReport{Status: gputide.SourceOK, Read: 2, Kept: 1, Skipped: map[string]int64{"no_scope": 1}},
			page: gputide.SourceReport{Status: gputide.SourceOK, Read: 3, Omitted: map[string]int64{"storage": 3}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "bulk", "page")
			r.run(t, 0, tt.crawl)
			run := r.last(t)
			if diff := cmp.Diff(tt.want, prices(run)); diff != "" {
				t.Errorf("offers (-want +got):\n%s", diff)
			}
			got := scopeOf(t, run, x)
			if tt.feeder != "" && (got.Status != gputide.ScopeDone || got.Source != tt.feeder) {
				t.Errorf("scope %+v, want done by %s", got, tt.feeder)
			}
			if tt.feeder == "" && got.Status != gputide.ScopeFailed {
				t.Errorf("scope %+v, want failed", got)
			}
			tt.bulk.Source, tt.page.Source = "bulk", "page"
			if diff := cmp.Diff([]gputide.SourceReport{tt.bulk, tt.page}, run.Report.Sources); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFailedScopeNamesEverySourceAndKeepsItsErrors(t *testing.T) {
	r := newRig(t, "bulk", "page")
	res := r.run(t, 0, func(b *gputide.Batch) {
		b.Fail("page", everything, &gputide.FetchError{Source: "page", Status: 429, Kind: gputide.ErrRateLimited, URL: "https://p.test"})
		b.Fail("bulk", everything, &gputide.FetchError{Source: "bulk", Status: 403, Kind: gputide.ErrAuth, URL: "https://b.test"})
	})
	if !errors.Is(res.Err, gputide.ErrRateLimited) || !errors.Is(res.Err, gputide.ErrAuth) {
		t.Errorf("error %v, want both", res.Err)
	}
	got := scopeOf(t, r.last(t), everything)
	if got.Source != "page" || !strings.Contains(got.Reason, "HTTP 403") || !strings.Contains(got.Reason, "HTTP 429") {
		t.Errorf("scope %+v, want page, the last asked, and both reasons", got)
	}
}

func TestTheNarrowerScopeWins(t *testing.T) {
	r := newRig(t, "bulk", "page")
	r.run(t, 0, func(b *gputide.Batch) {
		b.Add(offer("bulk", "wide", "3", inRegion("x")))
		b.Add(offer("bulk", "narrow", "3", inRegion("y")))
		b.Add(offer("bulk", "sliced", "3", inRegion("x"), part("p")))
		b.Done("bulk", gputide.Scope{Market: gputide.OnDemand})
		b.Add(offer("page", "narrow", "4", inRegion("y")))
		b.Done("page", gputide.Scope{Market: gputide.OnDemand, Region: "y"})
		b.Fail("page", gputide.Scope{Part: "p", Market: gputide.OnDemand}, gputide.ErrUnavailable)
	})
	want := map[string]string{"wide": "3", "narrow": "4"}
	if diff := cmp.Diff(want, prices(r.last(t))); diff != "" {
		t.Errorf("offers (-want +got):\n%s", diff)
	}
}

func TestFailedCrawlMarksKnownScopes(t *testing.T) {
	x, y := gputide.Scope{Region: "x"}, gputide.Scope{Region: "y"}
	first := func(b *gputide.Batch) {
		b.Add(offer("bulk", "a", "3", inRegion("x")))
		b.Done("bulk", x)
		b.Add(offer("page", "a", "3", inRegion("y")))
		b.Done("page", y)
	}
	t.Run("error", func(t *testing.T) {
		r := newRig(t, "bulk", "page")
		r.run(t, 0, first)
		res := r.runErr(t, 1, func(b *gputide.Batch) error {
			b.Add(offer("bulk", "a", "3", inRegion("x")))
			b.Done("bulk", x)
			return gputide.ErrUnavailable
		})
		if !errors.Is(res.Err, gputide.ErrUnavailable) {
			t.Errorf("error %v", res.Err)
		}
		run := r.last(t)
		if got := scopeOf(t, run, x); got.Status != gputide.ScopeDone {
			t.Errorf("scope x is %s", got.Status)
		}
		if got := scopeOf(t, run, y); got.Status != gputide.ScopeFailed || got.Source != "page" || !strings.Contains(got.Reason, "unavailable") {
			t.Errorf("scope y is %+v, want failed", got)
		}
	})
	t.Run("its source was skipped", func(t *testing.T) {
		r := newRig(t, "bulk", "page")
		r.run(t, 0, first)
		r.runErr(t, 1, func(b *gputide.Batch) error {
			b.Source("page", gputide.SourceSkipped, gputide.ErrNotInFixture)
			return gputide.ErrUnavailable
		})
		run := r.last(t)
		if len(run.Scopes) != 1 || run.Scopes[0].Scope != x {
			t.Errorf("scopes %+v, want x alone: y was not asked for", run.Scopes)
		}
	})
	t.Run("the error was told", func(t *testing.T) {
		r := newRig(t, "bulk", "page")
		r.run(t, 0, first)
		broken := &gputide.FetchError{Source: "bulk", Kind: gputide.ErrUnavailable, URL: "https://b.test"}
		res := r.runErr(t, 1, func(b *gputide.Batch) error {
			b.Fail("bulk", x, broken)
			return &gputide.PartialError{Failed: []error{fmt.Errorf("x: %w", broken)}}
		})
		run := r.last(t)
		if len(run.Scopes) != 1 || run.Scopes[0].Scope != x || !errors.Is(res.Err, broken) {
			t.Errorf("scopes %+v, want x alone: y was not asked for", run.Scopes)
		}
	})
	t.Run("a wider scope failed", func(t *testing.T) {
		r := newRig(t, "bulk", "page")
		r.run(t, 0, first)
		r.run(t, 1, func(b *gputide.Batch) {
			b.Fail("bulk", everything, gputide.ErrSchemaDrift)
			b.Add(offer("page", "a", "3", inRegion("y")))
			b.Done("page", y)
		})
		run := r.last(t)
		if got := scopeOf(t, run, x); got.Status != gputide.ScopeFailed || !strings.Contains(got.Reason, "changed its format") {
			t.Errorf("scope x is %+v, want failed: it lies within the failed one", got)
		}
		if got := scopeOf(t, run, y); got.Status != gputide.ScopeDone {
			t.Errorf("scope y is %s, want done", got.Status)
		}
	})
	t.Run("all it says is a skip", func(t *testing.T) {
		r := newRig(t, "bulk", "page")
		r.run(t, 0, first)
		res := r.runErr(t, 1, func(b *gputide.Batch) error {
			err := &gputide.FetchError{Source: "bulk", Kind: gputide.ErrNotInFixture, URL: "https://b.test"}
			b.Fail("bulk", x, err)
			return err
		})
		if !res.SkippedAll || res.Err != nil || len(r.store.of("fake").runs) != 1 {
			t.Errorf("result %+v, want skipped and nothing stored", res)
		}
	})
	t.Run("no error", func(t *testing.T) {
		r := newRig(t, "bulk", "page")
		r.run(t, 0, first)
		r.run(t, 1, func(b *gputide.Batch) {
			b.Add(offer("bulk", "a", "3", inRegion("x")))
			b.Done("bulk", x)
		})
		if got := len(r.last(t).Scopes); got != 1 {
			t.Errorf("%d scopes, want the one reported", got)
		}
	})
}

func TestRowsOfUnknownKeyWithdrawNothing(t *testing.T) {
	x, y := gputide.Scope{Region: "x"}, gputide.Scope{Region: "y"}
	for _, tt := range []struct {
		name   string
		source string
		scope  gputide.Scope
		x, y   bool
	}{
		{"one scope", "bulk", x, true, false},
		{"a wider one", "bulk", everything, true, true},
		{"a narrower one", "bulk", gputide.Scope{Region: "y", Market: gputide.Spot}, false, true},
		{"another source", "page", everything, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "bulk", "page")
			r.run(t, 0, func(b *gputide.Batch) {
				b.Add(offer("bulk", "a", "3", inRegion("x")))
				b.Add(offer("bulk", "a", "3", inRegion("y")))
				b.SkipUnknown(tt.source, tt.scope, "bad_row", "no id")
				b.Done("bulk", x)
				b.Done("bulk", y)
			})
			run := r.last(t)
			if got := scopeOf(t, run, x).NoWithdraw; got != tt.x {
				t.Errorf("x: NoWithdraw %v, want %v", got, tt.x)
			}
			if got := scopeOf(t, run, y).NoWithdraw; got != tt.y {
				t.Errorf("y: NoWithdraw %v, want %v", got, tt.y)
			}
			if told := strings.Contains(strings.Join(run.Report.Notes, "\n"), "nothing withdrawn"); told != (tt.x || tt.y) {
				t.Errorf("notes %q", run.Report.Notes)
			}
			if got := reportOf(t, run, tt.source).Skipped["bad_row"]; got != 1 {
				t.Errorf("skipped %d, want 1", got)
			}
		})
	}
}

func TestSkippedRowOfKnownKeyIsHeld(t *testing.T) {
	r := newRig(t, "list")
	r.run(t, 0, func(b *gputide.Batch) {
		b.Add(offer("list", "good", "3"))
		b.Add(offer("list", "both", "3"))
		b.Skip("list", offer("list", "bad", "").Key, "no_price", "null")
		b.Skip("list", offer("list", "both", "").Key, "no_price", "null")
		b.Add(offer("list", "cpu", "1", spec(&gputide.Spec{VCPU: new(4.0)})))
		b.Skip("list", offer("list", "cpu", "").Key, "no_price", "null")
		b.Done("list", everything)
	})
	run := r.last(t)
	if len(run.HeldKeys) != 1 || run.HeldKeys[0].Key.InstanceType != "bad" || run.HeldKeys[0].Reason != "no_price" {
		t.Errorf("held keys %+v, want bad alone: both is listed with a price, cpu is none of ours", run.HeldKeys)
	}
	if len(run.Quarantined) != 2 {
		t.Errorf("quarantined %+v, want the two rows", run.Quarantined)
	}
	rep := reportOf(t, run, "list")
	want := gputide.SourceReport{
		Source: "list", Status: gputide.SourceOK, Read: 6, Kept: 2,
		Skipped: map[string]int64{"no_price": 2}, Omitted: map[string]int64{"not_accelerated": 2},
	}
	if diff := cmp.Diff(want, rep); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if got := scopeOf(t, run, everything).Count; got != 3 {
		t.Errorf("count %d, want 3: the held offer is listed", got)
	}
}

func TestQuarantinePointsToItsBody(t *testing.T) {
	for _, tt := range []struct {
		name   string
		bodies []gputide.Body
		urls   []string
		want   string
	}{
		{"the only one", []gputide.Body{{Source: "list", URL: "u1", Hash: "h1"}, {Source: "page", URL: "u2", Hash: "h2"}}, nil, "h1"},
		{"one of two", []gputide.Body{{Source: "list", URL: "u1", Hash: "h1"}, {Source: "list", URL: "u2", Hash: "h2"}}, []string{"u2"}, "h2"},
		{"either of two", []gputide.Body{{Source: "list", URL: "u1", Hash: "h1"}, {Source: "list", URL: "u2", Hash: "h2"}}, []string{"u1", "u2"}, ""},
		{"none kept", []gputide.Body{{Source: "list", URL: "u1"}}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSink(info("list"), loadNormalizer(t), &gputide.Baseline{}, false, func(Progress) {})
			b := gputide.NewBatch("fake", day0, s)
			many(b, "list", "a", 20, "3")
			b.Add(offer("list", "bad", "0"))
			b.Done("list", everything, tt.urls...)
			for _, body := range tt.bodies {
				s.body(body)
			}
			run, _ := s.assemble(outcome{at: day0, cause: gputide.CauseCrawl})
			if len(run.Quarantined) != 1 || run.Quarantined[0].BodyHash != tt.want {
				t.Errorf("quarantined %+v, want body %q", run.Quarantined, tt.want)
			}
		})
	}
}
