package pricelist

import (
	"fmt"
	"strings"

	"github.com/gputide/gputide"
)

// Reasons of savings plan rates that are, by rule, no offers, beside those of
// price lists.
const (
	OmitService    = "other_service"          // Lambda, Fargate, …
	OmitPlanFamily = "other_plan_family"      // plans beside those for EC2 instances
	OmitNotListed  = "product_not_in_archive" // its product is not in what the archive kept of the list
)

// SkipNoProduct is the reason of a savings plan rate whose SKU the price list
// does not have.
const SkipNoProduct = "no_product"

// The plans of savings plan keys.
const (
	planCompute  = "sp_compute"
	planInstance = "sp_instance"
)

// serviceEC2 is the code of the service whose usage is read.
const serviceEC2 = "AmazonEC2"

// planAttr is a column of the CSV form of a savings plan list, or the field of
// the JSON form that says the same.
type planAttr uint8

const (
	planSKU planAttr = iota
	planRateCode
	planUnit
	planRate
	planCurrency
	planProduct
	planService
	planUsage
	planOption
	planLength
	planLengthUnit
	planFamily
	planRegion
	planType
	numPlanAttrs
)

// planColumns has the column of each attribute.
//
// Source: header line of the list 20250911184447.
var planColumns = [numPlanAttrs]string{
	planSKU:        "SKU",
	planRateCode:   "RateCode",
	planUnit:       "Unit",
	planRate:       "DiscountedRate",
	planCurrency:   "Currency",
	planProduct:    "DiscountedSKU",
	planService:    "DiscountedServiceCode",
	planUsage:      "DiscountedUsageType",
	planOption:     "PurchaseOption",
	planLength:     "LeaseContractLength",
	planLengthUnit: "LeaseContractLengthUnit",
	planFamily:     "Product Family",
	planRegion:     "DiscountedRegionCode",
	planType:       "DiscountedInstanceType",
}

// PlanOptions say which savings plan list is read and what it is joined with.
type PlanOptions struct {
	Source    string // source ID, for errors
	Partition string
	Region    string
	Currency  gputide.Currency // of the partition; other currencies are refused
	Products  *Products        // of the price list of the region

	// Partial says that Products is of a list the archive had reduced to its
	// accelerated types: a product it does not have is then one of another type.
	Partial bool
}

// planList is the state of one reading.
type planList struct {
	opt    PlanOptions
	emit   func(*Row)
	report Report
	values [numPlanAttrs][]byte
	row    Row

	plans   int64  // rates for EC2 instances of a known plan family
	strange string // the first family that is not known
	rates   int64  // rates for EC2 instances
}

func newPlanList(opt PlanOptions, emit func(*Row)) *planList {
	return &planList{opt: opt, emit: emit, report: Report{Omitted: map[string]int64{}}}
}

func (l *planList) drift(path, want, got string) error {
	return &gputide.DriftError{Source: l.opt.Source, Path: path, Want: want, Got: fmt.Sprintf("%.80s", got)}
}

// fact takes one statement a list makes of itself.
func (l *planList) fact(name, value string) error {
	switch name {
	case "FormatVersion":
		if value != formatVersion {
			return l.drift(name, formatVersion, value)
		}
	case "OfferCode":
		if !strings.HasSuffix(value, "ComputeSavingsPlan") {
			return l.drift(name, "compute savings plans", value)
		}
	case "Version":
		l.report.Version = value
	case "Publication Date":
		l.report.Published = value
	}
	return nil
}

// finish returns drift when no rate for instances is of a known family.
func (l *planList) finish() error {
	if l.rates > 0 && l.plans == 0 {
		return l.drift(planColumns[planFamily], "ComputeSavingsPlans or EC2InstanceSavingsPlans", l.strange)
	}
	return nil
}

// take takes the rate in l.values.
func (l *planList) take() {
	l.report.Rows++
	v := &l.values
	l.row = Row{SKU: string(v[planRateCode])}
	k := &l.row.Key
	k.Market = gputide.Commitment
	if string(v[planService]) != serviceEC2 {
		l.other(OmitService, planService)
		return
	}
	l.rates++
	if k.Plan = planOf(v[planFamily]); k.Plan == "" {
		if l.strange == "" {
			l.strange = odd(v[planFamily])
		}
		l.other(OmitPlanFamily, planFamily)
		return
	}
	l.plans++
	if hasUsage(v[planUsage], "Unused") {
		l.report.Omitted[OmitUnused]++
		return
	}
	typ, kind, ok := l.opt.Products.find(v[planProduct])
	switch {
	case !ok:
		l.unjoined()
	case kind.omit != "":
		l.report.Omitted[kind.omit]++
	case kind.skip != "":
		l.unknown(kind.skip, "its product could not be read")
	case string(v[planRegion]) != l.opt.Region:
		l.unknown(SkipOtherRegion, odd(v[planRegion]))
	case string(v[planType]) != typ.Name:
		l.unknown(SkipBadRow, fmt.Sprintf("%s is %s, of its product %q", planColumns[planType], odd(v[planType]), typ.Name))
	default:
		kind.fill(typ, k)
		l.row.Type = typ
		l.price()
	}
}

// other leaves a rate out whose service or family is another one, and refuses it
// when it has none.
func (l *planList) other(reason string, a planAttr) {
	if len(l.values[a]) == 0 {
		l.unknown(SkipBadRow, planColumns[a]+" is empty")
		return
	}
	l.report.Omitted[reason]++
}

// unjoined takes a rate whose product the list does not have.
func (l *planList) unjoined() {
	v := &l.values
	if _, listed := l.opt.Products.types[string(v[planType])]; l.opt.Partial && !listed {
		l.report.Omitted[OmitNotListed]++
		return
	}
	l.unknown(SkipNoProduct, odd(v[planProduct])+" of "+odd(v[planType]))
}

// price completes the key of a joined rate and hands it on. The rate is what an
// hour costs whatever is paid upfront; lists state no fee.
func (l *planList) price() {
	v, k := &l.values, &l.row.Key
	k.Partition, k.Region, k.Currency, k.Stat = l.opt.Partition, l.opt.Region, l.opt.Currency, gputide.StatList
	k.Term = planTerm(v[planLength], v[planLengthUnit])
	k.Payment = paymentOf(v[planOption])
	if k.Term == "" || k.Payment == "" {
		l.unknown(SkipContradictory, odd(v[planLength])+" "+odd(v[planLengthUnit])+" "+odd(v[planOption]))
		return
	}
	l.row.Known = true
	switch {
	case string(v[planUnit]) != "Hrs":
		l.refuse(SkipUnit, odd(v[planUnit]))
	case string(v[planCurrency]) != string(l.opt.Currency):
		l.refuse(SkipCurrency, odd(v[planCurrency]))
	case string(v[planRateCode]) != string(v[planSKU])+"."+string(v[planProduct]):
		l.refuse(SkipRateCode, odd(v[planRateCode]))
	case !isPrice(v[planRate]):
		l.refuse(priceFault(v[planRate]), odd(v[planRate]))
	default:
		l.row.Price = gputide.Published{Amount: string(v[planRate]), Unit: gputide.PerHour, Basis: gputide.BasisInstance}
		l.report.Offers++
		l.emit(&l.row)
	}
}

// refuse hands the current row on as one that has no price.
func (l *planList) refuse(reason, detail string) {
	l.row.Skip, l.row.Detail = reason, detail
	l.report.Skipped++
	l.emit(&l.row)
}

// unknown hands the current row on as one that does not say which offer it is.
func (l *planList) unknown(reason, detail string) {
	l.row.Key = gputide.Key{Market: gputide.Commitment}
	l.row.Type = nil
	l.refuse(reason, detail)
}

// planOf returns the plan of a product family, "" for one that is not known.
func planOf(b []byte) string {
	switch string(b) {
	case "ComputeSavingsPlans":
		return planCompute
	case "EC2InstanceSavingsPlans":
		return planInstance
	}
	return ""
}

// planTerm returns the term of a lease of 1 or 3 years, "" for any other.
func planTerm(length, unit []byte) gputide.Term {
	switch string(length) + " " + string(unit) {
	case "1 year":
		return "1y"
	case "3 year":
		return "3y"
	}
	return ""
}
