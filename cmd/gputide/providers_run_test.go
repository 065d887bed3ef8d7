package main

import (
	"testing"
	"time"

	"github.com/gputide/gputide"
)

func TestLastGoodRunIsTheNewestCrawl(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 9, day, 0, 0, 0, 0, time.UTC) }
	run := func(day int, cause gputide.Cause, status gputide.ScopeStatus) gputide.RunRecord {
		return gputide.RunRecord{At: at(day), Cause: cause, Scopes: []gputide.ScopeRun{{Status: status}}}
	}
	var row providerOut
	addRun(&row, []gputide.RunRecord{ // newest recorded first
		run(9, gputide.CauseImport, gputide.ScopeDone),
		run(2, gputide.CauseReplay, gputide.ScopeDone),
		run(8, gputide.CauseCrawl, gputide.ScopeFailed),
		run(7, gputide.CauseCrawl, gputide.ScopeDone),
	}, at(10))
	if row.LastRun == nil || *row.LastRun != stamp(at(8)) || row.LastGood == nil || *row.LastGood != stamp(at(7)) {
		t.Fatalf("last run %v, last good %v", row.LastRun, row.LastGood)
	}
	if row.AgeS == nil || *row.AgeS != 3*24*3600 {
		t.Errorf("age %v", row.AgeS)
	}
	var imported providerOut
	addRun(&imported, []gputide.RunRecord{run(9, gputide.CauseImport, gputide.ScopeDone)}, at(10))
	if imported.LastGood != nil || imported.LastRun != nil {
		t.Errorf("an import alone: %+v", imported)
	}
}
