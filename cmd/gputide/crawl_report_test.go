package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler"
)

func testInfo() gputide.Info {
	return gputide.Info{Name: "acme", Sources: []gputide.Source{
		{ID: "api", Auth: gputide.AuthKey, Env: []string{"GPUTIDE_ACME_KEY"}, Gives: "prices of your account"},
		{ID: "page"},
	}}
}

// TestErrorHints holds that whatever ends a crawl comes with something to do.
func TestErrorHints(t *testing.T) {
	tests := []struct {
		err    error
		source string
		want   string
	}{
		{gputide.ErrAuth, "api", "GPUTIDE_ACME_KEY"},
		{gputide.ErrAuth, "page", "gputide providers"},
		{&gputide.FetchError{Kind: gputide.ErrRateLimited, RetryAfter: time.Hour}, "page", "wait 1h0m0s"},
		{gputide.ErrUnavailable, "page", "$HTTPS_PROXY"},
		{gputide.ErrBlocked, "page", "does not evade"},
		{gputide.ErrSchemaDrift, "page", "newer gputide"},
		{gputide.ErrEmpty, "page", "later"},
		{gputide.ErrTooLarge, "page", "report"},
		{gputide.ErrConflict, "", "--replace"},
		{context.Canceled, "", "crawl again"},
		{context.DeadlineExceeded, "", "--deadline"},
		{&gputide.HintError{Err: gputide.ErrInvalid, Hint: "do this"}, "", "do this"},
	}
	for _, tt := range tests {
		if got := errorHint(fmt.Errorf("acme: %w", tt.err), tt.source, testInfo()); !strings.Contains(got, tt.want) {
			t.Errorf("%v of %s: hint %q, want %q", tt.err, tt.source, got, tt.want)
		}
	}
	if got := textHint("page: source unavailable (HTTP 503): https://example.com", "page", testInfo()); !strings.Contains(got, "network") {
		t.Errorf("hint of a text: %q", got)
	}
	if got := errorHint(nil, "", testInfo()); got != "" {
		t.Errorf("no error: %q", got)
	}
}

func TestCrawlReport(t *testing.T) {
	need := fmt.Errorf("%w: GPUTIDE_ACME_KEY", gputide.ErrNeedsKey)
	tests := []struct {
		name     string
		result   crawler.Result
		status   string
		problems []string // kind of each
	}{
		{"well", crawler.Result{
			Commit: gputide.CommitResult{RunID: 1}, Scopes: []gputide.ScopeRun{{Status: gputide.ScopeDone}},
			Report: gputide.Report{Sources: []gputide.SourceReport{{Source: "api", Status: gputide.SourceSkipped, Message: need.Error()}}},
		}, statusOK, []string{problemKey}},
		{"only keys missing", crawler.Result{
			SkippedAll: true,
			Report:     gputide.Report{Sources: []gputide.SourceReport{{Source: "api", Status: gputide.SourceSkipped, Message: need.Error()}}},
		}, statusSkipped, []string{problemKey}},
		{"one scope of two", crawler.Result{
			Commit: gputide.CommitResult{RunID: 1}, Err: gputide.ErrUnavailable,
			Scopes: []gputide.ScopeRun{{Status: gputide.ScopeDone}, {Status: gputide.ScopeFailed, Source: "page", Reason: "down"}},
			Report: gputide.Report{Sources: []gputide.SourceReport{{Source: "page", Status: gputide.SourceFailed, Message: "down"}}},
		}, statusPartial, []string{problemFailed}},
		{"held", crawler.Result{
			Commit: gputide.CommitResult{RunID: 1}, Err: gputide.ErrEmpty, Scopes: []gputide.ScopeRun{{Status: gputide.ScopeHeld, Reason: "shrunk"}},
		}, statusFailed, []string{problemHeld}},
		{"not stored", crawler.Result{
			Err: fmt.Errorf("acme: %w", gputide.ErrConflict), Scopes: []gputide.ScopeRun{{Status: gputide.ScopeDone}},
		}, statusFailed, []string{problemFailed}},
		{"panic", crawler.Result{Err: errors.New("panic: index out of range")}, statusFailed, []string{problemFailed}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.result.Provider = "acme"
			row := newCrawlRow(&tt.result, testInfo())
			if row.Status != tt.status {
				t.Errorf("status %q, want %q", row.Status, tt.status)
			}
			var kinds []string
			for _, p := range row.Problems {
				kinds = append(kinds, p.Kind)
			}
			if strings.Join(kinds, " ") != strings.Join(tt.problems, " ") {
				t.Errorf("problems %q, want %q: %+v", kinds, tt.problems, row.Problems)
			}
			var b bytes.Buffer
			if _, err := writeRows(&b, formatJSON, nil, sliceRows([]crawlRow{row})); err != nil {
				t.Fatal(err)
			}
			validate(t, "crawl", b.String())
		})
	}
}

func TestProgressLine(t *testing.T) {
	p := testMain(t).startProgress(3)
	defer p.stop()
	p.update(crawler.Progress{Provider: "small", Source: "a", Rows: 10, Bytes: 2048})
	p.update(crawler.Progress{Provider: "large", Source: "a", Rows: 1000, Bytes: 5 << 20})
	p.update(crawler.Progress{Provider: "large", Source: "b", Rows: 1, Bytes: 5 << 20})
	p.update(crawler.Progress{Provider: "large", Source: "b", Rows: 500, Bytes: 5 << 20})
	want := "crawling 2 of 3 providers  large 1500 rows 10.0 MiB  small 10 rows 2.0 KiB"
	if got := p.line(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for i := range 20 {
		p.update(crawler.Progress{Provider: fmt.Sprintf("provider-%d", i), Source: "a", Rows: 1 << 40})
	}
	if n := utf8.RuneCountInString(p.line()); n > progressWidth {
		t.Errorf("a line of %d characters", n)
	}
}
