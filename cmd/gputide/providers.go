package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/api"
)

const providersLong = `The clouds this build reads: their sources in order of authority, the key a source
needs and what a key would add, how well the adapter is proven, and when the
provider was last read.

Evidence: recorded is proven on bodies of the live source, documented on bodies
made from its published reference, composed on real figures in the true form.`

// providerOut is one provider: the JSON of providers.
type providerOut struct {
	Provider   string          `json:"provider"`
	Title      string          `json:"title"`
	Home       string          `json:"home"`
	Markets    []string        `json:"markets"`
	Currencies []string        `json:"currencies"`
	Partitions []string        `json:"partitions"`
	CadenceS   int64           `json:"cadence_s"`
	Evidence   string          `json:"evidence"`
	Note       *string         `json:"note"`
	Sources    []sourceInfoOut `json:"sources"`
	LastGood   *string         `json:"last_good_run_at"` // newest run with a scope read to its end
	LastRun    *string         `json:"last_run_at"`
	LastStatus *string         `json:"last_run_status"`
	AgeS       *int64          `json:"age_s"`  // since last_good_run_at
	Offers     *int            `json:"offers"` // listed now; null without a database

	titleZH string // for tables
}

// sourceInfoOut is one source of a provider.
type sourceInfoOut struct {
	Source string   `json:"source"`
	Title  string   `json:"title"`
	URL    *string  `json:"url"`
	Doc    *string  `json:"doc"`
	Auth   string   `json:"auth"`
	Env    []string `json:"env"`
	Gives  *string  `json:"gives"`
	Prices bool     `json:"prices"`
	EnvSet []string `json:"env_set"` // those of env that have a value
}

func (m *Main) providersCmd() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "providers", Short: "The clouds this build reads, their sources, keys and last runs", Long: providersLong, Args: noArgs,
		Example: `  gputide providers
  gputide providers -o json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := oneOf("output", out, listFormats[:])
			if err != nil {
				return err
			}
			return m.providers(cmd.Context(), f)
		},
	}
	formatFlag(cmd, &out, listFormats[:])
	return cmd
}

func (m *Main) providers(ctx context.Context, f format) error {
	rows, err := m.providerRows()
	if err != nil {
		return err
	}
	if err := m.askRuns(ctx, rows); err != nil {
		return err
	}
	if f != formatTable {
		_, err := writeRows(m.Stdout, f, providerColumns(), sliceRows(rows))
		return err
	}
	noRoom, err := printTable(m.screen(m.Stdout), m.providerTable(), rows)
	if err != nil {
		return err
	}
	for i := range rows {
		m.printSources(&rows[i])
	}
	m.footer(answer{noRoom: noRoom})
	return nil
}

func newProviderOut(info *gputide.Info, s *secrets) providerOut {
	row := providerOut{
		Provider: info.Name, Title: info.Title, Home: info.Home, Markets: texts(info.Markets), Currencies: texts(info.Currencies),
		Partitions: texts(info.Partitions), CadenceS: int64(info.Cadence / time.Second), Evidence: string(info.Evidence),
		Note: opt(info.Note), Sources: []sourceInfoOut{}, titleZH: info.TitleZH,
	}
	for _, src := range info.Sources {
		auth := src.Auth
		if auth == "" {
			auth = gputide.AuthNone
		}
		row.Sources = append(row.Sources, sourceInfoOut{
			Source: src.ID, Title: src.Title, URL: opt(src.URL), Doc: opt(src.Doc), Auth: string(auth), Env: texts(src.Env),
			Gives: opt(src.Gives), Prices: src.Prices,
			EnvSet: slices.DeleteFunc(texts(src.Env), func(name string) bool { return s.get(name) == "" }),
		})
	}
	return row
}

// providerRows returns the providers of this build, with what is known of them
// without a database.
func (m *Main) providerRows() ([]providerOut, error) {
	s, err := m.loadSecrets()
	if err != nil {
		return nil, err
	}
	infos := m.infos()
	rows := make([]providerOut, len(infos))
	for i := range infos {
		rows[i] = newProviderOut(&infos[i], s)
	}
	return rows, nil
}

// askRuns adds what the database knows; without one the columns stay empty.
func (m *Main) askRuns(ctx context.Context, rows []providerOut) error {
	a, err := m.open(ctx)
	if errors.Is(err, gputide.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer a.close()
	ans, err := ask(ctx, a, m.providersQuestion(), struct{}{})
	if err != nil {
		return err
	}
	for i := range rows {
		k := slices.IndexFunc(ans.Rows, func(p providerOut) bool { return p.Provider == rows[i].Provider })
		if k >= 0 {
			r := &ans.Rows[k]
			rows[i].LastGood, rows[i].LastRun, rows[i].LastStatus, rows[i].AgeS, rows[i].Offers = r.LastGood, r.LastRun, r.LastStatus, r.AgeS, r.Offers
		}
	}
	return nil
}

// addRuns adds what the database knows.
func addRuns(ctx context.Context, db api.Store, rows []providerOut, now time.Time) error {
	for i := range rows {
		row := &rows[i]
		runs, err := db.Runs(ctx, row.Provider, maxRunsBack)
		if err != nil {
			return err
		}
		addRun(row, runs, now)
		quotes, err := db.Quotes(ctx, gputide.Selection{Matches: []gputide.Match{
			{Field: gputide.FieldProvider, Values: []string{row.Provider}},
		}}, now)
		if err != nil {
			return err
		}
		n := 0
		for i := range quotes {
			if s := quotes[i].State; s != gputide.StateWithdrawn && s != gputide.StateUnknown {
				n++
			}
		}
		row.Offers = &n
	}
	return nil
}

// maxRunsBack is how many runs are looked through for a good one.
const maxRunsBack = 100

// addRun adds the newest crawl and the newest good one. An import of other
// people's records, or a crawl into the past, is neither however late it came.
func addRun(row *providerOut, recorded []gputide.RunRecord, now time.Time) {
	runs := slices.DeleteFunc(slices.Clone(recorded), func(r gputide.RunRecord) bool { return r.Cause == gputide.CauseImport })
	slices.SortStableFunc(runs, func(a, b gputide.RunRecord) int { return b.At.Compare(a.At) })
	for i := range runs {
		if i == 0 {
			row.LastRun = opt(stamp(runs[0].At))
			row.LastStatus = opt(runStatus(runs[0].Scopes, runs[0].Err))
		}
		done := slices.ContainsFunc(runs[i].Scopes, func(s gputide.ScopeRun) bool { return s.Status == gputide.ScopeDone })
		if !done && runStatus(runs[i].Scopes, runs[i].Err) != statusOK {
			continue
		}
		row.LastGood = opt(stamp(runs[i].At))
		age := max(int64(now.Sub(runs[i].At)/time.Second), 0)
		row.AgeS = &age
		return
	}
}

// printSources writes, below the table, the sources of a provider.
func (m *Main) printSources(p *providerOut) {
	title := p.Title
	if m.lang == langZH && p.titleZH != "" {
		title = p.titleZH
	}
	fmt.Fprintf(m.Stdout, "\n%s  %s\n", p.Provider, title)
	for _, s := range p.Sources {
		fmt.Fprintf(m.Stdout, "  %s: %s\n", s.Source, clean(s.Title))
		if len(s.Env) == 0 {
			continue
		}
		names := make([]string, len(s.Env))
		for i, name := range s.Env {
			state := m.lang.say(" (not set)")
			if slices.Contains(s.EnvSet, name) {
				state = m.lang.say(" (set)")
			}
			names[i] = name + state
		}
		line := m.lang.say("    key: ") + strings.Join(names, ", ")
		if s.Gives != nil {
			line += m.lang.say("; gives ") + clean(*s.Gives)
		}
		fmt.Fprintln(m.Stdout, line)
	}
	if p.Note != nil {
		fmt.Fprintf(m.Stdout, m.lang.say("  note: %s\n"), clean(*p.Note))
	}
}

func (m *Main) providerTable() []column[providerOut] {
	return []column[providerOut]{
		{head: "PROVIDER", cell: func(p *providerOut) string { return p.Provider }},
		{head: "MARKETS", cell: func(p *providerOut) string { return strings.Join(p.Markets, " ") }, least: 9, shed: 2},
		{head: "SOURCES", cell: func(p *providerOut) string { return strconv.Itoa(len(p.Sources)) }, right: true, shed: 4},
		{head: "KEY", cell: keyCell},
		{head: "EVIDENCE", cell: func(p *providerOut) string { return p.Evidence }, shed: 1},
		{head: "EVERY", cell: func(p *providerOut) string { return ago(seconds(p.CadenceS)) }, right: true, shed: 3},
		{head: "LAST GOOD", cell: func(p *providerOut) string {
			if p.LastGood == nil {
				return "never"
			}
			return *p.LastGood
		}},
		{head: "AGE", cell: func(p *providerOut) string {
			if p.AgeS == nil {
				return ""
			}
			return ago(seconds(*p.AgeS))
		}, right: true},
		{head: "OFFERS", cell: func(p *providerOut) string {
			if p.Offers == nil {
				return ""
			}
			return strconv.Itoa(*p.Offers)
		}, right: true},
	}
}

// keyCell says whether any source of a provider wants a key.
func keyCell(p *providerOut) string {
	wants, free, has := false, false, true
	for _, s := range p.Sources {
		switch {
		case len(s.Env) == 0:
			free = free || s.Prices
		default:
			wants = true
			has = has && len(s.EnvSet) > 0
		}
	}
	switch {
	case !wants:
		return "not needed"
	case has:
		return "set"
	case free:
		return "optional"
	}
	return "needed"
}

func providerColumns() []string {
	return []string{
		"provider", "title", "home", "markets", "currencies", "partitions", "cadence_s", "evidence", "note", "sources",
		"last_good_run_at", "last_run_at", "last_run_status", "age_s", "offers",
	}
}

// texts makes a list of plain strings, empty and not null.
func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}
