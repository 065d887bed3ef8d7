package ovh

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

const (
	// product is that of an instance; AI products have cards, too, and are priced
	// per minute.
	product = "publiccloud-instance"

	// maxCards bounds the cards of one instance: a larger number is a misread
	// field.
	maxCards = 64
)

// addon is one plan of the catalogue.
type addon struct {
	PlanCode string    `json:"planCode"`
	Product  string    `json:"product"`
	Pricings []pricing `json:"pricings"`
	Blobs    struct {
		Commercial struct {
			Brick string `json:"brick"` // gpu, guaranteed-resources, …
		} `json:"commercial"`
		Tags      []string  `json:"tags"`
		Technical technical `json:"technical"`
	} `json:"blobs"`
}

type technical struct {
	Bandwidth struct {
		Level *float64 `json:"level"` // Mbit/s
	} `json:"bandwidth"`
	CPU struct {
		Cores *float64 `json:"cores"`
	} `json:"cpu"`
	GPU *struct {
		Model  string  `json:"model"`
		Number *uint32 `json:"number"`
		Memory struct {
			Size *float64 `json:"size"` // GB, of one card
		} `json:"memory"`
	} `json:"gpu"`
	Memory struct {
		Size *float64 `json:"size"` // GB
	} `json:"memory"`
	OS struct {
		Family string `json:"family"`
	} `json:"os"`
	Storage struct {
		Disks []disk `json:"disks"`
	} `json:"storage"`
}

type disk struct {
	Capacity   *float64 `json:"capacity"` // GB
	Number     *float64 `json:"number"`
	Interface  string   `json:"interface"`
	Technology string   `json:"technology"`
}

// planCode is the code of an instance: operating system, flavor, period and class
// of deployment, as in win-t1-45.consumption and b3-8.consumption.LZ.EU.
var planCode = regexp.MustCompile(`^(win-)?([a-z0-9-]+)\.(consumption|monthly\.postpaid)(?:\.([A-Za-z0-9.]+))?$`)

// reading is what came of a row: an offer, a skip or an omission.
type reading struct {
	offer  gputide.RawOffer
	known  bool   // the row says which offer it is
	omit   string // reason
	skip   string // reason
	detail string
}

// readAddon reads one row.
func (k *book) readAddon(raw json.RawMessage) reading {
	var row addon
	if err := json.Unmarshal(raw, &row); err != nil || row.PlanCode == "" || row.Product == "" {
		return reading{skip: "bad_row", detail: string(raw)}
	}
	m := planCode.FindStringSubmatch(row.PlanCode)
	switch {
	case row.Product != product:
		return reading{omit: "other_product"}
	case m == nil:
		return reading{omit: "other_plan"}
	}
	os := "linux"
	if m[1] != "" {
		os = "windows"
	}
	r := reading{known: true, detail: row.PlanCode, offer: gputide.RawOffer{
		Source: k.source, SKU: row.PlanCode,
		Price: gputide.Published{Unit: gputide.PerHour, Basis: gputide.BasisInstance},
		Key: gputide.Key{
			Partition: k.partition, InstanceType: m[2], Market: gputide.OnDemand, OS: os, Tier: m[4],
			Stat: gputide.StatList, Tax: gputide.TaxExcluded, Currency: k.currency,
		},
	}}
	unit := "hour"
	if m[3] != "consumption" {
		unit = "month"
		r.offer.Price.Unit, r.offer.Key.Market, r.offer.Key.Term = gputide.PerMonth, gputide.Subscription, "1mo"
	}
	family := row.Blobs.Technical.OS.Family
	switch {
	case row.Blobs.Tags == nil:
		r.skip = "no_tags"
	case !slices.Contains(row.Blobs.Tags, "active"):
		r.omit = "not_active"
	case family != "" && family != os:
		r.skip = "os_mismatch"
	default:
		if r.offer.Spec, r.skip = k.spec(m[2], &row); r.skip == "" {
			r.offer.Price.Amount, r.skip = amount(row.Pricings, unit)
		}
	}
	return r
}

// spec returns what a row says of its flavor, or why it cannot be taken.
func (k *book) spec(flavor string, row *addon) (spec *gputide.Spec, reason string) {
	t := &row.Blobs.Technical
	s := &gputide.Spec{
		Source: k.source, Partition: k.partition, InstanceType: flavor, VCPU: t.CPU.Cores, MemoryGiB: t.Memory.Size,
	}
	if mbit := t.Bandwidth.Level; mbit != nil && *mbit > 0 {
		s.NetworkGbps = new(*mbit / 1000)
	}
	s.LocalDiskGB, s.LocalDiskKind = disks(t.Storage.Disks)
	switch g := t.GPU; {
	case g == nil && row.Blobs.Commercial.Brick == "gpu":
		return nil, "bad_gpu"
	case g == nil:
	case g.Model == "" || g.Number == nil || *g.Number == 0 || *g.Number > maxCards:
		return nil, "bad_gpu"
	default:
		s.Device = gputide.Device{
			Name: g.Model, Kind: gputide.DeviceGPU, Count: gputide.NewCount(*g.Number, 1),
			MemoryGB: g.Memory.Size, Share: gputide.ShareWhole,
		}
	}
	return s, ""
}

// disks returns the size of all local disks and their kind; nil where the size of
// one is not said, and no kind where they differ.
func disks(list []disk) (gb *float64, kind string) {
	sum := 0.0
	for i, d := range list {
		if d.Capacity == nil || d.Number == nil {
			return nil, ""
		}
		sum += *d.Capacity * *d.Number
		word := strings.ToLower(cmp.Or(d.Technology, d.Interface))
		if i > 0 && word != kind {
			word = ""
		}
		kind = word
	}
	if sum == 0 {
		return nil, ""
	}
	if kind != "nvme" && kind != "ssd" && kind != "hdd" {
		kind = ""
	}
	return &sum, kind
}
