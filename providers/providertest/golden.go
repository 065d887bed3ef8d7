package providertest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/gputide/gputide"
)

// Golden returns c as JSON with one row a line, for reading and comparing. What
// is empty is left out. Two crawls that read the same are equal byte for byte.
// The specs that offers carry are listed once beside those added apart.
func (c *Collector) Golden() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("{")
	for _, s := range []struct {
		name string
		rows []any
	}{
		{"scopes", rows(c.Scopes)},
		{"sources", rows(c.Sources)},
		{"offers", c.offerRows()},
		{"specs", rows(c.specs())},
		{"signals", rows(c.Signals)},
		{"rates", rows(c.Rates)},
		{"skipped", rows(c.Skips)},
		{"omitted", rows(c.Omits)},
	} {
		if len(s.rows) == 0 {
			continue
		}
		if out.Len() > 1 {
			out.WriteString(",")
		}
		fmt.Fprintf(&out, "\n%q: [", s.name)
		for i, row := range s.rows {
			if i > 0 {
				out.WriteString(",")
			}
			out.WriteString("\n ")
			if err := writeRow(&out, row); err != nil {
				return nil, err
			}
		}
		out.WriteString("\n]")
	}
	out.WriteString("\n}\n")
	return out.Bytes(), nil
}

func rows[T any](list []T) []any {
	out := make([]any, len(list))
	for i, row := range list {
		out[i] = row
	}
	return out
}

// offerRows returns the offers without their specs.
func (c *Collector) offerRows() []any {
	out := make([]any, len(c.Offers))
	for i, o := range c.Offers {
		o.Spec = nil
		out[i] = o
	}
	return out
}

// specs returns the specs of c and those its offers carry, each once.
func (c *Collector) specs() []gputide.Spec {
	specs := append([]gputide.Spec(nil), c.Specs...)
	seen := make(map[*gputide.Spec]bool)
	for _, o := range c.Offers {
		if o.Spec != nil && !seen[o.Spec] {
			seen[o.Spec] = true
			specs = append(specs, *o.Spec)
		}
	}
	sortBy(specs, func(s gputide.Spec) string {
		return s.Partition + "\x00" + s.InstanceType + "\x00" + s.Source + "\x00" + s.Device.Count.String()
	})
	return specs
}

// MarshalJSON writes the error as text.
func (s SourceNote) MarshalJSON() ([]byte, error) {
	text := ""
	if s.Err != nil {
		text = s.Err.Error()
	}
	return json.Marshal(map[string]string{"Source": s.Source, "Status": string(s.Status), "Err": text})
}

// writeRow writes row as one line of JSON without its empty fields.
func writeRow(out *bytes.Buffer, row any) error {
	text, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("golden row: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var tree map[string]any
	if err := dec.Decode(&tree); err != nil {
		return fmt.Errorf("golden row: %w", err)
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(compact(tree)); err != nil {
		return fmt.Errorf("golden row: %w", err)
	}
	out.Truncate(out.Len() - 1) // the encoder's line feed
	return nil
}

// compact removes what is empty from a decoded JSON value: null, "", false, the
// zero time, an empty list or object. A count becomes its text; other numbers
// stay, 0 included. It returns nil for an empty value.
func compact(v any) any {
	switch v := v.(type) {
	case string:
		if v == "" || v == "0001-01-01T00:00:00Z" {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = compact(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	case map[string]any:
		return compactObject(v)
	}
	return v
}

func compactObject(m map[string]any) any {
	if num, den := m["Num"], m["Den"]; len(m) == 2 && num != nil && den != nil {
		if den == json.Number("0") {
			return nil
		}
		return fmt.Sprintf("%v/%v", num, den)
	}
	for name, v := range m {
		if v = compact(v); v == nil || (name == "Count" && v == json.Number("0")) { // of a scope: not counted yet
			delete(m, name)
		} else {
			m[name] = v
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}
