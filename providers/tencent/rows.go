package tencent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

// Ways of paying, as InstanceChargeType names them.
const (
	chargeHourly  = "POSTPAID_BY_HOUR"
	chargePrepaid = "PREPAID"
	chargeSpot    = "SPOTPAID"
)

// osLinux is the system the prices are of: the gateway is asked for it, and API
// 3.0 knows no other.
const osLinux = "linux"

// reader reads the rows of one region. Nothing is added before all are read: a
// later page may fail.
type reader struct {
	b      *gputide.Batch
	site   *site
	source string
	region string
	table  families

	raw     []json.RawMessage
	prepaid map[string]bool // zone and type that have a row of whole periods
	seen    map[string]bool // fields that some row has
	specs   map[string]*gputide.Spec
	omitted map[string]int64
}

func newReader(b *gputide.Batch, s *site, source, region string, table families) *reader {
	return &reader{
		b: b, site: s, source: source, region: region, table: table, prepaid: make(map[string]bool), seen: make(map[string]bool),
		specs: make(map[string]*gputide.Spec), omitted: make(map[string]int64),
	}
}

// take adds what all rows say.
func (r *reader) take() error {
	if len(r.raw) == 0 {
		return fmt.Errorf("%s: %w: InstanceTypeQuotaSet of %s", r.source, gputide.ErrEmpty, r.region)
	}
	rows := make([]*quota, len(r.raw))
	for i, raw := range r.raw {
		rows[i] = r.look(raw)
	}
	for _, name := range []string{"Zone", "InstanceType", "InstanceChargeType", "Status", "Price", "Price.UnitPrice"} {
		if !r.seen[name] {
			return drift(r.source, "InstanceTypeQuotaSet[]."+name, "it in some row", fmt.Sprintf("none of %d", len(rows)))
		}
	}
	for i, q := range rows {
		if q == nil {
			r.skipUnknown("bad_row", string(r.raw[i]))
			continue
		}
		r.add(q)
	}
	for reason, n := range r.omitted {
		r.b.Omit(r.source, reason, n)
	}
	return nil
}

// look decodes a row and notes what it has; nil for a row that does not say what
// it is.
func (r *reader) look(raw json.RawMessage) *quota {
	var q quota
	if json.Unmarshal(raw, &q) != nil {
		return nil
	}
	for name, there := range map[string]bool{
		"Zone": q.Zone != nil, "InstanceType": q.InstanceType != nil, "InstanceChargeType": q.InstanceChargeType != nil,
		"Status": q.Status != "", "Price": q.Price != nil, "Price.UnitPrice": q.Price != nil && q.Price.UnitPrice != "",
	} {
		if there {
			r.seen[name] = true
		}
	}
	if q.Zone == nil || *q.Zone == "" || q.InstanceType == nil || *q.InstanceType == "" || q.InstanceChargeType == nil || q.Price == nil {
		return nil
	}
	if *q.InstanceChargeType == chargePrepaid {
		r.prepaid[*q.Zone+" "+*q.InstanceType] = true
	}
	return &q
}

// add adds the offers and the stock of one row.
func (r *reader) add(q *quota) {
	key := gputide.Key{
		Partition: r.site.partition, Region: r.region, Zone: *q.Zone, InstanceType: *q.InstanceType, OS: osLinux,
		Currency: r.site.currency,
	}
	o := &priced{b: r.b, source: r.source, spec: r.spec(q)}
	switch *q.InstanceChargeType {
	case chargeHourly:
		key.Market = gputide.OnDemand
		o.hourly(key, q.Price)
		if prices := q.Price.totals(); !r.prepaid[key.Zone+" "+key.InstanceType] &&
			slices.ContainsFunc(prices[:], func(t total) bool { return t.offered() }) {
			whole := key
			whole.Market = gputide.Subscription
			r.omitted["not_offered"] += o.terms(whole, q.Price)
		}
	case chargeSpot:
		key.Market = gputide.Spot
		o.spot(key, q.Price)
	case chargePrepaid:
		key.Market = gputide.Subscription
		r.omitted["not_offered"] += o.terms(key, q.Price)
	default:
		r.omitted["other_charge_type"]++
		return
	}
	if o.spec.Device.Known() {
		r.stock(q, gputide.Key{Partition: key.Partition, Region: key.Region, Zone: key.Zone, InstanceType: key.InstanceType, Market: key.Market})
	}
}

// stock adds how many can be had. A type that is sold out has its price still.
func (r *reader) stock(q *quota, key gputide.Key) {
	level, known := map[string]int64{
		"EnoughStock":  gputide.AvailabilityHigh,
		"NormalStock":  gputide.AvailabilityMedium,
		"UnderStock":   gputide.AvailabilityLow,
		"WithoutStock": gputide.AvailabilityNone,
		"":             gputide.AvailabilityYes,
	}[q.StatusCategory]
	switch {
	case q.Status == "SOLD_OUT":
		level, known = gputide.AvailabilityNone, true
	case q.Status != "SELL":
		known = false
	}
	if !known {
		r.b.SkipUnknown(r.source, r.stockScope(), "bad_stock", q.Status+" "+q.StatusCategory)
		return
	}
	r.b.Signal(gputide.Signal{Source: r.source, Key: key, Name: gputide.SignalAvailability, Value: level})
}

// spec returns what the row says of its type, one value for all its offers.
func (r *reader) spec(q *quota) *gputide.Spec {
	if s := r.specs[*q.InstanceType]; s != nil {
		return s
	}
	s := q.machine.spec(r.site.partition, r.source)
	s.Device = r.table.device(&q.machine, gpuText(q.Externals), q.Remark)
	s.CPUModel = q.CPUType
	if strings.Contains(q.CPUType, "Intel") || strings.Contains(q.CPUType, "AMD") {
		s.CPUArch = "x86_64"
	}
	r.specs[*q.InstanceType] = &s
	return &s
}

// spec returns what several actions say of a type, without its accelerator.
func (m *machine) spec(partition, source string) gputide.Spec {
	s := gputide.Spec{Source: source, Partition: partition, InstanceType: *m.InstanceType}
	if m.CPU != nil && *m.CPU > 0 {
		s.VCPU = m.CPU
	}
	if m.Memory != nil && *m.Memory > 0 {
		s.MemoryGiB = m.Memory
	}
	return s
}

// skipUnknown counts a row that may be of any offer of the region.
func (r *reader) skipUnknown(reason, detail string) {
	for _, s := range r.site.scopes(r.region) {
		r.b.SkipUnknown(r.source, s, reason, detail)
	}
}

func (r *reader) stockScope() gputide.Scope {
	return gputide.Scope{Partition: r.site.partition, Region: r.region, Signal: gputide.SignalAvailability}
}
