package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gputide/gputide"
)

// shapeRow is one row of the estimator's shapes. Absent and null are the same.
type shapeRow struct {
	Name             string   `json:"name"`
	Hidden           *bool    `json:"hidden"`
	Status           string   `json:"status"`
	AllowPreemptible *bool    `json:"allowPreemptible"`
	BundleMemoryQty  *float64 `json:"bundleMemoryQty"` // GB, as OCI counts memory: GiB
	GPUQty           *float64 `json:"gpuQty"`
	GPUMemoryQty     *float64 `json:"gpuMemoryQty"` // of one card or of all
	ProcessorType    word     `json:"processorType"`
	SubType          word     `json:"subType"`
	Products         []struct {
		PartNumber string      `json:"partNumber"`
		Qty        json.Number `json:"qty"`
		Type       word        `json:"type"` // ocpu, memory, disk
	} `json:"products"`

	name string          // without what stands in parentheses
	text json.RawMessage // the row
}

type word struct {
	Value string `json:"value"`
}

// isGPU reports whether the row is of a GPU shape, also where one of the fields
// that tell is lost: the shape must not pass for one without cards.
func (s *shapeRow) isGPU() bool {
	return s.GPUQty != nil || s.SubType.Value == "gpu" || strings.Contains(s.Name, ".GPU")
}

// estimator reads prices from the files of the cost estimator: shapes with the
// parts they are billed by, and the prices of the parts.
func (r *run) estimator(ctx context.Context) ([]string, error) {
	shapes, shapesFrom, err := r.shapes(ctx)
	if err != nil {
		if !errors.Is(err, gputide.ErrNotInFixture) { // else the products are, or are not, in it too
			return nil, &sourceError{sourceShapes, err}
		}
		return nil, err
	}
	r.b.Source(sourceShapes, gputide.SourceOK, nil)
	prices, productsFrom, err := r.products(ctx)
	if err != nil {
		return nil, err
	}
	added := false
	for i := range shapes {
		added = r.addShape(&shapes[i], prices) || added
	}
	if !added {
		return nil, drift(sourceProducts, "$.items[].partNumber", "the parts of some shape, with a price", fmt.Sprintf("none of %d shapes", len(shapes)))
	}
	return []string{productsFrom, shapesFrom}, nil
}

// shapes reads the rows that are on sale. A list in which no GPU shape can be
// read, or none says whether it may be preemptible, has another form.
func (r *run) shapes(ctx context.Context) ([]shapeRow, string, error) {
	var rows []shapeRow
	gpus, flagged, last := 0, 0, "no GPU shape"
	url, err := r.items(ctx, sourceShapes, shapesURL, func(raw json.RawMessage) error {
		s := readShape(raw)
		rows = append(rows, s)
		if s.AllowPreemptible != nil {
			flagged++
		}
		_, why := s.billed()
		switch {
		case s.name == "":
			last = "no name"
		case !s.isGPU():
		case why != "":
			last = why
		case s.omitted() != "":
			last = s.omitted()
		default:
			gpus++
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, "", err
	case gpus == 0:
		return nil, "", drift(sourceShapes, "$.items[]", "GPU shapes of the known form", fmt.Sprintf("none of %d rows: %s", len(rows), last))
	case flagged == 0:
		return nil, "", drift(sourceShapes, "$.items[].allowPreemptible", "it in some row", fmt.Sprintf("none of %d rows", len(rows)))
	}
	return rows, url, nil
}

// readShape decodes a row; one that cannot be read has no name.
func readShape(raw json.RawMessage) shapeRow {
	s := shapeRow{text: raw}
	if err := json.Unmarshal(raw, &s); err != nil {
		return shapeRow{text: raw}
	}
	name, _, _ := strings.Cut(s.Name, "(")
	s.name = strings.TrimSpace(name)
	return s
}

// omitted returns why a row is, by rule, no offer; empty for one that is.
func (s *shapeRow) omitted() string {
	switch {
	case s.Hidden != nil && *s.Hidden:
		return "hidden"
	case s.Status != "" && s.Status != "ACTIVE":
		return "not_active"
	case !strings.HasPrefix(s.name, "BM.") && !strings.HasPrefix(s.name, "VM."): // a dedicated host, a container
		return "other_product"
	case s.SubType.Value == "flexible":
		return "flexible_shape"
	}
	return ""
}

// billed returns the parts a shape on sale is billed by, of a GPU shape the one
// GPU-hour part; or why they are not known.
func (s *shapeRow) billed() (parts []gputide.Component, reason string) {
	switch {
	case s.Hidden == nil || s.Status == "":
		return nil, "no_status"
	case s.isGPU() && !s.countable():
		return nil, "bad_count"
	}
	for _, p := range s.Products {
		kind := map[string]string{"ocpu": "core", "memory": "ram", "disk": "local_ssd"}[p.Type.Value]
		if kind == "" || p.PartNumber == "" {
			return nil, "bad_part"
		}
		parts = append(parts, gputide.Component{Kind: kind, Unit: gputide.PerHour, Quantity: p.Qty.String(), SKU: p.PartNumber})
	}
	if len(parts) == 0 || (s.isGPU() && (len(parts) != 1 || parts[0].Kind != "core")) {
		return nil, "bad_part"
	}
	return parts, ""
}

func (s *shapeRow) countable() bool {
	return s.GPUQty != nil && *s.GPUQty >= 1 && *s.GPUQty <= maxGPUs && *s.GPUQty == float64(int(*s.GPUQty))
}

// addShape adds the offers of one row and reports whether it has a price.
func (r *run) addShape(s *shapeRow, prices map[string]unitPrice) bool {
	switch {
	case s.name == "":
		r.skipUnknown(sourceProducts, "bad_shape", string(s.text))
		return false
	case s.omitted() != "":
		r.b.Omit(sourceProducts, s.omitted(), 1)
		return false
	}
	parts, reason := s.billed()
	for i := range parts {
		u, listed := prices[parts[i].SKU]
		if !listed {
			u.reason = "part_not_listed"
		}
		if reason == "" {
			reason = u.reason
		}
		parts[i].Amount = u.amount
	}
	if reason != "" {
		r.skip(sourceProducts, s.name, s.AllowPreemptible, reason, string(s.text))
		return false
	}
	spec := s.spec(r.table.byName[s.name])
	if s.isGPU() {
		r.addGPU(sourceProducts, s.name, s.AllowPreemptible, parts[0].Amount, parts[0].SKU, spec)
		return true
	}
	r.add(sourceProducts, s.name, s.AllowPreemptible, spec, "", func(half bool) gputide.Published {
		return gputide.Published{Basis: gputide.BasisInstance, Components: halved(parts, half)}
	})
	return true
}

// spec returns what a row says of its shape. The cards have no name in it; the
// table has it, or the name of the shape. k is nil for a shape that is not in
// the table.
func (s *shapeRow) spec(k *known) *gputide.Spec {
	spec := &gputide.Spec{Source: sourceShapes, InstanceType: s.name, BareMetal: new(isBareMetal(s.name))}
	if q := s.BundleMemoryQty; q != nil && *q > 0 {
		spec.MemoryGiB = q
	}
	if !s.isGPU() {
		if s.ProcessorType.Value == "amd" {
			spec.CPUArch = archX86
		}
	} else {
		gpus := uint32(*s.GPUQty)
		spec.Device = gputide.Device{Name: cardOf(s.name), Count: gputide.NewCount(gpus, 1), Share: gputide.ShareWhole}
		if k != nil {
			spec.CPUArch, spec.Device.Name = k.arch, k.device
			spec.Device.MemoryGB = cardMemory(s.GPUMemoryQty, *s.GPUQty, k.memoryGB)
		}
	}
	for _, p := range s.Products {
		if ocpus, err := p.Qty.Float64(); err == nil && p.Type.Value == "ocpu" {
			spec.VCPU = vcpus(&ocpus, spec.CPUArch)
		}
	}
	return spec
}

// cardMemory returns the memory of one card where the list confirms that of the
// table. Its number is the sum over all cards of most shapes, that of one card
// of some, and of a few neither: those say nothing.
func cardMemory(listed *float64, gpus float64, card *float64) *float64 {
	if listed == nil || card == nil || (*listed != *card && *listed != gpus**card) {
		return nil
	}
	return card
}

// cardOf returns what the name of a GPU shape says of its cards: the part
// between the kind of machine and the number of cards.
func cardOf(shape string) string {
	parts := strings.Split(shape, ".")
	if len(parts) < 3 {
		return shape
	}
	if len(parts) == 3 { // BM.GPU4.8
		return parts[1]
	}
	return strings.Join(parts[2:len(parts)-1], ".") // BM.GPU.H100.8
}
