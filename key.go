package gputide

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Key identifies one purchasable combination and so one price series. An empty
// field means "not said" or "does not apply". The source that listed it is not
// part of the identity.
type Key struct {
	Provider     string // cloud, a one-word slug
	Partition    string // one of the provider's separate price books: aws, aws-cn; cn, intl
	Seller       string // who runs the machine when an aggregator sells it
	Region       string // as published; empty is one price everywhere
	Zone         string // as published; AWS zone ids, not account-specific letters
	InstanceType string // the provider's name verbatim; where cards are sold, its GPU id and ×n
	Market       Market
	Plan         string // ri_standard, sp_compute, cud, …
	Term         Term
	Payment      Payment
	OS           string // linux, windows, rhel, suse, …
	License      string // byol, sql_web, sql_std, sql_ent, ha
	Tenancy      string // shared, dedicated, host
	Tier         string // the provider's service class: secure, community
	Volume       string // the step the price holds for: h<=96, gpus>=64
	Stat         Stat
	Tax          Tax
	Currency     Currency
}

// OfferID is the identity of an offer everywhere outside the database: the
// first 16 bytes of the SHA-256 of its canonical key.
type OfferID [16]byte

// String returns 32 lower-case hex digits.
func (id OfferID) String() string { return hex.EncodeToString(id[:]) }

// ParseOfferID reads 32 hex digits. It returns [ErrInvalid] for anything else.
func ParseOfferID(s string) (OfferID, error) {
	var id OfferID
	if len(s) != 2*len(id) {
		return id, fmt.Errorf("%w: offer id %q is not %d hex digits", ErrInvalid, clip(s), 2*len(id))
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return OfferID{}, fmt.Errorf("%w: offer id %q is not %d hex digits", ErrInvalid, clip(s), 2*len(id))
	}
	return id, nil
}

// Field is the name of a key field, as used in the canonical key, in filters,
// group keys and output.
type Field string

// The key fields in canonical (alphabetical) order.
const (
	FieldCurrency     Field = "currency"
	FieldInstanceType Field = "instance_type"
	FieldLicense      Field = "license"
	FieldMarket       Field = "market"
	FieldOS           Field = "os"
	FieldPartition    Field = "partition"
	FieldPayment      Field = "payment"
	FieldPlan         Field = "plan"
	FieldProvider     Field = "provider"
	FieldRegion       Field = "region"
	FieldSeller       Field = "seller"
	FieldStat         Field = "stat"
	FieldTax          Field = "tax"
	FieldTenancy      Field = "tenancy"
	FieldTerm         Field = "term"
	FieldTier         Field = "tier"
	FieldVolume       Field = "volume"
	FieldZone         Field = "zone"
)

// KeyFields lists the key fields in canonical order. A field added later is
// empty on old keys, so ids never move.
func KeyFields() []Field {
	return []Field{
		FieldCurrency, FieldInstanceType, FieldLicense, FieldMarket, FieldOS, FieldPartition,
		FieldPayment, FieldPlan, FieldProvider, FieldRegion, FieldSeller, FieldStat, FieldTax,
		FieldTenancy, FieldTerm, FieldTier, FieldVolume, FieldZone,
	}
}

// Get returns the value of a key field; it is empty for a field that k does not
// have.
func (k *Key) Get(f Field) string {
	switch f {
	case FieldMarket:
		return string(k.Market)
	case FieldTerm:
		return string(k.Term)
	case FieldPayment:
		return string(k.Payment)
	case FieldStat:
		return string(k.Stat)
	case FieldTax:
		return string(k.Tax)
	case FieldCurrency:
		return string(k.Currency)
	}
	if p := k.text(f); p != nil {
		return *p
	}
	return ""
}

// Set sets a key field. It returns [ErrInvalid] for an unknown field.
func (k *Key) Set(f Field, v string) error {
	switch f {
	case FieldMarket:
		k.Market = Market(v)
	case FieldTerm:
		k.Term = Term(v)
	case FieldPayment:
		k.Payment = Payment(v)
	case FieldStat:
		k.Stat = Stat(v)
	case FieldTax:
		k.Tax = Tax(v)
	case FieldCurrency:
		k.Currency = Currency(v)
	default:
		p := k.text(f)
		if p == nil {
			return fmt.Errorf("%w: key field %q", ErrInvalid, f)
		}
		*p = v
	}
	return nil
}

func (k *Key) text(f Field) *string {
	switch f {
	case FieldInstanceType:
		return &k.InstanceType
	case FieldLicense:
		return &k.License
	case FieldOS:
		return &k.OS
	case FieldPartition:
		return &k.Partition
	case FieldPlan:
		return &k.Plan
	case FieldProvider:
		return &k.Provider
	case FieldRegion:
		return &k.Region
	case FieldSeller:
		return &k.Seller
	case FieldTenancy:
		return &k.Tenancy
	case FieldTier:
		return &k.Tier
	case FieldVolume:
		return &k.Volume
	case FieldZone:
		return &k.Zone
	}
	return nil
}

var keyEscaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "=", `\=`)

// Canonical returns canonical key v1: the non-empty fields as name=value in
// field order, joined by newlines, with backslash, newline and equals sign of a
// value escaped by a backslash.
func (k Key) Canonical() string {
	var b strings.Builder
	for _, f := range KeyFields() {
		v := k.Get(f)
		if v == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(string(f))
		b.WriteByte('=')
		b.WriteString(keyEscaper.Replace(v))
	}
	return b.String()
}

// ID returns the offer id of k.
func (k Key) ID() OfferID {
	sum := sha256.Sum256([]byte(k.Canonical()))
	return OfferID(sum[:16])
}

// Scope is a slice of a provider's offers that is read, confirmed and withdrawn
// together. An empty field covers every value.
type Scope struct {
	Partition string
	Seller    string
	Region    string
	Market    Market
	Part      string // the slice a source is asked for one by one; else empty
	Signal    string // name of the signal a signal scope holds; empty for prices
}

// Covers reports whether a series of the given key belongs to s. part is the
// slice the series was read from.
func (s Scope) Covers(k *Key, part string) bool {
	return s.Signal == "" && s.coversKey(k, part)
}

// CoversSignal reports whether a signal belongs to s.
func (s Scope) CoversSignal(name string, k *Key, part string) bool {
	return s.Signal == name && s.coversKey(k, part)
}

func (s Scope) coversKey(k *Key, part string) bool {
	return covers(s.Partition, k.Partition) && covers(s.Seller, k.Seller) &&
		covers(s.Region, k.Region) && covers(string(s.Market), string(k.Market)) && covers(s.Part, part)
}

// Width counts the empty fields of s: of two scopes that cover a series, the
// one with the smaller width is the narrower.
func (s Scope) Width() int {
	n := 0
	for _, v := range []string{s.Partition, s.Seller, s.Region, string(s.Market), s.Part} {
		if v == "" {
			n++
		}
	}
	return n
}

// String returns the non-empty fields as name=value, separated by blanks; a
// scope that covers everything is "all".
func (s Scope) String() string {
	var parts []string
	for _, f := range [...]struct{ name, value string }{
		{"partition", s.Partition},
		{"seller", s.Seller},
		{"region", s.Region},
		{"market", string(s.Market)},
		{"part", s.Part},
		{"signal", s.Signal},
	} {
		if f.value != "" {
			parts = append(parts, f.name+"="+f.value)
		}
	}
	if len(parts) == 0 {
		return "all"
	}
	return strings.Join(parts, " ")
}

func covers(want, got string) bool { return want == "" || want == got }
