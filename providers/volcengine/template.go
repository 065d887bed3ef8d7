package volcengine

import (
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// familiesCSV is the table of accelerators, with the source of its rows.
//
//go:embed families.csv
var familiesCSV string

// family is the accelerator of one family.
type family struct {
	device   string
	memoryGB *float64
	cards    map[string]gputide.Count // by the rest of the name
}

// families has the accelerators by family. It is read-only.
type families map[string]family

func loadFamilies() (families, error) {
	c := csv.NewReader(strings.NewReader(familiesCSV))
	c.Comment = '#'
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("families.csv: %w", err)
	}
	out := make(families, len(rows))
	for _, row := range rows[1:] {
		f := family{device: row[1], cards: make(map[string]gputide.Count)}
		if row[2] != "" {
			gb, err := strconv.ParseFloat(row[2], 64)
			if err != nil {
				return nil, fmt.Errorf("families.csv: %s: %w", row[0], err)
			}
			f.memoryGB = &gb
		}
		for size := range strings.FieldsSeq(row[3]) {
			name, n, _ := strings.Cut(size, "=")
			if f.cards[name], err = gputide.ParseCount(n); err != nil {
				return nil, fmt.Errorf("families.csv: %s: %w", row[0], err)
			}
		}
		out[row[0]] = f
	}
	return out, nil
}

// spec returns what the family of a type says; nil for one without cards.
func (t families) spec(instanceType string) *gputide.Spec {
	name, size, _ := strings.Cut(strings.TrimPrefix(instanceType, "ecs."), ".")
	f, ok := t[name]
	if !ok {
		return nil
	}
	d := gputide.Device{Name: f.device, Kind: gputide.DeviceGPU, Count: f.cards[size], MemoryGB: f.memoryGB}
	if d.Name == "" { // it has cards, and nothing says which
		d.Name = name
	}
	if d.Count.Known() {
		d.Share = gputide.ShareWhole
	}
	return &gputide.Spec{Source: sourceFamilies, InstanceType: instanceType, Device: d}
}

// template adds what the template says of instance types.
func (p *Provider) template(ctx context.Context, b *gputide.Batch) error {
	var answer struct {
		ResponseMetadata metadata
		Result           *struct {
			List []struct{ Template *string }
		}
	}
	if _, err := p.http.JSON(ctx, ask(sourceTemplate, templateURL, nil), &answer); err != nil {
		return err
	}
	if err := answer.ResponseMetadata.check(sourceTemplate); err != nil {
		return err
	}
	switch {
	case answer.Result == nil || answer.Result.List == nil:
		return drift(sourceTemplate, "$.Result.List", "a list", "none")
	case len(answer.Result.List) == 0:
		return fmt.Errorf("%s: %w: Result.List", sourceTemplate, gputide.ErrEmpty)
	}
	w := &walk{seen: make(map[string]bool)}
	for _, row := range answer.Result.List {
		if row.Template == nil {
			return drift(sourceTemplate, "$.Result.List[].Template", "JSON in a text", "none")
		}
		var tree any
		if err := fetch.Unmarshal(sourceTemplate, "$.Result.List[].Template", []byte(*row.Template), &tree); err != nil {
			return err
		}
		w.visit(tree)
	}
	if len(w.specs) == 0 {
		return drift(sourceTemplate, "$.Result.List[].Template", "a node of ECS with its abilities", "none")
	}
	for _, s := range w.specs {
		b.Spec(s)
	}
	b.Omit(sourceTemplate, "bad_node", w.bad)
	return nil
}

// walk collects the types of a template: nodes may stand at any depth.
type walk struct {
	seen  map[string]bool
	specs []gputide.Spec
	bad   int64
}

func (w *walk) visit(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			w.visit(e)
		}
	case map[string]any:
		if v["Product"] == "ECS" && v["ConfigurationCode"] != nil {
			w.node(v)
		}
		for _, e := range v {
			switch e.(type) {
			case []any, map[string]any:
				w.visit(e)
			}
		}
	}
}

var (
	coresText  = regexp.MustCompile(`^([0-9]{1,4}) ?核$`)
	memoryText = regexp.MustCompile(`^([0-9]{1,6}(?:\.[0-9]+)?) ?GiB$`)
)

// node reads one node. Of the two of a type, hourly and prepaid, one is kept.
func (w *walk) node(v map[string]any) {
	code, _ := v["ConfigurationCode"].(string)
	attrs, _ := v["AbilityAttrs"].([]any)
	instanceType, ok := typeOf(code)
	if !ok || len(attrs) == 0 {
		w.bad++
		return
	}
	if w.seen[instanceType] {
		return
	}
	s := gputide.Spec{Source: sourceTemplate, InstanceType: instanceType}
	for _, a := range attrs {
		attr, _ := a.(map[string]any)
		value, _ := attr["Value"].(string)
		switch attr["Ability"] {
		case "vcpu":
			s.VCPU = number(coresText, value)
		case "memory":
			s.MemoryGiB = number(memoryText, value)
		case "processor":
			s.CPUModel = value
		}
	}
	if s.VCPU == nil || s.MemoryGiB == nil {
		w.bad++
		return
	}
	w.seen[instanceType] = true
	w.specs = append(w.specs, s)
}

func number(form *regexp.Regexp, text string) *float64 {
	m := form.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil || v <= 0 {
		return nil
	}
	return &v
}

// codeText is ecs.g3i.large, with .month behind it where it is prepaid.
var codeText = regexp.MustCompile(`^(ecs\.[a-z0-9-]+(?:\.[a-z0-9-]+)+?)(?:\.month)?$`)

// typeOf returns the instance type of a configuration.
func typeOf(code string) (string, bool) {
	m := codeText.FindStringSubmatch(code)
	if m == nil {
		return "", false
	}
	return m[1], true
}
