package store

import (
	"github.com/gputide/gputide"
)

// maxCachedKeys bounds the key cache, in blocks of 256 series.
const maxCachedKeys = 1 << 13

// keyCache lets a commit find the series of a key without hashing it: sources
// list their offers in much the same order each time, so the series behind the
// one found last is tried first. It belongs to the writer.
type keyCache struct {
	texts  []string                  // by dictionary id; "" when not read yet
	blocks []*[blockLen]cachedSeries // by sid/256
	used   int
}

type cachedSeries struct {
	ids   [recordSlots]uint32
	known bool
	next  uint32 // the series that followed in the last run
	print uint64 // of what was listed last; 0 when that is not known
}

func (c *keyCache) text(d *dict, id uint32) (string, error) {
	if int(id) < len(c.texts) && c.texts[id] != "" {
		return c.texts[id], nil
	}
	s, err := d.get(id)
	if err != nil || len(s) > maxLiteral || id > 1<<22 {
		return s, err
	}
	for int(id) >= len(c.texts) {
		c.texts = append(c.texts, make([]string, max(64, len(c.texts)))...)
	}
	c.texts[id] = s
	return s, nil
}

// entry returns the cached series of a sid; nil when it is not cached.
func (c *keyCache) entry(sid uint32) *cachedSeries {
	if int(sid>>blockBits) >= len(c.blocks) {
		return nil
	}
	b := c.blocks[sid>>blockBits]
	if b == nil || !b[sid&(blockLen-1)].known {
		return nil
	}
	return &b[sid&(blockLen-1)]
}

// add caches a series.
func (c *keyCache) add(sid uint32, ids *[recordSlots]uint32) *cachedSeries {
	n := int(sid >> blockBits)
	if n >= len(c.blocks) {
		c.blocks = append(c.blocks, make([]*[blockLen]cachedSeries, n+1-len(c.blocks))...)
	}
	b := c.blocks[n]
	if b == nil {
		if c.used++; c.used > maxCachedKeys {
			clear(c.blocks)
			c.used = 1
		}
		b = new([blockLen]cachedSeries)
		c.blocks[n] = b
	}
	e := &b[sid&(blockLen-1)]
	*e = cachedSeries{ids: *ids, known: true, next: sid + 1}
	return e
}

// forget drops what is known of the last listing of a series.
func (c *keyCache) forget(sid uint32) {
	if e := c.entry(sid); e != nil {
		e.print = 0
	}
}

// matches reports whether a cached series has a key. The fields that differ
// most between neighbours come first.
func (c *keyCache) matches(d *dict, e *cachedSeries, k *gputide.Key, name string) bool {
	return c.is(d, e.ids[1], k.InstanceType) && c.is(d, e.ids[9], k.Region) && c.is(d, e.ids[4], k.OS) &&
		c.is(d, e.ids[17], k.Zone) && c.is(d, e.ids[3], string(k.Market)) && c.is(d, e.ids[2], k.License) &&
		c.is(d, e.ids[13], k.Tenancy) && c.is(d, e.ids[14], string(k.Term)) && c.is(d, e.ids[6], string(k.Payment)) &&
		c.is(d, e.ids[7], k.Plan) && c.is(d, e.ids[15], k.Tier) && c.is(d, e.ids[11], string(k.Stat)) &&
		c.is(d, e.ids[16], k.Volume) && c.is(d, e.ids[10], k.Seller) && c.is(d, e.ids[5], k.Partition) &&
		c.is(d, e.ids[12], string(k.Tax)) && c.is(d, e.ids[0], string(k.Currency)) && c.is(d, e.ids[8], k.Provider) &&
		c.is(d, e.ids[signalSlot], name)
}

func (c *keyCache) is(d *dict, id uint32, want string) bool {
	if id == 0 {
		return want == ""
	}
	if int(id) < len(c.texts) {
		if s := c.texts[id]; s != "" {
			return s == want
		}
	}
	s, err := c.text(d, id)
	return err == nil && s == want
}
