package importcsv

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// Exporter writes the rows of an export, as CSV or NDJSON.
type Exporter struct {
	csv  *csv.Writer   // nil for NDJSON
	json *json.Encoder // nil for CSV
	line []string
}

// NewCSV returns an exporter that writes CSV. The first row writes the header.
func NewCSV(w io.Writer) *Exporter { return &Exporter{csv: csv.NewWriter(w)} }

// NewNDJSON returns an exporter that writes an object a line.
func NewNDJSON(w io.Writer) *Exporter {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return &Exporter{json: e}
}

// Write writes a row.
func (e *Exporter) Write(x *Exported) error {
	wire, err := wireOf(x)
	if err != nil {
		return err
	}
	if e.json != nil {
		return e.json.Encode(wire)
	}
	if err := e.header(); err != nil {
		return err
	}
	e.line = wire.cells(e.line[:0])
	return e.csv.Write(e.line)
}

// Close writes what is left, and the header of a CSV without rows.
func (e *Exporter) Close() error {
	if e.csv == nil {
		return nil
	}
	if err := e.header(); err != nil {
		return err
	}
	e.csv.Flush()
	return e.csv.Error()
}

func (e *Exporter) header() error {
	if e.line != nil {
		return nil
	}
	e.line = make([]string, 0, len(ExportColumns()))
	return e.csv.Write(ExportColumns())
}

// exportWire is a row as it is written: absent is missing, never zero.
type exportWire struct {
	Time  string        `json:"time"`
	State gputide.State `json:"state"`
	ID    string        `json:"offer_id"`

	Currency     gputide.Currency `json:"currency,omitempty"`
	InstanceType string           `json:"instance_type,omitempty"`
	License      string           `json:"license,omitempty"`
	Market       gputide.Market   `json:"market,omitempty"`
	OS           string           `json:"os,omitempty"`
	Partition    string           `json:"partition,omitempty"`
	Payment      gputide.Payment  `json:"payment,omitempty"`
	Plan         string           `json:"plan,omitempty"`
	Provider     string           `json:"provider,omitempty"`
	Region       string           `json:"region,omitempty"`
	Seller       string           `json:"seller,omitempty"`
	Stat         gputide.Stat     `json:"stat,omitempty"`
	Tax          gputide.Tax      `json:"tax,omitempty"`
	Tenancy      string           `json:"tenancy,omitempty"`
	Term         gputide.Term     `json:"term,omitempty"`
	Tier         string           `json:"tier,omitempty"`
	Volume       string           `json:"volume,omitempty"`
	Zone         string           `json:"zone,omitempty"`

	Price      string            `json:"price,omitempty"`
	Amount     string            `json:"amount,omitempty"`
	Unit       gputide.Unit      `json:"unit,omitempty"`
	Basis      gputide.Basis     `json:"basis,omitempty"`
	Upfront    string            `json:"upfront,omitempty"`
	Multiplier string            `json:"multiplier,omitempty"`
	Components []exportComponent `json:"components,omitempty"`
	SKU        string            `json:"sku,omitempty"`
	Flags      []gputide.Flag    `json:"flags,omitempty"`
	Spec       json.RawMessage   `json:"spec,omitempty"`
}

func wireOf(x *Exported) (*exportWire, error) {
	k := &x.Key
	w := &exportWire{
		Time: x.At.UTC().Format(time.RFC3339), State: x.State, ID: k.ID().String(),
		Currency: k.Currency, InstanceType: k.InstanceType, License: k.License, Market: k.Market, OS: k.OS, Partition: k.Partition,
		Payment: k.Payment, Plan: k.Plan, Provider: k.Provider, Region: k.Region, Seller: k.Seller, Stat: k.Stat, Tax: k.Tax,
		Tenancy: k.Tenancy, Term: k.Term, Tier: k.Tier, Volume: k.Volume, Zone: k.Zone,
	}
	if x.State == gputide.StatePriced {
		p := &x.Published
		w.Price, w.Amount, w.Unit, w.Basis, w.Upfront = x.Price.String(), p.Amount, p.Unit, p.Basis, p.Upfront
		w.Multiplier, w.SKU, w.Flags = p.Multiplier.String(), x.SKU, x.Flags
		for _, c := range p.Components {
			w.Components = append(w.Components, exportComponent(c))
		}
	}
	var err error
	w.Spec, err = encodeSpec(x.Spec)
	return w, err
}

// cells appends the cells of a CSV, in the order of the columns.
func (w *exportWire) cells(out []string) []string {
	out = append(out, w.Time, string(w.State), w.ID)
	k := w.key()
	for _, f := range gputide.KeyFields() {
		out = append(out, k.Get(f))
	}
	flags := make([]string, len(w.Flags))
	for i, f := range w.Flags {
		flags[i] = string(f)
	}
	components := ""
	if len(w.Components) > 0 {
		text, err := json.Marshal(w.Components)
		if err == nil { // strings alone
			components = string(text)
		}
	}
	return append(out, w.Price, w.Amount, string(w.Unit), string(w.Basis), w.Upfront, w.Multiplier, components, w.SKU,
		strings.Join(flags, " "), string(w.Spec))
}

func (w *exportWire) key() gputide.Key {
	return gputide.Key{
		Currency: w.Currency, InstanceType: w.InstanceType, License: w.License, Market: w.Market, OS: w.OS, Partition: w.Partition,
		Payment: w.Payment, Plan: w.Plan, Provider: w.Provider, Region: w.Region, Seller: w.Seller, Stat: w.Stat, Tax: w.Tax,
		Tenancy: w.Tenancy, Term: w.Term, Tier: w.Tier, Volume: w.Volume, Zone: w.Zone,
	}
}

// fromCells is the inverse of cells.
func (w *exportWire) fromCells(c []string) error {
	w.Time, w.State, w.ID = c[0], gputide.State(c[1]), c[2]
	var k gputide.Key
	fields := gputide.KeyFields()
	for i, f := range fields {
		if err := k.Set(f, c[3+i]); err != nil {
			return err
		}
	}
	w.setKey(&k)
	c = c[3+len(fields):]
	w.Price, w.Amount, w.Unit, w.Basis, w.Upfront = c[0], c[1], gputide.Unit(c[2]), gputide.Basis(c[3]), c[4]
	w.Multiplier, w.SKU, w.Spec = c[5], c[7], json.RawMessage(c[9])
	for f := range strings.FieldsSeq(c[8]) {
		w.Flags = append(w.Flags, gputide.Flag(f))
	}
	if c[6] == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(c[6]), &w.Components); err != nil {
		return fmt.Errorf("%w: components: %w", gputide.ErrInvalid, err)
	}
	return nil
}

func (w *exportWire) setKey(k *gputide.Key) {
	w.Currency, w.InstanceType, w.License, w.Market, w.OS = k.Currency, k.InstanceType, k.License, k.Market, k.OS
	w.Partition, w.Payment, w.Plan, w.Provider, w.Region = k.Partition, k.Payment, k.Plan, k.Provider, k.Region
	w.Seller, w.Stat, w.Tax, w.Tenancy, w.Term = k.Seller, k.Stat, k.Tax, k.Tenancy, k.Term
	w.Tier, w.Volume, w.Zone = k.Tier, k.Volume, k.Zone
}
