package importcsv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
)

// exported passes on the rows of an export, CSV or NDJSON.
func (r *Reader) exported(ctx context.Context, pass func(*gputide.ImportRow) bool) error {
	x := exportReader{r: r, pass: pass, keys: make(map[gputide.Key]exportedKey)}
	if r.layout != nil {
		return r.each(ctx, func(cells []string) (Reason, bool) {
			var w exportWire
			if err := w.fromCells(cells); err != nil {
				return ReasonColumns, true
			}
			return x.take(&w)
		})
	}
	for {
		ok, err := r.l.next()
		if err != nil || !ok {
			return err
		}
		if len(bytes.TrimSpace(r.l.text)) == 0 {
			continue
		}
		if err := r.count(ctx); err != nil {
			return err
		}
		var w exportWire
		dec := json.NewDecoder(bytes.NewReader(r.l.text))
		dec.DisallowUnknownFields()
		reason, more := ReasonColumns, true
		if err := dec.Decode(&w); err == nil && !dec.More() {
			reason, more = x.take(&w)
		}
		if reason != "" {
			r.tally.note(r.l.n, reason, r.l.text)
		}
		if !more {
			return nil
		}
	}
}

// exportReader turns rows of an export into rows of an import.
type exportReader struct {
	r    *Reader
	pass func(*gputide.ImportRow) bool
	keys map[gputide.Key]exportedKey
}

// exportedKey is what was found out of a key.
type exportedKey struct {
	id     string
	reason Reason
}

func (x *exportReader) take(w *exportWire) (Reason, bool) {
	at, ok := x.r.moment(w.Time)
	if !ok {
		return ReasonTime, true
	}
	k := w.key()
	known, ok := x.keys[k]
	if !ok {
		known = x.check(k)
		x.keys[k] = known
	}
	switch {
	case known.reason != "":
		return known.reason, true
	case w.ID != known.id:
		return ReasonID, true
	}
	row := gputide.ImportRow{At: at, Offer: gputide.Offer{Key: k}}
	switch w.State {
	case gputide.StatePriced:
	case gputide.StateHeld, gputide.StateWithdrawn:
		row.State = w.State
		return "", x.pass(&row)
	default:
		return ReasonColumns, true
	}
	if reason := x.price(w, &row); reason != "" {
		return reason, true
	}
	return "", x.pass(&row)
}

// check looks at a key as the normalizer would: one that it changes or refuses
// cannot have been exported.
func (x *exportReader) check(k gputide.Key) exportedKey {
	raw := gputide.RawOffer{Source: x.r.source(), Key: k, Price: gputide.Published{Amount: "1", Unit: gputide.PerHour, Basis: gputide.BasisInstance}}
	o, err := x.r.opt.Normalizer.Offer(&raw, nil)
	if refused, ok := errors.AsType[*normalize.Refusal](err); ok {
		return exportedKey{reason: Reason(refused.Reason)}
	}
	if err != nil || o.Key != k {
		return exportedKey{reason: Reason(normalize.ReasonBadKey)}
	}
	return exportedKey{id: k.ID().String()}
}

// price takes the price of a row, which must be that of its published amounts.
func (x *exportReader) price(w *exportWire, row *gputide.ImportRow) Reason {
	o := &row.Offer
	o.Source, o.SKU, o.Flags = x.r.source(), w.SKU, w.Flags
	o.Published = gputide.Published{Amount: w.Amount, Unit: w.Unit, Basis: w.Basis, Upfront: w.Upfront}
	for _, c := range w.Components {
		o.Published.Components = append(o.Published.Components, gputide.Component(c))
	}
	if w.Multiplier != "" {
		var err error
		if o.Published.Multiplier, err = gputide.ParseCount(w.Multiplier); err != nil {
			return ReasonCount
		}
	}
	stated, err := gputide.ParseNano(w.Price)
	if err != nil || stated <= 0 {
		return ReasonPrice
	}
	published := o.Published
	if o.Price, _, err = normalize.Hourly(published, o.Key.Term, gputide.Count{}, nil); err != nil {
		return ReasonPrice
	}
	if o.Price != stated {
		return ReasonID
	}
	row.Spec, err = decodeSpec(w.Spec)
	if err != nil {
		return ReasonSpec
	}
	if row.Spec != nil {
		row.Spec.Provider, row.Spec.Partition, row.Spec.InstanceType = o.Key.Provider, o.Key.Partition, o.Key.InstanceType
	}
	return ""
}
