package query

import "github.com/gputide/gputide"

// KeyRow is the key of an offer in output.
type KeyRow struct {
	Provider     Text `json:"provider"`
	Partition    Text `json:"partition"`
	Seller       Text `json:"seller"`
	Region       Text `json:"region"`
	Zone         Text `json:"zone"`
	InstanceType Text `json:"instance_type"`
	Market       Text `json:"market"`
	Plan         Text `json:"plan"`
	Term         Text `json:"term"`
	Payment      Text `json:"payment"`
	OS           Text `json:"os"`
	License      Text `json:"license"`
	Tenancy      Text `json:"tenancy"`
	Tier         Text `json:"tier"`
	Volume       Text `json:"volume"`
	Stat         Text `json:"stat"`
	Tax          Text `json:"tax"`
	Currency     Text `json:"currency"` // of the prices in the row
}

// NewKeyRow returns the output form of k.
func NewKeyRow(k *gputide.Key) KeyRow {
	return KeyRow{
		Provider: Text(k.Provider), Partition: Text(k.Partition), Seller: Text(k.Seller),
		Region: Text(k.Region), Zone: Text(k.Zone), InstanceType: Text(k.InstanceType),
		Market: Text(k.Market), Plan: Text(k.Plan), Term: Text(k.Term), Payment: Text(k.Payment),
		OS: Text(k.OS), License: Text(k.License), Tenancy: Text(k.Tenancy), Tier: Text(k.Tier),
		Volume: Text(k.Volume), Stat: Text(k.Stat), Tax: Text(k.Tax), Currency: Text(k.Currency),
	}
}

// OfferRow is one offer in output. Prices are per instance-hour.
type OfferRow struct {
	OfferID Text `json:"offer_id"`
	KeyRow
	Country             Text            `json:"country"`
	Price               *Money          `json:"price"`
	PriceUSD            *Money          `json:"price_usd"`
	FXRate              Text            `json:"fx_rate"` // what one unit of the published currency buys
	FXDate              Day             `json:"fx_date"` // the older of the two days crossed
	Published           PublishedRow    `json:"published"`
	Upfront             Text            `json:"upfront"`
	Components          []ComponentRow  `json:"components"`
	Accelerator         *AcceleratorRow `json:"accelerator"` // null when the spec names none
	PricePerAccelerator *Money          `json:"price_per_accelerator"`
	VCPU                *float64        `json:"vcpu"`
	CPUArch             Text            `json:"cpu_arch"`
	MemoryGiB           *float64        `json:"memory_gib"`
	LocalDiskGB         *float64        `json:"local_disk_gb"`
	NetworkGbps         *float64        `json:"network_gbps"`
	RDMA                *RDMARow        `json:"rdma"`
	BareMetal           *bool           `json:"bare_metal"`
	Regions             []string        `json:"regions"` // with stock, of an offer with one price everywhere; null when not known
	Available           *bool           `json:"available"`
	Availability        Text            `json:"availability"`
	Listings            *int64          `json:"listings"`
	Interruption        *BandRow        `json:"interruption"`
	State               gputide.State   `json:"state"`
	Since               Stamp           `json:"since"`       // observation that first saw the price
	ObservedAt          Stamp           `json:"observed_at"` // last observation that confirmed it
	AgeS                int64           `json:"age_s"`       // seconds from ObservedAt to the moment asked for
	Flags               []gputide.Flag  `json:"flags"`
	Source              Text            `json:"source"`
}

// PublishedRow is the amount as the source prints it. Amount is null where the
// price is wholly upfront or a sum of components.
type PublishedRow struct {
	Amount   Text `json:"amount"`
	Unit     Text `json:"unit"`
	Basis    Text `json:"basis"`
	Currency Text `json:"currency"`
}

// ComponentRow is one part of a price that is a sum.
type ComponentRow struct {
	Kind     Text `json:"kind"`
	Amount   Text `json:"amount"`
	Unit     Text `json:"unit"`
	Quantity Text `json:"quantity"`
	SKU      Text `json:"sku"`
}

// AcceleratorRow is the accelerator of an instance type, read through the
// catalogue. Of an unknown name only Raw and what the source itself states are
// set.
type AcceleratorRow struct {
	Vendor        Text     `json:"vendor"`
	Model         Text     `json:"model"`
	Variant       Text     `json:"variant"`
	Slug          Text     `json:"slug"`
	Count         Text     `json:"count"`
	CountValue    *float64 `json:"count_value"`
	MemoryGB      *float64 `json:"memory_gb"` // per accelerator, as the vendor prints it
	ReportedMiB   *int64   `json:"reported_mib"`
	TotalMemoryGB *float64 `json:"total_memory_gb"`
	Share         Text     `json:"share"`
	Interconnect  Text     `json:"interconnect"`
	Confidence    Text     `json:"confidence"`
	Raw           Text     `json:"raw"`
}

// RDMARow is the network for direct memory access between nodes.
type RDMARow struct {
	Kind Text     `json:"kind"`
	Gbps *float64 `json:"gbps"`
}

// BandRow is a spot interruption band.
type BandRow struct {
	Band int64 `json:"band"`
	Text Text  `json:"text"`
}

// ChangeRow is one change in output. A spec change has no offer and no price.
type ChangeRow struct {
	OfferID Text `json:"offer_id"`
	KeyRow
	Seq        uint64             `json:"seq"`
	Kind       gputide.ChangeKind `json:"kind"`
	Before     *Money             `json:"before"`
	After      *Money             `json:"after"`
	Pct        *Percent           `json:"pct"`
	SeenAt     Stamp              `json:"seen_at"`
	NotBefore  Stamp              `json:"not_before"`
	RecordedAt Stamp              `json:"recorded_at"`
	Cause      gputide.Cause      `json:"cause"`
	Flags      []gputide.Flag     `json:"flags"`
}

// TypeRow is one instance type in output, priced or not.
type TypeRow struct {
	Provider          Text            `json:"provider"`
	Partition         Text            `json:"partition"`
	InstanceType      Text            `json:"instance_type"`
	Accelerator       *AcceleratorRow `json:"accelerator"`
	Passthrough       *bool           `json:"passthrough"`
	VCPU              *float64        `json:"vcpu"`
	CPUArch           Text            `json:"cpu_arch"`
	CPUModel          Text            `json:"cpu_model"`
	MemoryGiB         *float64        `json:"memory_gib"`
	LocalDiskGB       *float64        `json:"local_disk_gb"`
	LocalDiskKind     Text            `json:"local_disk_kind"`
	NetworkGbps       *float64        `json:"network_gbps"`
	RDMA              *RDMARow        `json:"rdma"`
	BareMetal         *bool           `json:"bare_metal"`
	OnDemand          *bool           `json:"on_demand"`
	MaxInstances      *int64          `json:"max_instances"`
	BillingIncrementS *int64          `json:"billing_increment_s"`
	MinimumS          *int64          `json:"minimum_s"`
	BilledWhenStopped *bool           `json:"billed_when_stopped"`
	IncludedDiskGB    *float64        `json:"included_disk_gb"`
	EgressPricePerGB  Text            `json:"egress_price_per_gb"`
	Use               []string        `json:"use"` // null when the vendor does not say
	Flags             []gputide.Flag  `json:"flags"`
	Source            Text            `json:"source"`
}

// SignalRow is one signal in output.
type SignalRow struct {
	KeyRow
	Name       Text  `json:"name"`
	Value      int64 `json:"value"`
	Label      Text  `json:"label"`
	Since      Stamp `json:"since"`
	ObservedAt Stamp `json:"observed_at"`
	AgeS       int64 `json:"age_s"`
	Source     Text  `json:"source"`
}

// SignalCountRow counts the signals of one value; over a window, those that had
// it at some time of it.
type SignalCountRow struct {
	Name        Text      `json:"name"`
	Value       int64     `json:"value"`
	Label       Text      `json:"label"`
	Count       int64     `json:"count"`
	ShareOfTime *Fraction `json:"share_of_time"` // of the time in which the signals had a value; null without a window
}
