package providertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

type jsonEdits []byte

// member is one member of an object of a JSON body.
type member struct {
	path   []string // names from the root; one of a list is followed by "[]"
	object int      // offset of the object it belongs to
	key    span     // with its quotes
	value  span
}

func (b jsonEdits) lose(path string, row int) ([]byte, error) {
	members, err := b.find(path)
	if err != nil {
		return nil, err
	}
	keys := make([]span, len(members))
	for i, m := range members {
		keys[i] = m.key
	}
	keys, err = pick(keys, row)
	if err != nil {
		return nil, err
	}
	return splice(b, keys, func(int) string { return `"renamed"` }), nil
}

func (b jsonEdits) swap(first, second string) ([]byte, error) {
	as, err := b.find(first)
	if err != nil {
		return nil, err
	}
	bs, err := b.find(second)
	if err != nil {
		return nil, err
	}
	in := make(map[int]span)
	for _, m := range bs {
		in[m.object] = m.value
	}
	var pairs [][2]span
	for _, m := range as {
		if other, ok := in[m.object]; ok {
			pairs = append(pairs, [2]span{m.value, other})
		}
	}
	return exchangeSpans(b, pairs)
}

func (b jsonEdits) clear(path string) ([]byte, error) {
	members, err := b.find(path)
	if err != nil {
		return nil, err
	}
	if len(members) == 0 {
		return nil, errNoMatch
	}
	spans := make([]span, len(members))
	for i, m := range members {
		spans[i] = m.value
	}
	return splice(b, spans, func(i int) string {
		if b[spans[i].from] == '{' {
			return "{}"
		}
		return "[]"
	}), nil
}

// find returns the members whose path fits pattern, in the order of the text.
func (b jsonEdits) find(pattern string) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	w := walker{body: b, dec: dec}
	if err := w.walk(nil); err != nil {
		return nil, err
	}
	var list []member
	for _, m := range w.members {
		if matches(pattern, m.path) {
			list = append(list, m)
		}
	}
	return list, nil
}

type walker struct {
	body    []byte
	dec     *json.Decoder
	members []member
}

func (w *walker) at() int { return int(w.dec.InputOffset()) }

// walk reads one value and notes the members in it.
func (w *walker) walk(path []string) error {
	tok, err := w.dec.Token()
	if err != nil {
		return err
	}
	switch object := w.at(); tok {
	case json.Delim('{'):
		for w.dec.More() {
			if err := w.member(path, object); err != nil {
				return err
			}
		}
		_, err = w.dec.Token()
	case json.Delim('['):
		for w.dec.More() {
			if err := w.walk(append(path[:len(path):len(path)], "[]")); err != nil {
				return err
			}
		}
		_, err = w.dec.Token()
	}
	return err
}

func (w *walker) member(path []string, object int) error {
	from := w.at()
	name, err := w.dec.Token()
	if err != nil {
		return err
	}
	m := member{
		path:   append(path[:len(path):len(path)], fmt.Sprint(name)),
		object: object,
		key:    span{from + bytes.IndexByte(w.body[from:], '"'), w.at()},
	}
	m.value.from = w.at()
	for strings.IndexByte(": \t\r\n", w.body[m.value.from]) >= 0 {
		m.value.from++
	}
	i := len(w.members)
	w.members = append(w.members, m)
	if err := w.walk(m.path); err != nil {
		return err
	}
	w.members[i].value.to = w.at()
	return nil
}

// matches reports whether path fits a pattern such as "data.rows[].id".
func matches(pattern string, path []string) bool {
	want := strings.Split(strings.ReplaceAll(pattern, "[]", ".[]"), ".")
	if want[0] == "" { // the body is a list
		want = want[1:]
	}
	if len(want) != len(path) {
		return false
	}
	for i, w := range want {
		if w != path[i] && (w != "*" || path[i] == "[]") {
			return false
		}
	}
	return true
}

func (b jsonEdits) text() []byte { return b }
