package gcp

import (
	"strings"

	"github.com/gputide/gputide"
)

// mode is one way an accelerator is bought.
type mode int

const (
	onDemand mode = iota
	spot
	commit1y
	commit3y
	flex
	calendar
)

// modes lists every mode.
func modes() []mode { return []mode{onDemand, spot, commit1y, commit3y, flex, calendar} }

// key returns the key of an offer bought in mode m.
func (m mode) key(region, instanceType string) gputide.Key {
	k := gputide.Key{
		Region: region, InstanceType: instanceType, Market: gputide.OnDemand, Stat: gputide.StatList, Currency: currency,
	}
	switch m {
	case onDemand:
	case spot:
		k.Market = gputide.Spot
	case commit1y:
		k.Market, k.Plan, k.Term, k.Payment = gputide.Commitment, "cud", "1y", gputide.PaymentNone
	case commit3y:
		k.Market, k.Plan, k.Term, k.Payment = gputide.Commitment, "cud", "3y", gputide.PaymentNone
	case flex:
		k.Market, k.Plan = gputide.Flex, "dws_flex"
	case calendar:
		k.Market, k.Plan = gputide.CapacityBlock, "dws_calendar"
	}
	return k
}

// allows reports whether a SKU of mode m may bear a usage type. Usage types
// name too little: flex-start, calendar mode and some of spot are OnDemand. But
// a type that contradicts the description means that it was misread.
func (m mode) allows(usageType string) bool {
	switch usageType {
	case "":
		return true
	case "OnDemand":
		return m != commit1y && m != commit3y
	case "Preemptible":
		return m == spot
	case "Commit1Yr":
		return m == commit1y
	case "Commit3Yr":
		return m == commit3y
	}
	return false
}

// What is left out by rule.
const (
	omitOther      = "other_product"
	omitReserved   = "reserved_placeholder" // what a reservation adds to a price: mostly 0
	omitCapacity   = "capacity_optimized"   // another product at a price of its own
	omitTerm       = "other_term"           // commitments of five years
	omitSpendBased = "spend_based_commitment"
)

// phrase is a description taken apart.
type phrase struct {
	subject string // "A2 Instance Core", "Nvidia L4 GPU"
	mode    mode
	omit    string // why it is none of ours; empty when it may be
}

// parseDescription takes the description of a SKU apart: what it is of, how that
// is bought, and where, which is left to serviceRegions. The words for the way
// of buying stand before, inside or behind the subject.
func parseDescription(text string) phrase {
	p := phrase{subject: strings.Join(strings.Fields(text), " ")}
	switch {
	case p.cutPrefix("Commitment - dollar based v1: "):
		return phrase{omit: omitSpendBased}
	case p.cutPrefix("Commitment v1: "):
		if !p.cutTerm() {
			return phrase{omit: omitTerm}
		}
	case p.cutPrefix("Capacity Optimized "):
		return phrase{omit: omitCapacity}
	case p.cutPrefix("Spot Preemptible "):
		p.mode = spot
	case p.cutPrefix("DWS Defined Duration "), p.cutPrefix("DWS Flex Start "):
		p.mode = flex
	case p.cutPrefix("DWS Calendar Mode "):
		p.mode = calendar
	case p.cutPrefix("Reserved "):
		if !p.cutSuffix(" in Calendar Mode") {
			return phrase{omit: omitReserved}
		}
		p.mode = calendar
	}
	p.subject = cutPlace(p.subject)
	switch {
	case p.mode != onDemand:
	case p.cutSuffix(" attached to Spot Preemptible VMs"):
		p.mode = spot
	case p.cutSuffix(" attached to DWS Defined Duration VMs"):
		p.mode = flex
	case p.cutSuffix(" attached to Calendar mode reservations"):
		p.mode = calendar
	}
	return p
}

// cutTerm takes the term of a commitment off the end; false for a term that is
// neither one year nor three.
func (p *phrase) cutTerm() bool {
	switch {
	case p.cutSuffix(" for 1 Year"):
		p.mode = commit1y
	case p.cutSuffix(" for 3 Year"), p.cutSuffix(" for 3 Years"):
		p.mode = commit3y
	default:
		return false
	}
	return true
}

func (p *phrase) cutPrefix(prefix string) (ok bool) {
	p.subject, ok = strings.CutPrefix(p.subject, prefix)
	return ok
}

func (p *phrase) cutSuffix(suffix string) (ok bool) {
	p.subject, ok = strings.CutSuffix(p.subject, suffix)
	return ok
}

// cutPlace takes the name of the place off the end of a description. Old SKUs of
// local SSD name none.
func cutPlace(text string) string {
	if subject, _, ok := strings.Cut(text, " running in "); ok {
		return subject
	}
	subject, _, _ := strings.Cut(text, " in ")
	return subject
}

// The parts of a machine's price, and the kinds of their components.
const (
	partCore        = "core"
	partRAM         = "ram"
	partAccelerator = "accelerator"
	partSSD         = "local_ssd"
)

// rateID names one rate: of what, and how it is bought.
type rateID struct {
	part string
	of   string // series or accelerator rate; empty for local SSD
	mode mode
}

// identify returns the rate a phrase is of. ok is false for a product that is
// no part of an accelerated machine.
func (t *table) identify(p phrase) (id rateID, ok bool) {
	if a := t.accelerators[p.subject]; a != nil {
		return rateID{partAccelerator, a.rate, p.mode}, true
	}
	switch p.subject {
	case "SSD backed Local Storage", "Local SSD": // the latter of commitments
		return rateID{partSSD, "", p.mode}, true
	}
	for _, s := range [...]struct{ suffix, part string }{{" Core", partCore}, {" Cpu", partCore}, {" Ram", partRAM}} {
		if series, found := strings.CutSuffix(p.subject, s.suffix); found {
			series = strings.TrimSuffix(series, " Instance")
			return rateID{s.part, series, p.mode}, t.series[series]
		}
	}
	return rateID{}, false
}

// isAccelerator reports whether the words of a SKU in the resource group GPU or
// TPU name an accelerator that is bought as it is.
func isAccelerator(subject string) bool {
	if subject == "" {
		return false
	}
	for _, word := range []string{"Virtual Workstation", "Sole Tenancy", "Custom", "Premium", "suspended", "lssd", "SSD", "Licens"} {
		if strings.Contains(subject, word) {
			return false
		}
	}
	return true
}
