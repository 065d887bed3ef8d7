package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
	Kind   string   `json:"kind"` // failed, held, needs_key, not_in_fixture
	Source *string  `json:"source"`
	Scopes []string `json:"scopes"`
	Text   string   `json:"text"`
	Hint   *string  `json:"hint"`
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
	return m.reportRows(form, rows)
}

// reportRows writes the outcome of providers in the form asked for.
func (m *Main) reportRows(form format, rows []crawlRow) error {
	if form != formatTable {
		_, err := writeRows(m.Stdout, form, crawlColumns(), sliceRows(rows))
		return err
	}
	if _, err := printTable(m.screen(m.Stdout), crawlTable(), rows); err != nil {
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
		switch n := len(p.Scopes); {
		case n == 1:
			where += " [" + p.Scopes[0] + "]"
		case n > 1:
			where += fmt.Sprintf(" [%d scopes]", n)
		}
		kind := strings.ReplaceAll(p.Kind, "_", " ")
		fmt.Fprintf(m.Stdout, "%s: %s: %s\n", clean(where), kind, clean(strings.TrimPrefix(p.Text, kind+": ")))
		if p.Hint != nil {
			fmt.Fprintf(m.Stdout, "  do: %s\n", clean(*p.Hint))
		}
	}
	for _, n := range r.Notes {
		told := slices.ContainsFunc(r.Problems, func(p problemOut) bool { return strings.HasSuffix(n, p.Text) })
		if !told {
			fmt.Fprintf(m.Stdout, "%s: note: %s\n", clean(r.Provider), clean(n))
		}
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

// problems lists what a reader of the report must act on: scopes that were not
// read, one entry for each cause, then sources that failed or were left unasked.
// What ended the run as a whole stands first.
func problems(r *crawler.Result, info gputide.Info) []problemOut {
	out := scopeProblems(r, info)
	failed := map[string]bool{}
	for _, p := range out {
		failed[deref(p.Source)] = true
	}
	for _, s := range r.Report.Sources {
		if p, ok := sourceProblem(&s, r.Err, info); ok && (p.Kind != problemFailed || !failed[s.Source]) {
			failed[s.Source] = true
			out = append(out, p)
		}
	}
	told := slices.ContainsFunc(out, func(p problemOut) bool { return p.Kind == problemFailed || p.Kind == problemHeld })
	if r.Err != nil && (!told || r.Commit.RunID == 0) {
		text := r.Err.Error()
		if he, ok := errors.AsType[*gputide.HintError](r.Err); ok {
			text = withoutHint(text, he)
		}
		whole := problemOut{Kind: problemFailed, Scopes: []string{}, Text: text, Hint: opt(errorHint(r.Err, "", info))}
		out = slices.Insert(out, 0, whole)
	}
	return out
}

// scopeProblems lists the scopes that failed or were held, together where the
// cause is the same.
func scopeProblems(r *crawler.Result, info gputide.Info) []problemOut {
	out := []problemOut{}
	for _, s := range r.Scopes {
		if s.Status == gputide.ScopeDone {
			continue
		}
		p := problemOut{Kind: problemFailed, Source: opt(s.Source), Text: s.Reason}
		hint := cmp.Or(textHint(s.Reason, s.Source, info), errorHint(r.Err, s.Source, info), "the last prices are kept; gputide runs show tells more")
		if s.Status == gputide.ScopeHeld {
			p.Kind, hint = problemHeld, "the last prices are kept; a later crawl that agrees is accepted"
		}
		p.Hint = opt(hint)
		i := slices.IndexFunc(out, func(q problemOut) bool {
			return q.Kind == p.Kind && deref(q.Source) == s.Source && q.Text == p.Text
		})
		if i < 0 {
			i = len(out)
			out = append(out, p)
		}
		out[i].Scopes = append(out[i].Scopes, s.Scope.String())
	}
	return out
}

func sourceProblem(s *gputide.SourceReport, err error, info gputide.Info) (problemOut, bool) {
	p := problemOut{Kind: problemFailed, Source: opt(s.Source), Scopes: []string{}, Text: s.Message}
	switch {
	case s.Status == gputide.SourceFailed:
		p.Hint = opt(cmp.Or(textHint(s.Message, s.Source, info), errorHint(err, s.Source, info)))
		return p, true
	case s.Status != gputide.SourceSkipped:
		return p, false
	case strings.Contains(s.Message, gputide.ErrNeedsKey.Error()):
		p.Kind = problemKey
		p.Hint = opt(keyHint(s.Source, info))
		if text, hint, ok := strings.Cut(strings.TrimSuffix(s.Message, ")"), " ("); ok {
			p.Text, p.Hint = text, opt(hint+givesText(s.Source, info))
		}
		return p, true
	case strings.Contains(s.Message, gputide.ErrNotInFixture.Error()):
		p.Kind, p.Text = problemFixture, strings.TrimPrefix(s.Message, s.Source+": ")
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
	return "set " + strings.Join(s.Env, " and ") + givesText(source, info)
}

// givesText says what the credential of a source adds.
func givesText(source string, info gputide.Info) string {
	s, ok := info.Source(source)
	if !ok || s.Gives == "" {
		return ""
	}
	return " for " + s.Gives
}

// errorHint says what to do about an error of a crawl; empty when nothing is
// known.
func errorHint(err error, source string, info gputide.Info) string {
	if he, ok := errors.AsType[*gputide.HintError](err); ok {
		return he.Hint
	}
	for _, h := range crawlHints() {
		if errors.Is(err, h.kind) {
			return h.text(source, info, retryAfter(err))
		}
	}
	return ""
}

// textHint is errorHint for an error of which a report kept the text.
func textHint(text, source string, info gputide.Info) string {
	for _, h := range crawlHints() {
		if strings.Contains(text, h.kind.Error()) {
			return h.text(source, info, "")
		}
	}
	return ""
}

// crawlHint is what to do about one kind of error.
type crawlHint struct {
	kind error
	hint string
}

// text is the hint for one source; delay is how long it asked to be left alone.
func (h crawlHint) text(source string, info gputide.Info, delay string) string {
	switch h.kind {
	case gputide.ErrAuth:
		if k := keyHint(source, info); k != "" {
			return "check the credential: " + k
		}
	case gputide.ErrRateLimited:
		return "wait" + delay + " and crawl again"
	}
	return h.hint
}

// crawlHints lists the kinds of error; the first that an error is counts.
func crawlHints() []crawlHint {
	return []crawlHint{
		{gputide.ErrConflict, "use --replace to overwrite the stored run, or give another --at"},
		{context.Canceled, "it was interrupted; crawl again"},
		{gputide.ErrAuth, "the source refused the request; check its terms and gputide providers"},
		{gputide.ErrRateLimited, "wait and crawl again"},
		{gputide.ErrSchemaDrift, "the source changed its form: look for a newer gputide or report it; the last prices are kept"},
		{gputide.ErrBlocked, "the source does not want to be read this way; gputide does not evade"},
		{gputide.ErrEmpty, "nothing is concluded from an empty list; crawl again later"},
		{gputide.ErrTooLarge, "the body is larger than its source ever was: report it"},
		{context.DeadlineExceeded, "raise --deadline, or check the network and the proxy ($HTTPS_PROXY)"},
		{gputide.ErrUnavailable, "check the network and the proxy ($HTTPS_PROXY), or crawl again later; the last prices are kept"},
	}
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
