package pricelist

import (
	"fmt"
	"io"
	"strconv"

	"github.com/gputide/gputide/crawler/fetch"
)

// jsonPlan is one entry of "products": a savings plan.
type jsonPlan struct {
	SKU        string `json:"sku"`
	Family     string `json:"productFamily"`
	Attributes struct {
		Option string `json:"purchaseOption"`
		Term   string `json:"purchaseTerm"`
	} `json:"attributes"`
}

// jsonRate is one entry of "rates".
type jsonRate struct {
	SKU     string `json:"discountedSku"`
	Usage   string `json:"discountedUsageType"`
	Service string `json:"discountedServiceCode"`
	Code    string `json:"rateCode"`
	Unit    string `json:"unit"`
	Rate    struct {
		Price    string `json:"price"`
		Currency string `json:"currency"`
	} `json:"discountedRate"`
	Region string `json:"discountedRegionCode"`
	Type   string `json:"discountedInstanceType"`
}

// planJSON reads the JSON form.
type planJSON struct {
	*planList
	dec      *fetch.Decoder
	plans    map[string]jsonPlan // by SKU
	hasTerms bool
}

// ReadPlansJSON reads a savings plan list in JSON form from r, as ReadPlansCSV
// does the CSV form. Plans come before their rates in every list; the rates
// stream.
func ReadPlansJSON(r io.Reader, opt PlanOptions, emit func(*Row)) (*Report, error) {
	j := &planJSON{planList: newPlanList(opt, emit), dec: fetch.NewDecoder(opt.Source, r), plans: map[string]jsonPlan{}}
	if err := j.document(); err != nil {
		return &j.report, err
	}
	return &j.report, j.finish()
}

// document reads the whole document.
func (j *planJSON) document() error {
	facts := map[string]string{"version": "Version", "publicationDate": "Publication Date", "formatVersion": "FormatVersion", "offerCode": "OfferCode"}
	err := j.dec.Object(func(key string) error {
		switch name := facts[key]; {
		case name != "":
			var s string
			if err := j.dec.Decode(&s); err != nil {
				return err
			}
			return j.fact(name, s)
		case key == "products":
			return j.dec.Array(j.plan)
		case key == "terms":
			if len(j.plans) == 0 {
				return j.drift("terms", "products before it", "terms")
			}
			return j.dec.Object(j.terms)
		}
		return j.dec.Skip()
	})
	switch {
	case err != nil:
		return err
	case !j.hasTerms:
		return j.drift("terms.savingsPlan", "an array", "nothing")
	case j.report.Version == "":
		return j.drift("version", "a version", "nothing")
	}
	return j.dec.End()
}

// maxPlans bounds the savings plans of a list: families × terms × payments.
const maxPlans = 1 << 16

// plan takes one entry of "products".
func (j *planJSON) plan() error {
	var p jsonPlan
	if err := j.dec.Decode(&p); err != nil {
		return err
	}
	if p.SKU == "" || len(j.plans) == maxPlans {
		return j.drift("products[].sku", fmt.Sprintf("a SKU, of at most %d", maxPlans), p.SKU)
	}
	j.plans[p.SKU] = p
	return nil
}

// terms takes the terms of one kind.
func (j *planJSON) terms(kind string) error {
	if kind != "savingsPlan" {
		j.report.Omitted[OmitTermKind]++
		return j.dec.Skip()
	}
	j.hasTerms = true
	return j.dec.Array(j.term)
}

// term takes the rates of one plan. Its SKU and length come before its rates in
// every list.
func (j *planJSON) term() error {
	var sku string
	var lease struct {
		Duration int    `json:"duration"`
		Unit     string `json:"unit"`
	}
	return j.dec.Object(func(key string) error {
		switch key {
		case "sku":
			return j.dec.Decode(&sku)
		case "leaseContractLength":
			return j.dec.Decode(&lease)
		case "rates":
			p, ok := j.plans[sku]
			if !ok || lease.Unit == "" {
				return j.drift("terms.savingsPlan[].rates", "the SKU of a product and a length before them", fmt.Sprintf("%.40q", sku))
			}
			length := strconv.Itoa(lease.Duration)
			if p.Attributes.Term != length+"yr" {
				return j.drift("products[].attributes.purchaseTerm", length+"yr as its term says", fmt.Sprintf("%.40q", p.Attributes.Term))
			}
			j.set(planSKU, sku)
			j.set(planOption, p.Attributes.Option)
			j.set(planFamily, p.Family)
			j.set(planLength, length)
			j.set(planLengthUnit, lease.Unit)
			return j.dec.Array(j.rate)
		}
		return j.dec.Skip()
	})
}

// rate takes one rate.
func (j *planJSON) rate() error {
	var r jsonRate
	if err := j.dec.Decode(&r); err != nil {
		return err
	}
	j.set(planRateCode, r.Code)
	j.set(planUnit, r.Unit)
	j.set(planRate, r.Rate.Price)
	j.set(planCurrency, r.Rate.Currency)
	j.set(planProduct, r.SKU)
	j.set(planService, r.Service)
	j.set(planUsage, r.Usage)
	j.set(planRegion, r.Region)
	j.set(planType, r.Type)
	j.take()
	return nil
}

func (j *planJSON) set(a planAttr, s string) { j.values[a] = append(j.values[a][:0], s...) }
