package store

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
)

// specWire is gputide.Spec as stored. The conversion between the two compiles
// only while their fields agree.
type specWire struct {
	Source            string         `json:"source,omitempty"`
	Provider          string         `json:"-"` // in the key
	Partition         string         `json:"-"` // in the key
	InstanceType      string         `json:"-"` // in the key
	Device            gputide.Device `json:"-"` // deviceWire
	VCPU              *float64       `json:"vcpu,omitempty"`
	CPUArch           string         `json:"cpu_arch,omitempty"`
	CPUModel          string         `json:"cpu_model,omitempty"`
	MemoryGiB         *float64       `json:"memory_gib,omitempty"`
	LocalDiskGB       *float64       `json:"local_disk_gb,omitempty"`
	LocalDiskKind     string         `json:"local_disk_kind,omitempty"`
	NetworkGbps       *float64       `json:"network_gbps,omitempty"`
	RDMAKind          string         `json:"rdma_kind,omitempty"`
	RDMAGbps          *float64       `json:"rdma_gbps,omitempty"`
	BareMetal         *bool          `json:"bare_metal,omitempty"`
	OnDemand          *bool          `json:"on_demand,omitempty"`
	MaxInstances      *int64         `json:"max_instances,omitempty"`
	BillingIncrementS *int64         `json:"billing_increment_s,omitempty"`
	MinimumS          *int64         `json:"minimum_s,omitempty"`
	BilledWhenStopped *bool          `json:"billed_when_stopped,omitempty"`
	IncludedDiskGB    *float64       `json:"included_disk_gb,omitempty"`
	EgressPricePerGB  string         `json:"egress_price_per_gb,omitempty"`
	Use               []string       `json:"use,omitempty"`
}

// deviceWire is gputide.Device as stored.
type deviceWire struct {
	Name         string             `json:"name,omitempty"`
	Other        []string           `json:"other,omitempty"`
	Vendor       string             `json:"vendor,omitempty"`
	Kind         gputide.DeviceKind `json:"kind,omitempty"`
	Count        gputide.Count      `json:"-"` // text of it
	MemoryGB     *float64           `json:"memory_gb,omitempty"`
	MemoryMiB    *int64             `json:"memory_mib,omitempty"`
	Share        gputide.ShareKind  `json:"share,omitempty"`
	Passthrough  *bool              `json:"passthrough,omitempty"`
	Interconnect string             `json:"interconnect,omitempty"`
}

type specRecord struct {
	specWire
	Device *deviceWire `json:"device,omitempty"`
	Count  string      `json:"count,omitempty"`
}

func encodeSpec(s *gputide.Spec) ([]byte, error) {
	dev := deviceWire(s.Device)
	rec := specRecord{specWire: specWire(*s), Device: &dev, Count: s.Device.Count.String()}
	b, err := json.Marshal(rec)
	if err != nil {
		return nil, fmt.Errorf("%w: spec of %s: %w", gputide.ErrInvalid, s.InstanceType, err)
	}
	return b, nil
}

func decodeSpec(b []byte) (*gputide.Spec, error) {
	var rec specRecord
	if err := json.Unmarshal(b, &rec); err != nil {
		return nil, corrupt("spec", "record of %d bytes: %v", len(b), err)
	}
	s := gputide.Spec(rec.specWire)
	if rec.Device != nil {
		s.Device = gputide.Device(*rec.Device)
	}
	if rec.Count != "" {
		c, err := gputide.ParseCount(rec.Count)
		if err != nil {
			return nil, corrupt("spec", "count %q", rec.Count)
		}
		s.Device.Count = c
	}
	return &s, nil
}

// typePrefix starts the dictionary text of an instance type; its id begins the
// keys of its specs.
const typePrefix = "\x01type"

func typeText(provider, partition, instanceType string) string {
	return strings.Join([]string{typePrefix, provider, partition, instanceType}, "\x00")
}

func parseType(text string) (provider, partition, instanceType string, err error) {
	f := strings.SplitN(text, "\x00", 4)
	if len(f) != 4 || f[0] != typePrefix {
		return "", "", "", corrupt("spec", "type %q", text)
	}
	return f[1], f[2], f[3], nil
}

// specReader reads specs in one transaction and remembers them.
type specReader struct {
	b    *table
	d    *dict
	seen map[specMoment]*gputide.Spec
}

type specMoment struct{ tid, at uint32 }

func newSpecReader(tx *txn, d *dict) *specReader {
	return &specReader{b: tx.table(bucketSpec), d: d, seen: make(map[specMoment]*gputide.Spec)}
}

// latest returns the spec of a key's instance type in force at a moment; nil
// when none is known.
func (r *specReader) latest(k *gputide.Key, at uint32) (*gputide.Spec, error) {
	if k.InstanceType == "" {
		return nil, nil
	}
	tid, ok := r.d.find(typeText(k.Provider, k.Partition, k.InstanceType))
	if !ok {
		return nil, nil
	}
	since, raw := specAt(r.b, tid, at)
	if raw == nil {
		return nil, nil
	}
	return r.decode(tid, since, raw)
}

func (r *specReader) decode(tid, since uint32, raw []byte) (*gputide.Spec, error) {
	if s, ok := r.seen[specMoment{tid, since}]; ok {
		return s, nil
	}
	text, err := r.d.get(tid)
	if err != nil {
		return nil, err
	}
	s, err := decodeSpec(raw)
	if err != nil {
		return nil, err
	}
	if s.Provider, s.Partition, s.InstanceType, err = parseType(text); err != nil {
		return nil, err
	}
	r.seen[specMoment{tid, since}] = s
	return s, nil
}

// specAt returns the bytes of the spec in force and the moment it came to be.
func specAt(b *table, tid, at uint32) (since uint32, raw []byte) {
	k, v := b.Cursor().SeekLast(keyPair(tid, at))
	if len(k) != 8 || binary.BigEndian.Uint32(k) != tid {
		return 0, nil
	}
	return binary.BigEndian.Uint32(k[4:]), v
}

// seekLast moves to the last key at or before the given one.
func seekLast(c *bolt.Cursor, key []byte) (k, v []byte) {
	k, v = c.Seek(key)
	if k == nil {
		return c.Last()
	}
	if compareBytes(k, key) > 0 {
		return c.Prev()
	}
	return k, v
}
