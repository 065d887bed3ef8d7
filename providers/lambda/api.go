package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// reply is the answer of the API: a row per name of an instance type. Rows are
// decoded one by one, so that a broken one touches no other.
type reply struct {
	Data map[string]json.RawMessage `json:"data"`
}

type typeRow struct {
	InstanceType *instanceType `json:"instance_type"`
	Regions      *[]struct {
		Name string `json:"name"`
	} `json:"regions_with_capacity_available"` // empty: nowhere to be had now

	name string          // under which the row stands
	text json.RawMessage // the row
}

// instanceType is one type. A trimmed recording has neither descriptions nor
// specs.
type instanceType struct {
	Name           string          `json:"name"`
	Description    string          `json:"description"`     // "8x H100 (80 GB SXM5)"
	GPUDescription string          `json:"gpu_description"` // "H100 (80 GB SXM5)"
	PriceCents     json.RawMessage `json:"price_cents_per_hour"`
	Specs          struct {
		VCPUs      *float64 `json:"vcpus"`
		MemoryGiB  *float64 `json:"memory_gib"`
		StorageGiB *float64 `json:"storage_gib"`
		GPUs       *int     `json:"gpus"`
	} `json:"specs"`
}

// api reads prices and stock from the API.
func (r *run) api(ctx context.Context) error {
	key := r.key
	switch {
	case r.http.Replaying():
		key = "replay"
	case key == "":
		return &gputide.HintError{Err: gputide.ErrNeedsKey, Hint: "set " + envKey}
	}
	var answer reply
	url, err := r.http.JSON(ctx, fetch.Request{
		Source: sourceAPI, URL: apiURL, Header: map[string][]string{"Authorization": {"Bearer " + key}},
	}, &answer)
	var rows []typeRow
	if err == nil {
		rows, err = r.rows(answer.Data)
	}
	if errors.Is(err, gputide.ErrNotInFixture) {
		return err
	}
	if err != nil {
		r.failStock(err)
		return err
	}
	for i := range rows {
		rows[i].addPrice(r.b, r.table)
	}
	r.b.Done(sourceAPI, scope(), url)
	if r.stock = lostRegions(rows); r.stock != nil {
		r.failStock(r.stock)
		return nil
	}
	for i := range rows {
		rows[i].addStock(r.b)
	}
	r.b.Done(sourceAPI, stockScope(), url)
	return nil
}

// failStock reports that the stock was not read. It does not fail the source:
// the prices may be well.
func (r *run) failStock(err error) {
	r.b.Report(gputide.ScopeRun{Scope: stockScope(), Status: gputide.ScopeFailed, Source: sourceAPI, Reason: err.Error()})
}

// rows decodes the rows in the order of their names. A field that no row has is
// drift.
func (r *run) rows(data map[string]json.RawMessage) ([]typeRow, error) {
	switch {
	case data == nil:
		return nil, drift(sourceAPI, "data", "an object", "none")
	case len(data) == 0:
		return nil, fmt.Errorf("%s: %w: data", sourceAPI, gputide.ErrEmpty)
	}
	var rows []typeRow
	named, priced := false, false
	for _, name := range slices.Sorted(maps.Keys(data)) {
		var row typeRow
		if err := json.Unmarshal(data[name], &row); err != nil || row.InstanceType == nil {
			row.InstanceType = nil
		} else {
			named = named || row.InstanceType.Name != ""
			priced = priced || row.InstanceType.PriceCents != nil
		}
		row.name, row.text = name, data[name]
		rows = append(rows, row)
	}
	for _, f := range []struct {
		name string
		seen bool
	}{{"name", named}, {"price_cents_per_hour", priced}} {
		if !f.seen {
			return nil, drift(sourceAPI, "data.*.instance_type."+f.name, "it in some row", fmt.Sprintf("none of %d rows", len(rows)))
		}
	}
	return rows, nil
}

// lostRegions returns drift when no row says where its type is to be had.
func lostRegions(rows []typeRow) error {
	if slices.ContainsFunc(rows, func(row typeRow) bool { return row.Regions != nil }) {
		return nil
	}
	return drift(sourceAPI, "data.*.regions_with_capacity_available", "it in some row", fmt.Sprintf("none of %d rows", len(rows)))
}

// addPrice adds the offer of one row.
func (row *typeRow) addPrice(b *gputide.Batch, table *names) {
	key := newKey(row.name)
	t := row.InstanceType
	switch {
	case t == nil || t.Name == "": // the name of the row tells which offer it is
		b.Skip(sourceAPI, key, "bad_row", string(row.text))
		return
	case t.Name != row.name:
		b.SkipUnknown(sourceAPI, scope(), "bad_row", row.name+" is called "+t.Name)
		return
	case string(t.PriceCents) == "null":
		b.Omit(sourceAPI, "not_offered", 1)
		return
	}
	amount, ok := dollars(string(t.PriceCents))
	if !ok {
		b.Skip(sourceAPI, key, "no_price", string(t.PriceCents))
		return
	}
	spec, ok := t.spec(table)
	if !ok {
		b.Skip(sourceAPI, key, "bad_count", string(row.text))
		return
	}
	b.Add(gputide.RawOffer{
		Source: sourceAPI, Key: key, Spec: spec,
		Price: gputide.Published{Amount: amount, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
	})
}

// spec returns what a row says of its type. ok is false when the number of its
// cards is not known: neither stated nor in the name, or differently in both.
func (t *instanceType) spec(table *names) (s *gputide.Spec, ok bool) {
	count, card, named := parseName(t.Name)
	if n := t.Specs.GPUs; n != nil {
		if *n < 0 || *n > maxCount || (named && *n != count) {
			return nil, false
		}
		count = *n
	} else if !named {
		return nil, false
	}
	var d gputide.Device
	if count > 0 {
		d = t.device(table, card)
		d.Count = gputide.NewCount(uint32(count), 1)
	}
	s = newSpec(sourceAPI, t.Name, d)
	s.VCPU, s.MemoryGiB = t.Specs.VCPUs, t.Specs.MemoryGiB
	if gib := t.Specs.StorageGiB; gib != nil {
		setDisk(s, *gib, "")
	}
	return s, true
}

// device returns the cards of a type in the words of the API, and for want of
// those in the words of its name, which say less than the page does.
func (t *instanceType) device(table *names, card string) gputide.Device {
	switch {
	case t.GPUDescription != "":
		return gputide.Device{Name: t.GPUDescription}
	case t.Description != "":
		return gputide.Device{Name: t.Description}
	}
	d := gputide.Device{Name: card}
	if w, ok := table.words[t.Name]; ok {
		d.Other = []string{w.plan}
		d.MemoryGB = w.memoryGB()
	}
	return d
}

// addStock adds where the type of one row is to be had. Regions without stock
// are not named; a type that is nowhere to be had has none.
func (row *typeRow) addStock(b *gputide.Batch) {
	if row.Regions == nil {
		b.SkipUnknown(sourceAPI, stockScope(), "no_regions", row.name)
		return
	}
	key := gputide.Key{InstanceType: row.name}
	if len(*row.Regions) == 0 {
		b.Stock(sourceAPI, key, gputide.AvailabilityNone, "")
	}
	for _, r := range *row.Regions {
		if r.Name == "" {
			b.SkipUnknown(sourceAPI, stockScope(), "bad_region", row.name)
			continue
		}
		b.Stock(sourceAPI, key, gputide.AvailabilityYes, r.Name)
	}
}

func stockScope() gputide.Scope { return gputide.Scope{Signal: gputide.SignalAvailability} }

// maxCentDigits bounds a price: more digits are a misread field.
const maxCentDigits = 9

// dollars writes a whole number of cents in dollars; false for anything else and
// for zero.
func dollars(cents string) (string, bool) {
	digits := strings.TrimLeft(cents, "0")
	if digits == "" || len(digits) > maxCentDigits || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	if len(digits) < 3 {
		digits = strings.Repeat("0", 3-len(digits)) + digits
	}
	return digits[:len(digits)-2] + "." + digits[len(digits)-2:], true
}
