package tencent

import (
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// familiesCSV is the table of accelerators, with the source of each row.
//
//go:embed families.csv
var familiesCSV string

const (
	// maxCards bounds the cards of one machine, maxParts the slices of one card: a
	// larger number is a misread field.
	maxCards = 64
	maxParts = 64
)

// family is the accelerator of one family.
type family struct {
	device   string
	memoryGB *float64                 // of one card
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

// device returns the accelerator of a machine, zero for one without. texts are
// what the row says of it in words, the best first: a count and a model, apart
// from the family, whose table says the rest.
func (t families) device(m *machine, texts ...string) gputide.Device {
	if m.FPGA != nil && *m.FPGA > 0 {
		return gputide.Device{}
	}
	name, size, _ := strings.Cut(*m.InstanceType, ".")
	f, known := t[name]
	d := gputide.Device{Name: f.device, Count: f.cards[size]}
	for _, text := range texts {
		if count, model, ok := described(text); ok {
			d.Name = model
			if count.Known() {
				d.Count = count
			}
			break
		}
	}
	if count, said := m.cards(); said {
		d.Count = count
		if d.Name == "" && count.Known() { // it has cards, and nothing says which
			d.Name = name
		}
	}
	if d.Name == "" {
		return gputide.Device{}
	}
	d.Kind = gputide.DeviceGPU
	d.Share = gputide.ShareWhole
	switch {
	case !d.Count.Known():
		d.Share = ""
	case d.Count.Den > 1:
		d.Share = gputide.ShareVGPU
	}
	if known && f.memoryGB != nil {
		d.MemoryGB = f.memoryGB
		if d.Share == gputide.ShareVGPU { // of the slice
			d.MemoryGB, d.MemoryMiB = nil, new(int64(*f.memoryGB)*1024*int64(d.Count.Num)/int64(d.Count.Den))
		}
	}
	return d
}

// cards returns the number of accelerators of a machine, and whether it says one
// that is not zero.
func (m *machine) cards() (gputide.Count, bool) {
	text := string(m.GPUCount)
	if !positive(m.GPUCount) {
		if m.GPU == nil || *m.GPU <= 0 {
			return gputide.Count{}, false
		}
		text = strconv.FormatFloat(*m.GPU, 'f', -1, 64)
	}
	v, err := gputide.ParseAmount(text)
	if err != nil {
		return gputide.Count{}, true
	}
	return countOf(v), true
}

// countOf returns a number of cards as a count; unknown where it is none: a
// third has no exact decimal, and is not guessed.
func countOf(v *big.Rat) gputide.Count {
	if v.Sign() <= 0 || v.Cmp(big.NewRat(maxCards, 1)) > 0 || v.Denom().Cmp(big.NewInt(maxParts)) > 0 {
		return gputide.Count{}
	}
	if den := v.Denom().Uint64(); den&(den-1) != 0 {
		return gputide.Count{}
	}
	return gputide.NewCount(uint32(v.Num().Uint64()), uint32(v.Denom().Uint64()))
}

// described reads "8 * NVIDIA V100", "4 颗 NVIDIA T4" and "1/4 * NVIDIA T4".
func described(text string) (count gputide.Count, model string, ok bool) {
	i := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '/' && r != '.' })
	if i <= 0 {
		return count, "", false
	}
	number, rest := text[:i], strings.TrimSpace(text[i:])
	for _, mark := range []string{"*", "×", "颗", "卡", "块"} {
		after, found := strings.CutPrefix(rest, mark)
		model = strings.TrimSpace(after)
		if !found || model == "" {
			continue
		}
		if n, err := gputide.ParseCount(number); err == nil {
			return n, model, true
		}
		if v, err := gputide.ParseAmount(number); err == nil {
			return countOf(v), model, true
		}
	}
	return count, "", false
}

// gpuText returns what Externals says of the GPUs, empty for nothing.
func gpuText(externals json.RawMessage) string {
	var e gpuDesc
	if json.Unmarshal(externals, &e) != nil {
		return "" // it is an object of no fixed form, or absent
	}
	return strings.TrimSpace(e.GPUDesc)
}

// positive reports whether n is a decimal above zero.
func positive(n number) bool {
	v, err := gputide.ParseAmount(string(n))
	return err == nil && v.Sign() > 0
}
