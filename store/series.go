package store

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
)

// recordFields is the order of the key fields in a series record. It only ever
// grows at the end; the last slot, signalSlot, is the name of a signal.
var recordFields = [...]gputide.Field{
	gputide.FieldCurrency, gputide.FieldInstanceType, gputide.FieldLicense, gputide.FieldMarket, gputide.FieldOS,
	gputide.FieldPartition, gputide.FieldPayment, gputide.FieldPlan, gputide.FieldProvider, gputide.FieldRegion,
	gputide.FieldSeller, gputide.FieldStat, gputide.FieldTax, gputide.FieldTenancy, gputide.FieldTerm,
	gputide.FieldTier, gputide.FieldVolume, gputide.FieldZone,
}

const (
	signalSlot  = len(recordFields)
	recordSlots = signalSlot + 1
)

// feed is one source of one scope: scope id and index of the source.
type feed uint64

const sourceBits = 6

func makeFeed(scope uint32, source uint8) feed { return feed(scope)<<sourceBits | feed(source) }

func (f feed) scope() uint32 { return uint32(f >> sourceBits) }

func (f feed) source() uint8 { return uint8(f & (1<<sourceBits - 1)) }

// record is the series bucket's entry: the key as dictionary ids, the feed of
// the first event and the scope that lists the series now.
type record struct {
	ids   [recordSlots]uint32
	first feed
	scope uint32
}

func (rec *record) encode() []byte {
	var present uint64
	for i, id := range rec.ids {
		if id != 0 {
			present |= 1 << i
		}
	}
	b := binary.AppendUvarint(make([]byte, 0, 32), present)
	for _, id := range rec.ids {
		if id != 0 {
			b = binary.AppendUvarint(b, uint64(id))
		}
	}
	b = binary.AppendUvarint(b, uint64(rec.first))
	return binary.AppendUvarint(b, uint64(rec.scope))
}

func decodeRecord(b []byte) (rec record, err error) {
	r := reader{b: b}
	present := r.uvarint()
	if present >= 1<<recordSlots {
		return rec, corrupt("series", "record with fields %b", present)
	}
	for i := range rec.ids {
		if present&(1<<i) != 0 {
			rec.ids[i] = r.u32()
		}
	}
	rec.first = feed(r.uvarint())
	rec.scope = r.u32()
	if r.bad || len(r.b) > 0 {
		return rec, corrupt("series", "record of %d bytes", len(b))
	}
	return rec, nil
}

// keyText returns the fields of a key in record order; name is the signal's.
func keyText(k *gputide.Key, name string) [recordSlots]string {
	return [recordSlots]string{
		string(k.Currency), k.InstanceType, k.License, string(k.Market), k.OS,
		k.Partition, string(k.Payment), k.Plan, k.Provider, k.Region,
		k.Seller, string(k.Stat), string(k.Tax), k.Tenancy, string(k.Term),
		k.Tier, k.Volume, k.Zone, name,
	}
}

// textKey is the inverse of keyText.
func textKey(t *[recordSlots]string) (k gputide.Key, name string) {
	return gputide.Key{
		Currency: gputide.Currency(t[0]), InstanceType: t[1], License: t[2], Market: gputide.Market(t[3]), OS: t[4],
		Partition: t[5], Payment: gputide.Payment(t[6]), Plan: t[7], Provider: t[8], Region: t[9],
		Seller: t[10], Stat: gputide.Stat(t[11]), Tax: gputide.Tax(t[12]), Tenancy: t[13], Term: gputide.Term(t[14]),
		Tier: t[15], Volume: t[16], Zone: t[17],
	}, t[signalSlot]
}

// seriesID is the identity of a series: the offer id, or of a signal the hash of
// its key and name.
func seriesID(k *gputide.Key, name string) gputide.OfferID {
	if name == "" {
		return k.ID()
	}
	sum := sha256.Sum256([]byte(k.Canonical() + "\nsignal=" + name))
	return gputide.OfferID(sum[:16])
}

// book is a set of series with their index, current values and history: the
// offers of the file, or its signals.
type book struct {
	series, skey, inv, hist *table
	last                    *bolt.Bucket
	signals                 bool
}

// openBook opens the book in a bucket of the file, or in the file itself.
func openBook(tx *txn, parent []byte) *book {
	in := func(name []byte) *table { return tx.tableIn(parent, name) }
	b := &book{
		series: in(bucketSeries), skey: in(bucketSKey), inv: in(bucketInv), hist: in(bucketHist),
		last: tx.Bucket(bucketLast), signals: parent != nil,
	}
	if b.signals {
		b.last = tx.Bucket(parent).Bucket(bucketLast)
	}
	return b
}

func offersOf(tx *txn) *book { return openBook(tx, nil) }

func signalsOf(tx *txn) *book { return openBook(tx, bucketSignal) }

// find returns the sid of a series id.
func (b *book) find(id gputide.OfferID) (uint32, bool) {
	v := b.skey.Get(id[:])
	if len(v) != 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(v), true
}

// record returns the record of a series.
func (b *book) record(sid uint32) (record, error) {
	v := b.series.Get(key32(sid))
	if v == nil {
		return record{}, corrupt("series", "sid %d is missing", sid)
	}
	return decodeRecord(v)
}

// key returns the key of a record and the name of its signal.
func (rec *record) key(d *dict) (gputide.Key, string, error) {
	var t [recordSlots]string
	for i, id := range rec.ids {
		s, err := d.get(id)
		if err != nil {
			return gputide.Key{}, "", fmt.Errorf("series: %w", err)
		}
		t[i] = s
	}
	k, name := textKey(&t)
	return k, name, nil
}

// status is what the events of a series come to.
type status uint8

const (
	statusNone status = iota
	statusListed
	statusHeld
	statusWithdrawn
)

// slot is the current value of one series, as a last block packs it.
type slot struct {
	price  int64
	at     uint32 // of the last event
	status status
	source uint8
}

const (
	slotSize  = 14
	blockBits = 8
	blockLen  = 1 << blockBits
)

func (s slot) put(b []byte) {
	binary.BigEndian.PutUint64(b, uint64(s.price))
	binary.BigEndian.PutUint32(b[8:], s.at)
	b[12], b[13] = byte(s.status), s.source
}

func readSlot(b []byte) slot {
	return slot{
		price:  int64(binary.BigEndian.Uint64(b)),
		at:     binary.BigEndian.Uint32(b[8:]),
		status: status(b[12]),
		source: b[13],
	}
}

// slotIn returns the slot of a series in its block; a block that ends before it
// holds nothing of it.
func slotIn(block []byte, sid uint32) slot {
	i := int(sid&(blockLen-1)) * slotSize
	if i+slotSize > len(block) {
		return slot{}
	}
	return readSlot(block[i:])
}

// slot returns the current value of a series.
func (b *book) slot(sid uint32) slot { return slotIn(b.last.Get(key32(sid>>blockBits)), sid) }

// events appends the history of a series to out.
func (b *book) events(out []event, sid uint32) ([]event, error) {
	prefix := key32(sid)
	if v := b.hist.live.Get(prefix); v != nil {
		out, _, err := decodeChunk(out, v)
		return out, err
	}
	out, ok, err := b.hist.whole(out, sid)
	if ok || err != nil {
		return out, err
	}
	c := b.hist.Cursor()
	for c.seek(prefix); len(c.key()) > 4 && string(c.key()[:4]) == string(prefix); c.next() {
		if out, err = c.histOf(out); err != nil {
			return out, err
		}
	}
	return out, nil
}
