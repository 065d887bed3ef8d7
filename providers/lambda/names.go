package lambda

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// typesCSV pairs the names of the API with the words of the page.
//
//go:embed types.csv
var typesCSV string

// words are what the page calls an instance type.
type words struct {
	plan  string // "NVIDIA H100 SXM"
	vram  string // of one card: "80 GB"
	count int    // of the tab
}

// memoryGB returns the memory of one card as the page prints it.
func (w words) memoryGB() *float64 {
	if s, ok := parseSize(w.vram); ok && s.unit == "GB" {
		return &s.amount
	}
	return nil
}

// names finds the words of a name and the name of words. It is read-only.
type names struct {
	words map[string]words
	name  map[words]string
}

func loadNames() (*names, error) {
	c := csv.NewReader(strings.NewReader(typesCSV))
	c.Comment = '#'
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("types.csv: %w", err)
	}
	n := &names{words: map[string]words{}, name: map[words]string{}}
	for _, row := range rows[1:] {
		count, err := strconv.Atoi(row[3])
		if err != nil {
			return nil, fmt.Errorf("types.csv: %s: %w", row[0], err)
		}
		w := words{row[1], row[2], count}
		n.words[row[0]], n.name[w] = w, row[0]
	}
	return n, nil
}

// instanceType returns the API's name of w, or w itself where that is not known.
// The memory is needed: the page has cards of two sizes under one plan.
func (n *names) instanceType(w words) string {
	if name, ok := n.name[w]; ok {
		return name
	}
	return fmt.Sprintf("%s %s×%d", w.plan, w.vram, w.count)
}

// namePattern is the form of the API's names: gpu_8x_a100_80gb_sxm4.
var namePattern = regexp.MustCompile(`^gpu_(\d{1,3})x_(\w+)$`)

// parseName returns the number and the name of the cards in a name of the API.
func parseName(instanceType string) (count int, card string, ok bool) {
	m := namePattern.FindStringSubmatch(instanceType)
	if m == nil {
		return 0, "", false
	}
	count, err := strconv.Atoi(m[1])
	return count, m[2], err == nil && count > 0 && count <= maxCount
}

// sizePattern is the form of the page's sizes: "80 GB", "1800 GiB", "19.5 TiB SSD".
var sizePattern = regexp.MustCompile(`^(\d{1,6}(?:\.\d{1,3})?) (GB|GiB|TiB)(?: (SSD|NVMe))?$`)

// size is one size of the page.
type size struct {
	amount float64
	unit   string
	kind   string // of a disk, lower case
}

func parseSize(text string) (size, bool) {
	m := sizePattern.FindStringSubmatch(text)
	if m == nil {
		return size{}, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil || v == 0 {
		return size{}, false
	}
	return size{v, m[2], strings.ToLower(m[3])}, true
}

// gib returns a size in GiB; nil for one in decimal units, which the page uses
// for cards only.
func (s size) gib() *float64 {
	switch s.unit {
	case "GiB":
		return new(s.amount)
	case "TiB":
		return new(1024 * s.amount)
	}
	return nil
}

// newSpec returns what every instance type has: whole cards, and billing by the
// minute.
func newSpec(source, instanceType string, d gputide.Device) *gputide.Spec {
	if d.Count.Known() {
		d.Kind, d.Share = gputide.DeviceGPU, gputide.ShareWhole
	}
	return &gputide.Spec{
		Source: source, InstanceType: instanceType, Device: d, BillingIncrementS: new(int64(billingIncrementS)),
	}
}

// setDisk sets the local disk, stated in GiB.
func setDisk(s *gputide.Spec, gib float64, kind string) {
	s.LocalDiskGB, s.LocalDiskKind = new(gib*bytesPerGiB/bytesPerGB), kind
}
