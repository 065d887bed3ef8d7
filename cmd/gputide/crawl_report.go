package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler"
)

// crawlRow is the outcome of one provider: the JSON of crawl.
type crawlRow struct {
	Provider     string       `json:"provider"`
	Status       string       `json:"status"` // ok, partial, failed, skipped
	RunID        *uint64      `json:"run_id"`
	At           *string      `json:"at"`
	DurationS    float64      `json:"duration_s"`
	Unchanged    bool         `json:"unchanged"` // the same run was stored before
	Offers       int          `json:"offers"`
	ScopesDone   int          `json:"scopes_done"`
	ScopesFailed int          `json:"scopes_failed"`
	ScopesHeld   int          `json:"scopes_held"`
	SkippedRows  int64        `json:"rows_skipped"`
	Result       resultOut    `json:"result"`
	Sources      []sourceOut  `json:"sources"`
	Problems     []problemOut `json:"problems"`
	Notes        []string     `json:"notes"`
}

// problemOut is what failed, was held or was left unasked, and what to do.
type problemOut struct {
	Kind   string  `json:"kind"` // failed, held, needs_key, not_in_fixture
	Source *string `json:"source"`
	Scope  *string `json:"scope"`
	Text   string  `json:"text"`
	Hint   *string `json:"hint"`
}

// The kinds of a problem.
const (
	problemFailed  = "failed"
	problemHeld    = "held"
	problemKey     = "needs_key"
	problemFixture = "not_in_fixture"
)

const statusSkipped = "skipped"

func (m *Main) reportCrawl(form format, results []crawler.Result, infos map[string]gputide.Info) error {
	rows := make([]crawlRow, len(results))
	for i := range results {
		rows[i] = newCrawlRow(&results[i], infos[results[i].Provider])
	}
	if form != formatTable {
		_, err := writeRows(m.Stdout, form, crawlColumns(), sliceRows(rows))
		return err
	}
	if _, err := printTable(m.Stdout, m.screenWidth(), m.colour(), crawlTable(), rows); err != nil {
		return err
	}
	for i := range rows {
		m.printProblems(&rows[i])
	}
	return nil
}

// printProblems says, below the table, what failed and what to do about it.
func (m *Main) printProblems(r *crawlRow) {
	for _, p := range r.Problems {
		where := r.Provider
		if p.Source != nil {
			where += "/" + *p.Source
		}
		if p.Scope != nil {
			where += " [" + *p.Scope + "]"
		}
		fmt.Fprintf(m.Stdout, "%s: %s: %s\n", clean(where), strings.ReplaceAll(p.Kind, "_", " "), clean(p.Text))
		if p.Hint != nil {
			fmt.Fprintf(m.Stdout, "  do: %s\n", clean(*p.Hint))
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(m.Stdout, "%s: note: %s\n", clean(r.Provider), clean(n))
	}
}

func newCrawlRow(r *crawler.Result, info gputide.Info) crawlRow {
	c := r.Commit
	row := crawlRow{
		Provider: r.Provider, Status: resultStatus(r), At: opt(stamp(r.At)), DurationS: r.Duration.Seconds(), Unchanged: c.NoOp,
		Offers: r.Offers, SkippedRows: r.Skips, Sources: []sourceOut{}, Problems: problems(r, info),
		Notes: append([]string{}, r.Report.Notes...),
		Result: resultOut{
			FirstSeen: c.FirstSeen, Changed: c.Changed, Withdrawn: c.Withdrawn, Returned: c.Returned, Held: c.Held,
			Released: c.Released, Confirmed: c.Confirmed, Specs: c.Specs, Signals: c.Signals, Rates: c.Rates,
		},
	}
	if c.RunID != 0 {
		row.RunID = &c.RunID
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
		row.Sources = append(row.Sources, sourceOut{
			Source: s.Source, Status: string(s.Status), Message: opt(s.Message), Read: s.Read, Kept: s.Kept,
			Skipped: counts(s.Skipped), Omitted: counts(s.Omitted),
		})
	}
	return row
}

func resultStatus(r *crawler.Result) string {
	switch {
	case r.SkippedAll && r.Err == nil:
		return statusSkipped
	case r.Err == nil:
		return statusOK
	case errors.Is(r.Err, gputide.ErrConflict):
		return statusFailed
	}
	if r.Commit.RunID == 0 {
		return statusFailed
	}
	return runStatus(r.Scopes, r.Err.Error())
}

// problems lists what a reader of the report must act on: first what failed as
// a whole, then scopes, then sources left unasked.
func problems(r *crawler.Result, info gputide.Info) []problemOut {
	out := []problemOut{}
	told := map[string]bool{}
	for _, s := range r.Scopes {
		if s.Status == gputide.ScopeDone {
			continue
		}
		kind := problemFailed
		hint := "the last prices are kept; gputide runs show tells more"
		if s.Status == gputide.ScopeHeld {
			kind, hint = problemHeld, "the last prices are kept; a later crawl that agrees is accepted"
		} else if h := errorHint(r.Err, s.Source, info); h != "" {
			hint = h
		}
		told[s.Reason] = true
		out = append(out, problemOut{Kind: kind, Source: opt(s.Source), Scope: opt(s.Scope.String()), Text: s.Reason, Hint: opt(hint)})
	}
	for _, s := range r.Report.Sources {
		p, ok := sourceProblem(&s, r.Err, info)
		if ok && !told[p.Text] {
			told[p.Text] = true
			out = append(out, p)
		}
	}
	if r.Err != nil && (len(out) == 0 || r.Commit.RunID == 0) && !told[r.Err.Error()] {
		text := r.Err.Error()
		if he, ok := errors.AsType[*gputide.HintError](r.Err); ok {
			text = withoutHint(text, he)
		}
		out = append([]problemOut{{Kind: problemFailed, Text: text, Hint: opt(errorHint(r.Err, "", info))}}, out...)
	}
	return out
}

func sourceProblem(s *gputide.SourceReport, err error, info gputide.Info) (problemOut, bool) {
	p := problemOut{Kind: problemFailed, Source: opt(s.Source), Text: s.Message}
	switch {
	case s.Status == gputide.SourceFailed:
		p.Hint = opt(errorHint(err, s.Source, info))
		return p, true
	case s.Status != gputide.SourceSkipped:
		return p, false
	case strings.Contains(s.Message, gputide.ErrNeedsKey.Error()):
		p.Kind = problemKey
		p.Hint = opt(keyHint(s.Source, info))
		return p, true
	case strings.Contains(s.Message, gputide.ErrNotInFixture.Error()):
		p.Kind = problemFixture
		return p, true
	}
	return p, false
}

// keyHint says which variables a source wants and what it then gives.
func keyHint(source string, info gputide.Info) string {
	s, ok := info.Source(source)
	if !ok || len(s.Env) == 0 {
		return ""
	}
	h := "set " + strings.Join(s.Env, " and ")
	if s.Gives != "" {
		h += " for " + s.Gives
	}
	return h
}

// errorHint says what to do about an error of a crawl.
func errorHint(err error, source string, info gputide.Info) string {
	if err == nil {
		return ""
	}
	if he, ok := errors.AsType[*gputide.HintError](err); ok {
		return he.Hint
	}
	switch {
	case errors.Is(err, gputide.ErrConflict):
		return "use --replace to overwrite the stored run, or give another --at"
	case errors.Is(err, context.Canceled):
		return "it was interrupted; crawl again"
	case errors.Is(err, gputide.ErrAuth):
		if k := keyHint(source, info); k != "" {
			return "check the credential: " + k
		}
		return "the source refused the request; check its terms and gputide providers"
	case errors.Is(err, gputide.ErrRateLimited):
		return "wait" + retryAfter(err) + " and crawl again"
	case errors.Is(err, gputide.ErrSchemaDrift):
		return "the source changed its form: look for a newer gputide or report it; the last prices are kept"
	case errors.Is(err, gputide.ErrBlocked):
		return "the source does not want to be read this way; gputide does not evade"
	case errors.Is(err, gputide.ErrEmpty):
		return "nothing is concluded from an empty list; crawl again later"
	case errors.Is(err, gputide.ErrTooLarge):
		return "the body is larger than its source ever was: report it"
	case errors.Is(err, context.DeadlineExceeded):
		return "raise --deadline, or check the network and the proxy ($HTTPS_PROXY)"
	case errors.Is(err, gputide.ErrUnavailable):
		return "check the network and the proxy ($HTTPS_PROXY), or crawl again later; the last prices are kept"
	}
	return ""
}

func retryAfter(err error) string {
	if fe, ok := errors.AsType[*gputide.FetchError](err); ok && fe.RetryAfter > 0 {
		return " " + fe.RetryAfter.String()
	}
	return ""
}

func crawlTable() []column[crawlRow] {
	num := func(head string, shed int, v func(*crawlRow) int64) column[crawlRow] {
		return column[crawlRow]{head: head, cell: func(r *crawlRow) string { return strconv.FormatInt(v(r), 10) }, right: true, shed: shed}
	}
	return []column[crawlRow]{
		{head: "PROVIDER", cell: func(r *crawlRow) string { return r.Provider }},
		{head: "STATUS", cell: statusCell, paint: func(r *crawlRow) colours { return statusColour(r.Status) }},
		{head: "AT", cell: func(r *crawlRow) string { return deref(r.At) }, shed: 5},
		num("OFFERS", 0, func(r *crawlRow) int64 { return int64(r.Offers) }),
		num("NEW", 1, func(r *crawlRow) int64 { return int64(r.Result.FirstSeen) }),
		num("CHANGED", 0, func(r *crawlRow) int64 { return int64(r.Result.Changed) }),
		num("WITHDRAWN", 0, func(r *crawlRow) int64 { return int64(r.Result.Withdrawn) }),
		num("SKIPPED", 0, func(r *crawlRow) int64 { return r.SkippedRows }),
		num("RATES", 4, func(r *crawlRow) int64 { return int64(r.Result.Rates) }),
		{head: "SCOPES", cell: func(r *crawlRow) string {
			return (&runRow{ScopesDone: r.ScopesDone, ScopesFailed: r.ScopesFailed, ScopesHeld: r.ScopesHeld}).scopeText()
		}, shed: 2},
		{head: "TOOK", cell: func(r *crawlRow) string { return strconv.FormatFloat(r.DurationS, 'f', 1, 64) + "s" }, right: true, shed: 3},
	}
}

func statusCell(r *crawlRow) string {
	if r.Status == statusOK && r.Unchanged {
		return "ok, stored before"
	}
	return r.Status
}

func crawlColumns() []string {
	return []string{
		"provider", "status", "run_id", "at", "duration_s", "unchanged", "offers", "scopes_done", "scopes_failed", "scopes_held",
		"rows_skipped", "result.first_seen", "result.changed", "result.withdrawn", "result.returned", "result.held",
		"result.released", "result.confirmed", "result.specs", "result.signals", "result.rates", "sources", "problems", "notes",
	}
}
