package scaleway

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// gpuRange is the range of the instances with cards.
const gpuRange = "GPU"

// product is one row of the catalogue: an instance type in a zone.
type product struct {
	SKU      string `json:"sku"`
	Product  string `json:"product"`
	Status   string `json:"status"`
	Locality struct {
		Zone string `json:"zone"`
	} `json:"locality"`
	Price struct {
		Retail *money `json:"retail_price"`
	} `json:"price"`
	Measure struct {
		Unit string      `json:"unit"`
		Size json.Number `json:"size"`
	} `json:"unit_of_measure"`
	Properties struct {
		Hardware hardware `json:"hardware"`
		Instance struct {
			Range   string `json:"range"`
			OfferID string `json:"offer_id"` // name of the type in the instances API
		} `json:"instance"`
	} `json:"properties"`
}

// money is an amount as protobuf writes it: units may be a number or a string.
type money struct {
	Currency string      `json:"currency_code"`
	Units    json.Number `json:"units"`
	Nanos    json.Number `json:"nanos"`
}

type hardware struct {
	CPU struct {
		Type    string `json:"type"`
		Virtual struct {
			Count *float64 `json:"count"`
		} `json:"virtual"`
	} `json:"cpu"`
	RAM struct {
		Size *float64 `json:"size"` // bytes
	} `json:"ram"`
	GPU *struct {
		Count *uint32 `json:"count"`
		Type  string  `json:"type"`
	} `json:"gpu"`
}

// reading is what came of a row: an offer, a skip or an omission.
type reading struct {
	offer  gputide.RawOffer
	known  bool   // the row says which offer it is
	omit   string // reason
	skip   string // reason
	detail string
}

// catalogue reads the prices of one zone.
func (p *Provider) catalogue(ctx context.Context, b *gputide.Batch, z zone, types map[string]*gputide.Spec) ([]string, error) {
	var rows []reading
	urls, err := p.pages(ctx, sourceCatalogue, catalogueURL, z, func(resp *fetch.Response) (int, int, error) {
		var page struct {
			Products []json.RawMessage `json:"products"`
			Total    *int              `json:"total_count"`
		}
		if err := decode(sourceCatalogue, resp, &page); err != nil {
			return 0, 0, err
		}
		if page.Products == nil || page.Total == nil {
			return 0, 0, drift(sourceCatalogue, "$", "products and total_count", "a page without")
		}
		for _, raw := range page.Products {
			rows = append(rows, read(raw, z, types))
		}
		return len(page.Products), *page.Total, nil
	})
	if err != nil {
		return nil, err
	}
	skipped, priced, last := 0, 0, ""
	for i := range rows {
		switch {
		case rows[i].skip != "":
			skipped, last = skipped+1, rows[i].skip
		case rows[i].omit == "":
			priced++
		}
	}
	if skipped > 0 && priced == 0 {
		return nil, drift(sourceCatalogue, "$.products[]", "a row of the known form", fmt.Sprintf("none of %d: %s", len(rows), last))
	}
	for i := range rows {
		rows[i].add(b, z)
	}
	return urls, nil
}

func (r *reading) add(b *gputide.Batch, z zone) {
	switch {
	case r.omit != "":
		b.Omit(sourceCatalogue, r.omit, 1)
	case r.skip != "" && r.known:
		b.SkipPart(sourceCatalogue, r.offer.Key, z.name, r.skip, r.detail)
	case r.skip != "":
		b.SkipUnknown(sourceCatalogue, gputide.Scope{Part: z.name}, r.skip, r.detail)
	default:
		b.Add(r.offer)
	}
}

// read reads one row.
func read(raw json.RawMessage, z zone, types map[string]*gputide.Spec) reading {
	var row product
	if err := json.Unmarshal(raw, &row); err != nil || row.Product == "" || row.Locality.Zone == "" {
		return reading{skip: "bad_row", detail: string(raw)}
	}
	r := reading{known: true, detail: row.Product, offer: gputide.RawOffer{
		Source: sourceCatalogue, Part: z.name, SKU: row.SKU,
		Key: gputide.Key{
			Region: z.region, Zone: z.name, InstanceType: row.Product, Market: gputide.OnDemand,
			Stat: gputide.StatList, Tax: gputide.TaxExcluded, Currency: currency,
		},
	}}
	switch sold, known := isSold(row.Status); {
	case !known:
		r.skip, r.detail = "bad_status", row.Status
		r.known = row.Locality.Zone == z.name
		return r
	case !sold:
		r.omit = "not_sold"
		return r
	case row.Locality.Zone != z.name:
		r.omit = "other_zone"
		return r
	}
	if r.offer.Spec, r.skip = row.spec(types[row.Properties.Instance.OfferID]); r.skip == "" {
		r.offer.Price, r.skip = row.price()
	}
	return r
}

// isSold reports whether a product of a status can be bought. Products that are
// no longer sold stay in the catalogue, with their last price or with 0.
func isSold(status string) (sold, known bool) {
	switch status {
	case "general_availability", "public_beta":
		return true, true
	case "retired", "preview":
		return false, true
	}
	return false, strings.HasPrefix(status, "end_of_")
}

// price returns the price in the unit of the catalogue, or why there is none.
func (p *product) price() (price gputide.Published, reason string) {
	price.Basis = gputide.BasisInstance
	switch p.Measure.Unit {
	case "minute":
		price.Unit = gputide.PerMinute
	case "hour":
		price.Unit = gputide.PerHour
	default:
		return price, "bad_unit"
	}
	if p.Measure.Size.String() != "1" { // the price of several would need dividing
		return price, "bad_unit"
	}
	m := p.Price.Retail
	if m == nil {
		return price, "no_price"
	}
	if m.Currency != currency {
		return price, "other_currency"
	}
	units, errUnits := strconv.ParseInt(m.Units.String(), 10, 64)
	nanos, errNanos := strconv.ParseInt(m.Nanos.String(), 10, 64)
	const perUnit = 1_000_000_000
	if errUnits != nil || errNanos != nil || units < 0 || units >= int64(gputide.MaxNano)/perUnit || nanos < 0 || nanos >= perUnit || units+nanos == 0 {
		return price, "no_price"
	}
	price.Amount = gputide.Nano(units*perUnit + nanos).String()
	return price, ""
}

// spec returns what the catalogue says of the type, with what the instance type
// says before it. Where the two differ in the number of cards neither is taken.
func (p *product) spec(known *gputide.Spec) (spec *gputide.Spec, reason string) {
	h := &p.Properties.Hardware
	s := gputide.Spec{
		Source: sourceCatalogue, InstanceType: p.Product, VCPU: h.CPU.Virtual.Count, CPUModel: h.CPU.Type, MemoryGiB: gib(h.RAM.Size),
	}
	if h.GPU != nil {
		if h.GPU.Count == nil || *h.GPU.Count == 0 || *h.GPU.Count > maxCards || h.GPU.Type == "" {
			return nil, "bad_gpu"
		}
		s.Device = gputide.Device{
			Name: h.GPU.Type, Other: []string{p.Product}, Kind: gputide.DeviceGPU,
			Count: gputide.NewCount(*h.GPU.Count, 1), Share: gputide.ShareWhole,
		}
	} else if p.Properties.Instance.Range == gpuRange {
		return nil, "bad_gpu"
	}
	if known == nil {
		return &s, ""
	}
	if known.Device.Count != s.Device.Count {
		return nil, "gpu_mismatch"
	}
	both := *known
	both.InstanceType = p.Product
	both.Fill(&s)
	return &both, ""
}

// gib returns bytes as GiB.
func gib(bytes *float64) *float64 {
	if bytes == nil || *bytes <= 0 {
		return nil
	}
	return new(*bytes / (1 << 30))
}
