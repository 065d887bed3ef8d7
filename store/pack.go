package store

import (
	"bytes"
	"container/list"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sort"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Compaction packs the entries of a bucket, a table, into blocks of many
// neighbours each. What is written later stands beside the blocks until the next
// compaction, and over them where it has the same key.

type packForm byte

const (
	packRows packForm = iota // keys and values, compressed
	packHist                 // histories: histBlock
)

const (
	// packRaw is about how many bytes of entries a block takes.
	packRaw = 32 << 10

	// maxUnpacked bounds what a block may unpack to.
	maxUnpacked = 64 << 20

	// maxCachedPacks bounds the memory of unpacked blocks.
	maxCachedPacks = 32 << 20
)

// packed is an unpacked block. It does not change.
type packed interface {
	len() int
	bytes() int // memory it takes, about
	key(i int) []byte
	value(i int) ([]byte, error)

	// search returns the first entry with a key at or behind another.
	search(key []byte) int
}

// packHead is what stands before the contents of a block.
type packHead struct {
	id      uint64 // of no other block of the file, ever
	form    packForm
	entries int
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encodePack(h packHead, body []byte) []byte {
	out := make([]byte, 4, len(body)+24)
	out = binary.AppendUvarint(out, h.id)
	out = append(out, byte(h.form))
	out = binary.AppendUvarint(out, uint64(h.entries))
	out = append(out, body...)
	binary.BigEndian.PutUint32(out, crc32.Checksum(out[4:], castagnoli))
	return out
}

func decodePackHead(v []byte) (packHead, []byte, error) {
	if len(v) < 4 {
		return packHead{}, nil, corrupt("pack", "block of %d bytes", len(v))
	}
	r := reader{b: v[4:]}
	h := packHead{id: r.uvarint(), form: packForm(r.byte()), entries: int(r.u32())}
	if r.bad {
		return h, nil, corrupt("pack", "block of %d bytes", len(v))
	}
	return h, r.b, nil
}

// packer compresses and unpacks blocks, and keeps unpacked ones.
type packer struct {
	dec *zstd.Decoder

	mu     sync.Mutex
	blocks map[uint64]*list.Element
	order  list.List // of cachedPack, most recent first
	held   int
}

type cachedPack struct {
	id    uint64
	block packed
}

func newPacker() (*packer, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxUnpacked), zstd.WithDecoderConcurrency(0))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return &packer{dec: dec, blocks: make(map[uint64]*list.Element)}, nil
}

// unpack returns a block. One that may be kept is looked for among those that
// are.
func (p *packer) unpack(v []byte, keep uint64) (packed, error) {
	h, body, err := decodePackHead(v)
	if err != nil {
		return nil, err
	}
	if h.id <= keep {
		if b := p.get(h.id); b != nil {
			if hist, ok := b.(*histBlock); ok {
				return hist.over(body), nil
			}
			return b, nil
		}
	}
	if crc32.Checksum(v[4:], castagnoli) != binary.BigEndian.Uint32(v) {
		return nil, corrupt("pack", "block %d is not what was written: its checksum differs", h.id)
	}
	b, err := p.decode(h, body)
	if err != nil {
		return nil, err
	}
	if b.len() != h.entries {
		return nil, corrupt("pack", "block %d holds %d entries of %d", h.id, b.len(), h.entries)
	}
	if h.id <= keep {
		p.keep(h.id, b)
	}
	return b, nil
}

func (p *packer) decode(h packHead, body []byte) (packed, error) {
	switch h.form {
	case packRows:
		raw, err := p.dec.DecodeAll(body, nil)
		if err != nil {
			return nil, corrupt("pack", "block %d: %v", h.id, err)
		}
		return decodeRows(raw)
	case packHist:
		return decodeHistBlock(body)
	}
	return nil, corrupt("pack", "block %d of form %d", h.id, h.form)
}

func (p *packer) get(id uint64) packed {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.blocks[id]
	if !ok {
		return nil
	}
	p.order.MoveToFront(e)
	return e.Value.(cachedPack).block
}

// keep keeps a block, and nothing that points into a transaction.
func (p *packer) keep(id uint64, b packed) {
	if hist, ok := b.(*histBlock); ok {
		b = hist.over(nil)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.blocks[id]; ok {
		return
	}
	p.blocks[id] = p.order.PushFront(cachedPack{id, b})
	p.held += b.bytes()
	for p.held > maxCachedPacks && p.order.Len() > 1 {
		e := p.order.Back()
		old := p.order.Remove(e).(cachedPack)
		delete(p.blocks, old.id)
		p.held -= old.block.bytes()
	}
}

// reset forgets every block: another file numbers them anew.
func (p *packer) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.blocks)
	p.order.Init()
	p.held = 0
}

// rows is a block of keys and values.
type rows struct {
	data   []byte   // all of the values
	names  []byte   // all of the keys
	keys   []uint32 // end of each key in names
	values []uint32 // end of each value in data
}

// encodeRows writes entries, in key order: the number of them; of each how many
// bytes its key has in common with the one before, how many more and how many
// bytes its value has; the rest of the keys; the values.
func encodeRows(pairs []pair) []byte {
	var heads, keys []byte
	size := 0
	var prev []byte
	for _, p := range pairs {
		same := commonPrefix(prev, p.key)
		heads = binary.AppendUvarint(heads, uint64(same))
		heads = binary.AppendUvarint(heads, uint64(len(p.key)-same))
		heads = binary.AppendUvarint(heads, uint64(len(p.value)))
		keys = append(keys, p.key[same:]...)
		size += len(p.value)
		prev = p.key
	}
	out := binary.AppendUvarint(make([]byte, 0, 8+len(heads)+len(keys)+size), uint64(len(pairs)))
	out = append(append(out, heads...), keys...)
	for _, p := range pairs {
		out = append(out, p.value...)
	}
	return out
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// decodeRows reads what encodeRows writes; the values stay in raw.
func decodeRows(raw []byte) (*rows, error) {
	errRows := corrupt("pack", "block of rows of %d bytes", len(raw))
	r := reader{b: raw}
	n := r.count()
	heads := reader{b: r.b} // they are read twice: keeping them takes more
	keyBytes, valueBytes, prev := uint64(0), uint64(0), uint64(0)
	for range n {
		same, more, value := r.uvarint(), r.uvarint(), r.uvarint()
		if r.bad || same > prev || more > uint64(len(raw)) || value > uint64(len(raw)) {
			return nil, errRows
		}
		prev = same + more
		keyBytes, valueBytes = keyBytes+prev, valueBytes+value
		if keyBytes > maxUnpacked {
			return nil, errRows
		}
	}
	if valueBytes > uint64(len(r.b)) {
		return nil, errRows
	}
	split := uint64(len(r.b)) - valueBytes
	tails := reader{b: r.b[:split]}
	b := &rows{data: r.b[split:], names: make([]byte, 0, keyBytes), keys: make([]uint32, n), values: make([]uint32, n)}
	start, end := 0, uint64(0)
	for i := range n {
		at := len(b.names)
		b.names = append(b.names, b.names[start:start+int(heads.uvarint())]...)
		b.names = append(b.names, tails.bytes(heads.uvarint())...)
		end += heads.uvarint()
		b.keys[i], b.values[i] = uint32(len(b.names)), uint32(end)
		if i > 0 && bytes.Compare(b.names[at:], b.names[start:at]) <= 0 {
			return nil, errRows
		}
		start = at
	}
	if tails.bad || len(tails.b) > 0 {
		return nil, errRows
	}
	return b, nil
}

func (b *rows) len() int { return len(b.keys) }

func (b *rows) bytes() int { return len(b.data) + cap(b.names) + 8*len(b.keys) }

func (b *rows) key(i int) []byte { return part(b.names, b.keys, i) }

func (b *rows) value(i int) ([]byte, error) { return part(b.data, b.values, i), nil }

// part returns the part of data that ends at ends[i].
func part(data []byte, ends []uint32, i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = ends[i-1]
	}
	return data[start:ends[i]:ends[i]]
}

func (b *rows) search(key []byte) int {
	return sort.Search(b.len(), func(i int) bool { return bytes.Compare(b.key(i), key) >= 0 })
}

// blockBuilder gathers entries, in key order, into blocks.
type blockBuilder struct {
	form   packForm
	enc    *zstd.Encoder
	nextID func() (uint64, error)
	put    func(key, value []byte) error // takes a finished block
	whole  bool                          // one block, however large

	rows  []pair
	hists []histEntry
	raw   int
}

// newEncoder returns an encoder of blocks, to be used by one goroutine.
func newEncoder() (*zstd.Encoder, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return enc, nil
}

// add takes an entry; key and value must stay as they are until the block is
// finished.
func (b *blockBuilder) add(key, value []byte) error {
	if b.form == packHist {
		e, err := readHistEntry(key, value)
		if err != nil {
			return err
		}
		b.hists = append(b.hists, e)
	} else {
		b.rows = append(b.rows, pair{key, value})
	}
	if b.raw += len(key) + len(value); b.raw >= packRaw && !b.whole {
		return b.finish()
	}
	return nil
}

// finish writes what was gathered, if anything.
func (b *blockBuilder) finish() error {
	n := len(b.rows) + len(b.hists)
	if n == 0 {
		return nil
	}
	id, err := b.nextID()
	if err != nil {
		return err
	}
	var first, body []byte
	if b.form == packHist {
		first, body = b.hists[0].key(), encodeHistBlock(b.hists)
	} else {
		first, body = b.rows[0].key, b.enc.EncodeAll(encodeRows(b.rows), nil)
	}
	err = b.put(first, encodePack(packHead{id: id, form: b.form, entries: n}, body))
	b.rows, b.hists, b.raw = b.rows[:0], b.hists[:0], 0
	return err
}

// blockError is a fault of a packed table.
func blockError(table string, err error) error {
	if errors.Is(err, errCorrupt) {
		return fmt.Errorf("table %s: %w", table, err)
	}
	return err
}
