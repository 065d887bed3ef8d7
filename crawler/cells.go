package crawler

import (
	"strings"

	"github.com/gputide/gputide"
)

// cellKey is everything scopes can tell rows apart by, and their source.
type cellKey struct {
	source, partition, seller, region string
	market                            gputide.Market
	part                              string
	event                             bool // the rows state a moment of their own
}

// where returns the narrowest scope of the rows of k.
func (k *cellKey) where() gputide.Scope {
	return gputide.Scope{Partition: k.partition, Seller: k.seller, Region: k.region, Market: k.market, Part: k.part}
}

// cell counts the rows that no scope can tell apart.
type cell struct {
	key   cellKey
	tally *tally
	read  int64
	scope *scopeState // resolved when the run is assembled
}

// count counts a row of a known key and returns its cell.
func (s *sink) count(source string, k *gputide.Key, part string, event bool) *cell {
	key := cellKey{source, k.Partition, k.Seller, k.Region, k.Market, part, event}
	c := s.lastCell
	if c == nil || c.key != key {
		c = s.cell(key)
		s.lastCell = c
	}
	c.read++
	c.tally.read++
	if s.rows++; s.rows%progressRows == 0 {
		s.tell(c.tally)
	}
	return c
}

func (s *sink) cell(key cellKey) *cell {
	if c, ok := s.cells[key]; ok {
		return c
	}
	key = cellKey{
		s.texts.of(key.source), s.texts.of(key.partition), s.texts.of(key.seller), s.texts.of(key.region),
		gputide.Market(s.texts.of(string(key.market))), s.texts.of(key.part), key.event,
	}
	c := &cell{key: key, tally: s.tally(key.source)}
	s.cells[key] = c
	return c
}

func (s *sink) instanceType(partition, name string) *instanceType {
	if t := s.lastType; t != nil && t.key.name == name && t.key.partition == partition {
		return t
	}
	key := typeKey{partition, name}
	t, ok := s.types[key]
	if !ok {
		key = typeKey{s.texts.of(partition), s.texts.of(name)}
		t = &instanceType{provider: s.info.Name, key: key, norm: s.norm, rank: s.rank}
		_, t.known = s.base.Types[gputide.TypeName{
			Partition: strings.TrimSpace(partition), InstanceType: strings.TrimSpace(name),
		}]
		s.types[key] = t
	}
	s.lastType = t
	return t
}

func (s *sink) tally(source string) *tally {
	t, ok := s.tallies[source]
	if !ok {
		source = strings.Clone(source)
		t = &tally{source: source}
		s.tallies[source] = t
	}
	return t
}

func (s *sink) tell(t *tally) {
	s.progress(Progress{Provider: s.info.Name, Source: t.source, Rows: t.read, Bytes: t.bytes})
}
