package store

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/gputide/gputide"
)

// importSpec is the first thing an import says of an instance type.
type importSpec struct {
	spec *gputide.Spec
	at   uint32
	raw  []byte // encoded
}

// note takes a spec stated at a moment when it is the first: the earlier one, and
// of two of one moment the one that sorts first, so that the order of rows does
// not matter.
func (i *importSpec) note(s *gputide.Spec, k *gputide.Key, at uint32) error {
	if s == nil {
		return nil
	}
	if s == i.spec {
		i.at = min(i.at, at)
		return nil
	}
	if s.Provider != k.Provider || s.Partition != k.Partition || s.InstanceType != k.InstanceType {
		return fmt.Errorf("%w: spec of %q %q at an offer of %q %q", gputide.ErrInvalid, s.Provider, s.InstanceType, k.Provider, k.InstanceType)
	}
	if len(s.InstanceType)+len(s.Partition) > maxKeyText {
		return fmt.Errorf("%w: instance type of %d bytes", gputide.ErrInvalid, len(s.InstanceType))
	}
	raw, err := encodeSpec(s)
	if err != nil {
		return err
	}
	i.take(importSpec{s, at, raw})
	return nil
}

func (i *importSpec) take(o importSpec) {
	if o.spec != nil && (i.spec == nil || o.at < i.at || o.at == i.at && bytes.Compare(o.raw, i.raw) < 0) {
		*i = o
	}
}

func specType(k *gputide.Key) string { return typeText(k.Provider, k.Partition, k.InstanceType) }

// gatherSpecs joins what the series of one type say.
func (p *importProvider) gatherSpecs(ids []int32) {
	p.specs = make(map[string]importSpec)
	for _, id := range ids {
		s := &p.im.series[id]
		if s.spec.spec == nil {
			continue
		}
		first := p.specs[specType(&s.key)]
		first.take(s.spec)
		p.specs[specType(&s.key)] = first
	}
}

// writeSpecs stores the specs of the types of some series where none is in force.
func (p *importProvider) writeSpecs(w *writer, ids []int32) error {
	c := commit{w: w}
	b := w.tx.table(bucketSpec)
	var pairs []pair
	for _, id := range ids {
		name := specType(&p.im.series[id].key)
		first, ok := p.specs[name]
		if !ok {
			continue
		}
		delete(p.specs, name)
		tid := w.d.intern(name)
		if _, inForce := specAt(b, tid, first.at); inForce != nil {
			continue
		}
		pairs = append(pairs, pair{keyPair(tid, first.at), first.raw})
		w.res.Specs++
		next, _ := b.Cursor().Seek(keyPair(tid, first.at+1))
		if len(next) == 8 && be32(next) == tid {
			continue // a later one says what the series are now
		}
		if err := c.rederive(first.spec, nil); err != nil {
			return err
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
	return b.putSorted(pairs)
}
