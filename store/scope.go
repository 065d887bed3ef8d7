package store

import (
	"encoding/binary"
	"fmt"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
)

// scopePrefix starts the dictionary text of a scope; its id is the scope's id.
const scopePrefix = "\x01scope"

// ImportPrefix starts the source of every import; the profile follows.
const ImportPrefix = "import:"

func scopeText(provider string, s gputide.Scope) string {
	return strings.Join([]string{
		scopePrefix, provider, s.Partition, s.Seller, s.Region, string(s.Market), s.Part, s.Signal,
	}, "\x00")
}

func parseScope(text string) (provider string, s gputide.Scope, err error) {
	f := strings.Split(text, "\x00")
	if len(f) != 8 || f[0] != scopePrefix {
		return "", s, corrupt("scope", "text %q", text)
	}
	return f[1], gputide.Scope{
		Partition: f[2], Seller: f[3], Region: f[4], Market: gputide.Market(f[5]), Part: f[6], Signal: f[7],
	}, nil
}

// sourceTable is the sources of one provider; their index is what slots, marks
// and feeds hold.
type sourceTable struct {
	names []string
	index map[string]uint8
}

func (t *sourceTable) imported(source uint8) bool {
	return int(source) < len(t.names) && strings.HasPrefix(t.names[source], ImportPrefix)
}

func (t *sourceTable) name(source uint8) string {
	if int(source) < len(t.names) {
		return t.names[source]
	}
	return ""
}

// loadSources reads the table of a provider.
func loadSources(b *bolt.Bucket, d *dict, provider uint32) (*sourceTable, error) {
	t := &sourceTable{index: make(map[string]uint8)}
	r := reader{b: b.Get(key32(provider))}
	for len(r.b) > 0 {
		name, err := d.get(r.u32())
		if err != nil {
			return nil, fmt.Errorf("sources: %w", err)
		}
		if r.bad || len(t.names) >= maxSources {
			return nil, corrupt("scope", "sources of provider %d", provider)
		}
		t.index[name] = uint8(len(t.names))
		t.names = append(t.names, name)
	}
	return t, nil
}

// add returns the index of a source and gives it one when it is new.
func (t *sourceTable) add(name string) (uint8, error) {
	if i, ok := t.index[name]; ok {
		return i, nil
	}
	if len(t.names) >= maxSources {
		return 0, fmt.Errorf("%w: provider has more than %d sources", gputide.ErrInvalid, maxSources)
	}
	i := uint8(len(t.names))
	t.names = append(t.names, name)
	t.index[name] = i
	return i, nil
}

func (t *sourceTable) encode(d *dict) []byte {
	var b []byte
	for _, name := range t.names {
		b = binary.AppendUvarint(b, uint64(d.intern(name)))
	}
	return b
}

// storedScope is a scope of a provider with its id.
type storedScope struct {
	id   uint32
	s    gputide.Scope
	held string // digest of the run held last
}

// loadScopes reads the scopes of a provider, by id.
func loadScopes(b *bolt.Bucket, d *dict, provider uint32) ([]storedScope, error) {
	var out []storedScope
	prefix := key32(provider)
	c := b.Cursor()
	for k, v := c.Seek(prefix); len(k) >= 4 && string(k[:4]) == string(prefix); k, v = c.Next() {
		if len(k) != 8 {
			continue
		}
		id := binary.BigEndian.Uint32(k[4:])
		text, err := d.get(id)
		if err != nil {
			return nil, fmt.Errorf("scope: %w", err)
		}
		_, s, err := parseScope(text)
		if err != nil {
			return nil, err
		}
		out = append(out, storedScope{id: id, s: s, held: string(v)})
	}
	return out, nil
}
