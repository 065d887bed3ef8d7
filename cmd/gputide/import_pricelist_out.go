package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/aws"
)

// pricelistOut is what became of an import of archived price lists: its JSON.
type pricelistOut struct {
	Region       string             `json:"region"`
	Bytes        int64              `json:"bytes"`         // of the versions not stored before, as far as known
	BytesUnknown int                `json:"bytes_unknown"` // how many of them have no known length
	Versions     []pricelistVersion `json:"versions"`
}

// pricelistVersion is what became of one version.
type pricelistVersion struct {
	Version            string           `json:"version"`
	At                 string           `json:"at"` // when it was published
	Begin              string           `json:"begin"`
	End                *string          `json:"end"`
	URL                string           `json:"url"`
	AllRegions         bool             `json:"all_regions"`
	Bytes              *int64           `json:"bytes"`
	State              string           `json:"state"`
	Error              *string          `json:"error"`
	Offers             int64            `json:"offers"`
	LeftOut            int64            `json:"left_out"`
	Rejected           map[string]int64 `json:"rejected"`
	WithoutWithdrawals bool             `json:"without_withdrawals"`
	FirstSeen          int              `json:"first_seen"`
	Changed            int              `json:"changed"`
	Confirmed          int              `json:"confirmed"`
	Withdrawn          int              `json:"withdrawn"`
	Returned           int              `json:"returned"`
}

func newPricelistVersion(l *aws.ListVersion) pricelistVersion {
	v := pricelistVersion{
		Version: l.Version, At: stamp(l.At), Begin: stamp(l.Begin), URL: l.URL, AllRegions: l.AllRegions,
		State: pricelistToFetch, Rejected: map[string]int64{},
	}
	if !l.End.IsZero() {
		v.End = opt(stamp(l.End))
	}
	if l.Bytes >= 0 {
		v.Bytes = &l.Bytes
	}
	return v
}

// pricelistReport writes the plan, or what became of it.
func (m *Main) pricelistReport(form format, im *pricelistImport) error {
	out := pricelistOut{Region: im.region, Versions: im.versions}
	for _, v := range im.versions {
		switch {
		case v.State == pricelistStored:
		case v.Bytes == nil:
			out.BytesUnknown++
		default:
			out.Bytes += *v.Bytes
		}
	}
	if form == formatJSON {
		return writeObject(m.Stdout, &out)
	}
	w := m.Stdout
	for _, v := range out.Versions {
		size := "? bytes"
		if v.Bytes != nil {
			size = bytesText(*v.Bytes)
		}
		where := ""
		if v.AllRegions {
			where = ", of all regions"
		}
		fmt.Fprintf(w, "%s  in force from %s  %s%s  %s\n", v.Version, v.Begin, size, where, strings.ReplaceAll(v.State, "_", " "))
		if v.State == pricelistImported {
			fmt.Fprintf(w, "  offers %d, first seen %d, price changes %d, confirmed %d, withdrawn %d, returned %d; left out %d\n",
				v.Offers, v.FirstSeen, v.Changed, v.Confirmed, v.Withdrawn, v.Returned, v.LeftOut)
		}
		for _, reason := range slices.Sorted(maps.Keys(v.Rejected)) {
			fmt.Fprintf(w, "  rejected %s %d\n", clean(reason), v.Rejected[reason])
		}
		if v.WithoutWithdrawals {
			fmt.Fprintln(w, "  nothing was withdrawn: what is missing may be a rejected row")
		}
	}
	if n := len(out.Versions) - im.countStored(); n > 0 {
		fmt.Fprintf(w, "bytes to fetch    %d (%s) for %d versions", out.Bytes, bytesText(out.Bytes), n)
		if out.BytesUnknown > 0 {
			fmt.Fprintf(w, ", and those of %d of unknown length", out.BytesUnknown)
		}
		fmt.Fprintln(w)
	}
	return nil
}

// countStored returns how many versions were stored before.
func (im *pricelistImport) countStored() int {
	n := 0
	for i := range im.versions {
		if im.versions[i].State == pricelistStored {
			n++
		}
	}
	return n
}

// pricelistSink takes the rows of one version and keeps the accelerated ones.
type pricelistSink struct {
	im       *pricelistImport
	at       time.Time
	rows     []gputide.ImportRow
	types    map[string]bool // instance type → accelerated
	held     []string        // types of rows whose key is known and whose price is not
	blind    int64           // rows that do not say what they are
	leftOut  int64
	rejected map[string]int64
	full     bool
}

// Offer keeps a row of a type with an accelerator.
func (in *pricelistSink) Offer(raw gputide.RawOffer) {
	in.im.rows.Add(1)
	accelerated := raw.Spec != nil && in.im.norm.Accelerated(raw.Spec)
	in.types[raw.Key.InstanceType] = accelerated
	if !accelerated {
		in.leftOut++
		return
	}
	offer, err := in.im.norm.Offer(&raw, raw.Spec)
	if err != nil {
		in.held = append(in.held, raw.Key.InstanceType)
		in.rejected["refused"]++
		return
	}
	if in.full = len(in.rows) == maxPricelistOffers; !in.full {
		in.rows = append(in.rows, gputide.ImportRow{At: in.at, Offer: offer, Spec: raw.Spec})
	}
}

// Skip counts a row that cannot be read.
func (in *pricelistSink) Skip(s gputide.Skipped) {
	in.im.rows.Add(1)
	in.rejected[s.Reason]++
	if s.Key == nil {
		in.blind++
		return
	}
	in.held = append(in.held, s.Key.InstanceType)
}

// Omit counts rows that are no offers.
func (in *pricelistSink) Omit(_, _ string, rows int64) {
	in.im.rows.Add(rows)
	in.leftOut += rows
}

// Spec, Signal, Rate, Scope and Source take what a list does not say.
func (*pricelistSink) Spec(gputide.Spec)                          {}
func (*pricelistSink) Signal(gputide.Signal)                      {}
func (*pricelistSink) Rate(gputide.Rate)                          {}
func (*pricelistSink) Scope(gputide.ScopeRun)                     {}
func (*pricelistSink) Source(string, gputide.SourceStatus, error) {}

// incomplete reports whether a row that could not be read may be an offer with
// an accelerator.
func (in *pricelistSink) incomplete() bool {
	return in.blind > 0 || slices.ContainsFunc(in.held, func(typ string) bool {
		accelerated, known := in.types[typ]
		return accelerated || !known
	})
}

// each hands the rows on.
func (in *pricelistSink) each(yield func(gputide.ImportRow, error) bool) {
	for i := range in.rows {
		if !yield(in.rows[i], nil) {
			return
		}
	}
}
