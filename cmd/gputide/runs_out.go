package main

import (
	"fmt"

	"github.com/gputide/gputide"
)

// runRow is a run as listed: the JSON of `runs list`.
type runRow struct {
	RunID        uint64    `json:"run_id"`
	Provider     string    `json:"provider"`
	At           string    `json:"at"`
	StartedAt    *string   `json:"started_at"`
	FinishedAt   *string   `json:"finished_at"`
	RecordedAt   string    `json:"recorded_at"`
	DurationS    float64   `json:"duration_s"`
	Cause        string    `json:"cause"`
	CodeVersion  string    `json:"code_version"`
	Status       string    `json:"status"` // ok, partial, failed
	ScopesDone   int       `json:"scopes_done"`
	ScopesFailed int       `json:"scopes_failed"`
	ScopesHeld   int       `json:"scopes_held"`
	Read         int64     `json:"rows_read"`
	Kept         int64     `json:"rows_kept"`
	SkippedRows  int64     `json:"rows_skipped"`
	OmittedRows  int64     `json:"rows_omitted"`
	Result       resultOut `json:"result"`
	Error        *string   `json:"error"`
}

// resultOut is what a commit changed.
type resultOut struct {
	FirstSeen int `json:"first_seen"`
	Changed   int `json:"changed"`
	Withdrawn int `json:"withdrawn"`
	Returned  int `json:"returned"`
	Held      int `json:"held"`
	Released  int `json:"released"`
	Confirmed int `json:"confirmed"`
	Specs     int `json:"specs"`
	Signals   int `json:"signals"`
	Rates     int `json:"rates"`
}

// runDetail is one run with everything known of it: the JSON of `runs show`.
type runDetail struct {
	runRow
	Scopes              []scopeOut       `json:"scopes"`
	Sources             []sourceOut      `json:"sources"`
	UnknownAccelerators map[string]int64 `json:"unknown_accelerators"`
	UnknownRegions      map[string]int64 `json:"unknown_regions"`
	Notes               []string         `json:"notes"`
	Bodies              []bodyOut        `json:"bodies"`
}

// scopeOut is the outcome of one scope.
type scopeOut struct {
	Name       string   `json:"scope"`
	Partition  *string  `json:"partition"`
	Seller     *string  `json:"seller"`
	Region     *string  `json:"region"`
	Market     *string  `json:"market"`
	Part       *string  `json:"part"`
	Signal     *string  `json:"signal"`
	Status     string   `json:"status"`
	Source     string   `json:"source"`
	Count      int      `json:"count"`
	NoWithdraw bool     `json:"no_withdraw"`
	EventFeed  bool     `json:"event_feed"`
	From       *string  `json:"from"`
	To         *string  `json:"to"`
	Reason     *string  `json:"reason"`
	URLs       []string `json:"urls"`
}

// sourceOut counts the rows of one source.
type sourceOut struct {
	Source  string           `json:"source"`
	Status  string           `json:"status"`
	Message *string          `json:"message"`
	Read    int64            `json:"read"`
	Kept    int64            `json:"kept"`
	Skipped map[string]int64 `json:"skipped"`
	Omitted map[string]int64 `json:"omitted"`
}

// bodyOut is one response of a run.
type bodyOut struct {
	Source    string  `json:"source"`
	URL       string  `json:"url"`
	Status    int     `json:"status"`
	Hash      *string `json:"sha256"`
	Size      int64   `json:"size"`
	FetchedAt *string `json:"fetched_at"`
}

// The outcomes of a run as a whole.
const (
	statusOK      = "ok"
	statusPartial = "partial" // some scopes read, some not
	statusFailed  = "failed"  // no scope read
)

// runStatus sums a run up in a word.
func runStatus(scopes []gputide.ScopeRun, err string) string {
	done, other := 0, 0
	for _, s := range scopes {
		if s.Status == gputide.ScopeDone {
			done++
		} else {
			other++
		}
	}
	switch {
	case other == 0 && err == "":
		return statusOK
	case done > 0:
		return statusPartial
	}
	return statusFailed
}

func newRunRow(r *gputide.RunRecord) runRow {
	row := runRow{
		RunID: r.ID, Provider: r.Provider, At: stamp(r.At), StartedAt: opt(stamp(r.StartedAt)), FinishedAt: opt(stamp(r.FinishedAt)),
		RecordedAt: stamp(r.RecordedAt), Cause: string(r.Cause), CodeVersion: r.CodeVersion,
		Status: runStatus(r.Scopes, r.Err), Error: opt(r.Err),
		Result: resultOut{
			FirstSeen: r.Result.FirstSeen, Changed: r.Result.Changed, Withdrawn: r.Result.Withdrawn, Returned: r.Result.Returned,
			Held: r.Result.Held, Released: r.Result.Released, Confirmed: r.Result.Confirmed, Specs: r.Result.Specs,
			Signals: r.Result.Signals, Rates: r.Result.Rates,
		},
	}
	if d := r.FinishedAt.Sub(r.StartedAt); d > 0 && !r.StartedAt.IsZero() {
		row.DurationS = d.Seconds()
	}
	for _, s := range r.Scopes {
		switch s.Status {
		case gputide.ScopeDone:
			row.ScopesDone++
		case gputide.ScopeHeld:
			row.ScopesHeld++
		default:
			row.ScopesFailed++
		}
	}
	for _, s := range r.Report.Sources {
		row.Read += s.Read
		row.Kept += s.Kept
		row.SkippedRows += total(s.Skipped)
		row.OmittedRows += total(s.Omitted)
	}
	return row
}

func newRunDetail(r *gputide.RunRecord) runDetail {
	d := runDetail{
		runRow: newRunRow(r), Scopes: []scopeOut{}, Sources: []sourceOut{}, Bodies: []bodyOut{},
		UnknownAccelerators: counts(r.Report.UnknownAccelerators), UnknownRegions: counts(r.Report.UnknownRegions),
		Notes: append([]string{}, r.Report.Notes...),
	}
	for _, s := range r.Scopes {
		d.Scopes = append(d.Scopes, scopeOut{
			Name: s.Scope.String(), Partition: opt(s.Scope.Partition), Seller: opt(s.Scope.Seller), Region: opt(s.Scope.Region),
			Market: opt(string(s.Scope.Market)), Part: opt(s.Scope.Part), Signal: opt(s.Scope.Signal), Status: string(s.Status),
			Source: s.Source, Count: s.Count, NoWithdraw: s.NoWithdraw, EventFeed: s.EventFeed, From: opt(stamp(s.From)),
			To: opt(stamp(s.To)), Reason: opt(s.Reason), URLs: append([]string{}, s.URLs...),
		})
	}
	for _, s := range r.Report.Sources {
		d.Sources = append(d.Sources, sourceOut{
			Source: s.Source, Status: string(s.Status), Message: opt(s.Message), Read: s.Read, Kept: s.Kept,
			Skipped: counts(s.Skipped), Omitted: counts(s.Omitted),
		})
	}
	for _, b := range r.Bodies {
		d.Bodies = append(d.Bodies, bodyOut{
			Source: b.Source, URL: b.URL, Status: b.Status, Hash: opt(b.Hash), Size: b.Size, FetchedAt: opt(stamp(b.FetchedAt)),
		})
	}
	return d
}

// scopeText is "3 done" or "2/3 done", and empty for a run without scopes, as
// that of exchange rates is.
func (r *runRow) scopeText() string {
	all := r.ScopesDone + r.ScopesFailed + r.ScopesHeld
	switch {
	case all == 0:
		return ""
	case r.ScopesDone == all:
		return fmt.Sprintf("%d done", all)
	}
	return fmt.Sprintf("%d/%d done", r.ScopesDone, all)
}

func runColumns() []string {
	return []string{
		"run_id", "provider", "at", "started_at", "finished_at", "recorded_at", "duration_s", "cause", "code_version", "status",
		"scopes_done", "scopes_failed", "scopes_held", "rows_read", "rows_kept", "rows_skipped", "rows_omitted",
		"result.first_seen", "result.changed", "result.withdrawn", "result.returned", "result.held", "result.released",
		"result.confirmed", "result.specs", "result.signals", "result.rates", "error",
	}
}

func total(m map[string]int64) int64 {
	var n int64
	for _, v := range m {
		n += v
	}
	return n
}

// counts makes an absent map an empty object.
func counts(m map[string]int64) map[string]int64 {
	if m == nil {
		return map[string]int64{}
	}
	return m
}

// opt is nil for empty text: absent is null.
func opt(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
