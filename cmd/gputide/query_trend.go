package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/query"
)

const trendLong = `How prices moved, by group and bucket of time.

A filter selects the offers it selects at the end of the window; what they cost
before is followed back. Offers of different accelerator forms (PCIe, SXM),
markets, terms or statistics (list, min) stand in groups of their own; --mix puts
them together. Currencies are kept apart unless --in converts them.

--over time weighs each price by how long it was in force; time in which an offer
was withdrawn, held, stale or its source failed counts for nothing, and COVERED
tells how much is left. --over rows takes the observations inside the window.

FIRST and LAST are the medians of the first and the last price of each series; n
counts series (rows with --over rows), entered and left those that had no price
in the bucket before, or have none any more.

` + listHelp

const trendExample = `  gputide query trend --gpu h100 --market on_demand --since 1y --bucket month --per gpu
  gputide query trend --gpu h100,h200 --market spot --group-by gpu,provider --per gpu --index
  gputide query trend --type p5.48xlarge --region us-east-1 --bucket year --in EUR
  gputide query trend --gpu mi300x --per tflops:fp8 --basket fixed --chart mi300x.svg
  gputide query trend --type a3-highgpu-8g --group-by region --over rows --bucket all -o json`

// trendFlags are the flags of `query trend` beside its filters.
type trendFlags struct {
	windowFlags
	groupBy, mix                []string
	bucket, per, in, fx, basket string
	budget, out, chart          string
	index                       bool
	limit                       int
}

func (m *Main) trendCmd() *cobra.Command {
	var o trendFlags
	cmd := &cobra.Command{
		Use: "trend", Short: "How prices moved", Long: trendLong, Example: trendExample, Args: noArgs,
	}
	filter := addFilters(cmd, forOffers)
	f := cmd.Flags()
	o.add(cmd)
	listFlag(cmd, &o.groupBy, "group-by", "FIELD", "group by fields of the offer, the accelerator or the machine: gpu, model, provider, region, country, instance_type, count, … (default gpu)")
	f.StringVar(&o.bucket, "bucket", query.BucketAuto, "`BUCKET` of time: "+strings.Join(query.Buckets(), ", "))
	f.StringVar(&o.per, "per", query.PerInstance, "price one hour of a `UNIT`: instance, gpu, gb (of accelerator memory), gbps (GB/s of its bandwidth), tflops:PRECISION")
	f.StringVar(&o.in, "in", "", "convert prices to a `CURRENCY`, with the rate of each day")
	f.StringVar(&o.fx, "fx", "then", "`WHICH` exchange rate: then (of each day) or now")
	f.StringVar(&o.basket, "basket", "", "`fixed` uses only series present in every bucket")
	f.BoolVar(&o.index, "index", false, "chain the moves of matched series from 100")
	listFlag(cmd, &o.mix, "mix", "FIELD", "put together what is kept apart: "+strings.Join(query.MixFields(), ", "))
	f.StringVar(&o.budget, "budget", "", "tell how much of the time the price was at most `AMOUNT`, in the unit and currency of the answer")
	f.StringVar(&o.chart, "chart", "", "write a chart to `FILE`.svg")
	limitFlag(cmd, &o.limit, 0)
	formatFlag(cmd, &o.out, listFormats[:])
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return m.trend(cmd.Context(), o, *filter)
	}
	return cmd
}

func (m *Main) trendRequest(o *trendFlags, filter query.Filter) (query.TrendRequest, error) {
	req := query.TrendRequest{
		Filter: filter, Over: o.over, GroupBy: o.groupBy, Mix: o.mix, Bucket: o.bucket, Per: o.per, In: strings.ToUpper(o.in),
		Basket: o.basket, Index: o.index, Budget: o.budget, Limit: o.limit,
	}
	if err := checkLimit(o.limit); err != nil {
		return req, err
	}
	if err := checkChart(o.chart); err != nil {
		return req, err
	}
	fx, err := oneOf("fx", o.fx, []string{"then", "now"})
	if err != nil {
		return req, err
	}
	req.FXNow = fx == "now"
	req.From, req.To, err = o.window(m.Now())
	return req, err
}

func (m *Main) trend(ctx context.Context, o trendFlags, filter query.Filter) error {
	form, err := oneOf("output", o.out, listFormats[:])
	if err != nil {
		return err
	}
	req, err := m.trendRequest(&o, filter)
	if err != nil {
		return err
	}
	ans, err := askOnce(ctx, m, api.Trend(), req)
	if err != nil {
		return err
	}
	end := answer{shown: len(ans.Rows), total: ans.Total, noun: "rows", hidden: ans.Hidden, empty: ans.Empty, more: "--limit 0 shows all", noAll: true}
	if form != formatTable {
		_, err = writeRows(m.Stdout, form, trendColumns(ans.Fields), sliceRows(ans.Rows))
	} else if len(ans.Rows) > 0 {
		end.noRoom, err = printTable(m.screen(m.Stdout), trendTable(&ans), ans.Rows)
	}
	if err != nil {
		return err
	}
	if form == formatTable {
		err = m.drawFigure(m.Stdout, trendFigure(&ans))
	}
	if err == nil && o.chart != "" && len(ans.Rows) > 0 {
		err = writeChart(o.chart, trendFigure(&ans))
	}
	m.trendNotes(&ans)
	m.footer(end)
	return err
}

// trendNotes writes to stderr what the rows do not say of their making.
func (m *Main) trendNotes(ans *query.TrendAnswer) {
	if len(ans.Rows) == 0 {
		return
	}
	for _, s := range ans.Skipped {
		fmt.Fprintf(m.Stderr, "left out: %d series: %s\n", s.Count, clean(s.Reason))
	}
	if len(ans.Mixed) > 0 {
		fmt.Fprintf(m.Stderr, "some group mixes different %s; a filter, or --group-by, keeps them apart\n", strings.Join(ans.Mixed, ", "))
	}
}

// trendTable is the table of a trend for people: the fields in which its groups
// differ, or the first.
func trendTable(ans *query.TrendAnswer) []column[query.TrendRow] {
	var cols []column[query.TrendRow]
	for i, f := range ans.Fields {
		if i > 0 && !differs(ans.Rows, f) {
			continue
		}
		c := column[query.TrendRow]{
			head: strings.ToUpper(strings.ReplaceAll(f, "_", " ")), least: 16,
			cell: func(r *query.TrendRow) string { return r.Group.Get(f) },
		}
		cols = append(cols, c)
	}
	price := func(head string, shed int, of func(r *query.TrendRow) *query.Money) column[query.TrendRow] {
		return column[query.TrendRow]{head: head, right: true, shed: shed, cell: func(r *query.TrendRow) string {
			return priceText(of(r), string(r.Currency), false)
		}}
	}
	return append(cols,
		column[query.TrendRow]{head: "FROM", cell: func(r *query.TrendRow) string { return bucketText(ans.Bucket, r) }},
		price("MIN", 3, func(r *query.TrendRow) *query.Money { return r.Min }),
		price("P5", 9, func(r *query.TrendRow) *query.Money { return r.P5 }),
		price("P50", 0, func(r *query.TrendRow) *query.Money { return r.P50 }),
		price("P95", 9, func(r *query.TrendRow) *query.Money { return r.P95 }),
		price("MAX", 3, func(r *query.TrendRow) *query.Money { return r.Max }),
		price("MEAN", 4, func(r *query.TrendRow) *query.Money { return r.Mean }),
		price("FIRST", 8, func(r *query.TrendRow) *query.Money { return r.First }),
		price("LAST", 5, func(r *query.TrendRow) *query.Money { return r.Last }),
		column[query.TrendRow]{head: "%", right: true, shed: 2, paint: trendColour, cell: func(r *query.TrendRow) string { return signedPercent(r.ChangePct) }},
		column[query.TrendRow]{head: "INDEX", right: true, shed: 1, cell: func(r *query.TrendRow) string { return shortFraction(r.Index) }},
		column[query.TrendRow]{head: "<= BUDGET", right: true, shed: 1, cell: func(r *query.TrendRow) string { return shareText(r.ShareOfTimeLE) }},
		column[query.TrendRow]{head: "N", right: true, shed: 6, cell: func(r *query.TrendRow) string { return fmt.Sprint(r.N) }},
		column[query.TrendRow]{head: "IN", right: true, shed: 10, cell: func(r *query.TrendRow) string { return countText(r.Entered) }},
		column[query.TrendRow]{head: "OUT", right: true, shed: 10, cell: func(r *query.TrendRow) string { return countText(r.Left) }},
		column[query.TrendRow]{head: "MOVES", right: true, shed: 7, cell: func(r *query.TrendRow) string { return countText(r.Changes) }},
		column[query.TrendRow]{head: "COVERED", right: true, shed: 11, cell: func(r *query.TrendRow) string { return shareText(r.CoveredShare) }},
	)
}

func differs(rows []query.TrendRow, field string) bool {
	return slices.ContainsFunc(rows, func(r query.TrendRow) bool { return r.Group.Get(field) != rows[0].Group.Get(field) })
}

// bucketText is the start of a bucket, as short as its length allows.
func bucketText(bucket string, r *query.TrendRow) string {
	t := r.BucketStart.Time
	switch bucket {
	case query.BucketHour, query.BucketAll:
		return t.Format("2006-01-02T15:04")
	case query.BucketMonth, query.BucketQuarter:
		return t.Format("2006-01")
	case query.BucketYear:
		return t.Format("2006")
	}
	return t.Format("2006-01-02")
}

// countText is a count, empty for none.
func countText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// shareText is a share in percent.
func shareText(f *query.Fraction) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%.1f%%", 100*f.Float())
}

func shortFraction(f *query.Fraction) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%.2f", f.Float())
}

// trendColour marks rises and falls.
func trendColour(r *query.TrendRow) colours {
	switch {
	case r.ChangePct == nil || *r.ChangePct == 0:
		return nil
	case *r.ChangePct > 0:
		return colours{text.FgRed}
	}
	return colours{text.FgGreen}
}

// trendColumns are the CSV columns of a trend grouped by fields.
func trendColumns(fields []string) []string {
	var out []string
	for _, f := range fields {
		out = append(out, "group."+f)
	}
	return append(out, "bucket_start", "currency", "unit", "over", "n", "series", "changes", "entered", "left", "min", "p5", "p50",
		"p95", "mean", "max", "first", "last", "change_pct", "covered_share", "share_of_time_le", "index")
}

// trendFigure is the chart of a trend: the median of each group, or its index.
func trendFigure(ans *query.TrendAnswer) figure {
	fig := figure{title: "price of one " + unitText(ans) + "-hour, median", bucket: ans.Bucket}
	index := slices.ContainsFunc(ans.Rows, func(r query.TrendRow) bool { return r.Index != nil })
	if index {
		fig.title = "index of matched series, start = 100"
	}
	var line *figureLine
	for i := range ans.Rows {
		r := &ans.Rows[i]
		if i == 0 || !slices.Equal(r.Group, ans.Rows[i-1].Group) || r.Currency != ans.Rows[i-1].Currency {
			fig.lines = append(fig.lines, figureLine{name: groupText(ans, r)})
			line = &fig.lines[len(fig.lines)-1]
		}
		if y, ok := height(r, index); ok {
			line.points = append(line.points, point{r.BucketStart.Time, y})
		}
	}
	return fig
}

// height is what a row is in a chart; false when it has nothing to show.
func height(r *query.TrendRow, index bool) (float64, bool) {
	switch {
	case index && r.Index != nil:
		return r.Index.Float(), true
	case !index && r.P50 != nil:
		return units(*r.P50), true
	}
	return 0, false
}

func unitText(ans *query.TrendAnswer) string {
	if len(ans.Rows) == 0 {
		return query.PerInstance
	}
	return string(ans.Rows[0].Unit)
}

// groupText names a group by the fields in which groups differ.
func groupText(ans *query.TrendAnswer, r *query.TrendRow) string {
	var parts []string
	for i, f := range ans.Fields {
		if v := r.Group.Get(f); v != "" && (i == 0 || differs(ans.Rows, f)) {
			parts = append(parts, v)
		}
	}
	return clean(strings.Join(append(parts, string(r.Currency)), " "))
}
