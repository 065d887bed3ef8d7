package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/gputide/gputide"
)

// specs writes the change points of the specs of the run. A spec equal to the
// one in force costs nothing.
func (c *commit) specs() error {
	w := c.w
	var pairs []pair
	for i := range c.run.Specs {
		s := &c.run.Specs[i]
		if s.Provider != c.run.Provider || s.InstanceType == "" {
			return fmt.Errorf("%w: spec of %q %q in a run of %q", gputide.ErrInvalid, s.Provider, s.InstanceType, c.run.Provider)
		}
		if len(s.InstanceType)+len(s.Partition) > maxKeyText || bytes.ContainsRune([]byte(s.Partition), 0) {
			return fmt.Errorf("%w: instance type of %d bytes", gputide.ErrInvalid, len(s.InstanceType))
		}
		raw, err := encodeSpec(s)
		if err != nil {
			return err
		}
		added, err := c.spec(s, raw)
		if err != nil {
			return err
		}
		pairs = append(pairs, added...)
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
	for i := 1; i < len(pairs); i++ {
		if bytes.Equal(pairs[i].key, pairs[i-1].key) && !bytes.Equal(pairs[i].value, pairs[i-1].value) {
			return fmt.Errorf("%w: two specs of one instance type in a run of %s", gputide.ErrInvalid, c.run.Provider)
		}
	}
	return w.tx.table(bucketSpec).putSorted(pairs)
}

// spec returns the change points that one spec makes.
func (c *commit) spec(s *gputide.Spec, raw []byte) ([]pair, error) {
	w := c.w
	b := w.tx.table(bucketSpec)
	tid := w.d.intern(typeText(s.Provider, s.Partition, s.InstanceType))
	since, inForce := specAt(b, tid, c.at)
	if bytes.Equal(inForce, raw) {
		return nil, nil
	}
	out := []pair{{keyPair(tid, c.at), raw}}
	w.res.Specs++
	if inForce != nil {
		w.log.specs = append(w.log.specs, logEntry{sid: tid, at: c.at, kind: logSpec})
	}
	next, _ := b.Cursor().Seek(keyPair(tid, c.at+1))
	newest := len(next) != 8 || be32(next) != tid
	if newest {
		if err := c.rederive(s, inForce); err != nil {
			return nil, err
		}
	}
	if inForce == nil || since == c.at {
		return out, nil
	}
	// A later run stated the spec that was in force: it comes back there.
	again, ok, err := c.nextRun()
	if err != nil || !ok || (!newest && be32(next[4:]) <= again) {
		return out, err
	}
	if newest {
		// The attributes of now are those of the spec that comes back.
		old, err := decodeSpec(inForce)
		if err != nil {
			return nil, err
		}
		old.Provider, old.Partition, old.InstanceType = s.Provider, s.Partition, s.InstanceType
		if err := c.rederive(old, raw); err != nil {
			return nil, err
		}
	}
	return append(out, pair{keyPair(tid, again), bytes.Clone(inForce)}), nil
}

// nextRun returns the moment of the provider's first done run after this one.
func (c *commit) nextRun() (uint32, bool, error) {
	if c.next != nil {
		return *c.next, *c.next != 0, nil
	}
	w := c.w
	var best uint32
	for id := range w.scopes {
		m, ok, err := w.marks.after(id, c.at+1, func(m *mark) bool {
			return m.status == markDone && !w.sources.imported(m.source)
		})
		if err != nil {
			return 0, false, err
		}
		if ok && (best == 0 || m.at < best) {
			best = m.at
		}
	}
	c.next = &best
	return best, best != 0, nil
}

// rederive moves the series of an instance type from the attributes of the old
// spec to those of the new.
func (c *commit) rederive(s *gputide.Spec, old []byte) error {
	w := c.w
	if w.db.deriver == nil {
		return nil
	}
	var before *gputide.Spec
	if old != nil {
		var err error
		if before, err = decodeSpec(old); err != nil {
			return err
		}
		before.Provider, before.Partition, before.InstanceType = s.Provider, s.Partition, s.InstanceType
	}
	sel := gputide.Selection{Matches: []gputide.Match{
		{Field: gputide.FieldInstanceType, Values: []string{s.InstanceType}},
		{Field: gputide.FieldProvider, Values: []string{s.Provider}},
		{Field: gputide.FieldPartition, Values: []string{s.Partition}},
	}}
	for _, b := range w.books() {
		bm, err := w.db.selectSeries(b.book, sel)
		if err != nil {
			return err
		}
		it := bm.Iterator()
		for it.HasNext() {
			sid := it.Next()
			rec, err := b.book.record(sid)
			if err != nil {
				return err
			}
			k, _, err := rec.key(w.d)
			if err != nil {
				return err
			}
			was, is := w.db.deriver.Derive(&k, before), w.db.deriver.Derive(&k, s)
			for _, a := range was {
				if !slices.Contains(is, a) {
					b.index.drop(invKey(a.Field, a.Value), sid)
				}
			}
			for _, a := range is {
				b.index.put(invKey(a.Field, a.Value), sid)
			}
		}
	}
	return nil
}

// fxKey is the key of a rate: base, quote and day, so that one seek finds the
// latest one.
func fxKey(base, quote gputide.Currency, day uint32) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(base), quote...), day)
}

const secondsPerDay = 24 * 3600

// rates writes the exchange rates of the run. A rate that is stored costs
// nothing; a corrected one is logged.
func (c *commit) rates() error {
	b := c.w.tx.table(bucketFX)
	var pairs []pair
	for i := range c.run.Rates {
		r := &c.run.Rates[i]
		if !r.Base.Valid() || !r.Quote.Valid() {
			return fmt.Errorf("%w: rate of %q in %q", gputide.ErrInvalid, r.Base, r.Quote)
		}
		amount, err := gputide.ParseAmount(r.Amount)
		if err != nil {
			return err
		}
		if amount.Sign() <= 0 {
			return fmt.Errorf("%w: rate %s of %s in %s", gputide.ErrInvalid, r.Amount, r.Base, r.Quote)
		}
		at, err := seconds(r.Date)
		if err != nil {
			return err
		}
		key := fxKey(r.Base, r.Quote, at/secondsPerDay)
		value := append(binary.AppendUvarint(nil, uint64(c.w.d.intern(r.Source))), r.Amount...)
		old := b.Get(key)
		if bytes.Equal(old, value) {
			continue
		}
		if old != nil {
			text := appendText(appendText(nil, string(key)), string(old))
			c.w.log.rates = append(c.w.log.rates, appendText(text, string(value)))
		}
		c.w.res.Rates++
		pairs = append(pairs, pair{key, value})
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
	b.fill(fillInsert)
	return b.putSorted(pairs)
}

// Rate returns the rate of euros in a currency with the latest date at or
// before the UTC date of a moment, and false when there is none.
func (db *DB) Rate(_ context.Context, quote gputide.Currency, at time.Time) (r gputide.Rate, ok bool, err error) {
	const base = gputide.Currency("EUR")
	if !quote.Valid() {
		return r, false, fmt.Errorf("%w: currency %q", gputide.ErrInvalid, quote)
	}
	err = db.view(func(v *view) error {
		k, raw := v.tx.table(bucketFX).Cursor().SeekLast(fxKey(base, quote, clampSeconds(at)/secondsPerDay))
		if len(k) != 10 || string(k[:6]) != string(base)+string(quote) {
			return nil
		}
		rd := reader{b: raw}
		source, err := v.d.get(rd.u32())
		if err != nil || rd.bad {
			return corrupt("fx", "rate of %s", k[:6])
		}
		r = gputide.Rate{
			Date: moment(be32(k[6:]) * secondsPerDay), Base: base, Quote: quote, Amount: string(rd.b), Source: source,
		}
		ok = true
		return nil
	})
	return r, ok, err
}
