package pricelist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gputide/gputide"
)

// planHead is the head of the list 20250911184447.
const planHead = `FormatVersion,v1.0
Disclaimer,"Prices, terms and plans"
Publication Date,2025-09-11T18:44:47Z
Version,20250911184447
OfferCode,AmazonComputeSavingsPlan
`

const planHeader = "SKU,RateCode,Unit,EffectiveDate,DiscountedRate,Currency,DiscountedSKU,DiscountedServiceCode,DiscountedUsageType,DiscountedOperation,PurchaseOption,LeaseContractLength,LeaseContractLengthUnit,ServiceCode,UsageType,Operation,Description,Instance Family,Location,Location Type,Granularity,Product Family,DiscountedRegionCode,DiscountedInstanceType\n"

// rate is a row of a savings plan list for the product of row(), changed by
// pairs of column and value.
func rate(changes ...string) string {
	v := map[string]string{
		"SKU": "PLAN", "RateCode": "PLAN." + id, "Unit": "Hrs", "EffectiveDate": "2025-06-05T18:51:13Z", "DiscountedRate": "34.6752", "Currency": "USD",
		"DiscountedSKU": id, "DiscountedServiceCode": "AmazonEC2", "DiscountedUsageType": "BoxUsage:p5.48xlarge", "DiscountedOperation": "RunInstances",
		"PurchaseOption": "No Upfront", "LeaseContractLength": "1", "LeaseContractLengthUnit": "year", "Product Family": "EC2InstanceSavingsPlans",
		"DiscountedRegionCode": "us-east-1", "DiscountedInstanceType": "p5.48xlarge",
	}
	for i := 0; i < len(changes); i += 2 {
		v[changes[i]] = changes[i+1]
	}
	var out []string
	for name := range strings.SplitSeq(strings.TrimSpace(planHeader), ",") {
		out = append(out, v[name])
	}
	return strings.Join(out, ",") + "\n"
}

// productsOf reads the products of a list.
func productsOf(t testing.TB, rows ...cells) *Products {
	t.Helper()
	opt := commercial("us-east-1")
	opt.Products = &Products{}
	if _, err := ReadCSV(strings.NewReader(csvText(rows...)), opt, func(*Row) {}); err != nil {
		t.Fatal(err)
	}
	return opt.Products
}

func planOptions(ps *Products) PlanOptions {
	return PlanOptions{Source: "plans", Partition: "aws", Region: "us-east-1", Currency: "USD", Products: ps}
}

// readPlans reads a list in both forms and fails where they differ.
func readPlans(t *testing.T, opt PlanOptions, rates ...string) result {
	t.Helper()
	read := func(form func(io.Reader, PlanOptions, func(*Row)) (*Report, error), text string) result {
		return collect(func(emit func(*Row)) (*Report, error) { return form(strings.NewReader(text), opt, emit) })
	}
	fromCSV := read(ReadPlansCSV, planHead+planHeader+strings.Join(rates, ""))
	fromJSON := read(ReadPlansJSON, plansJSON(t, rates))
	if errors.Is(fromCSV.err, gputide.ErrSchemaDrift) != errors.Is(fromJSON.err, gputide.ErrSchemaDrift) {
		t.Fatalf("CSV: %v; JSON: %v", fromCSV.err, fromJSON.err)
	}
	diff(t, "offers of the two forms", fromCSV.offers, fromJSON.offers)
	diff(t, "skips of the two forms", fromCSV.skips, fromJSON.skips)
	diff(t, "reports of the two forms", fromCSV.report, fromJSON.report)
	return fromCSV
}

// plansJSON writes rates in JSON form, each as a plan of its own.
func plansJSON(t *testing.T, rates []string) string {
	t.Helper()
	columns := strings.Split(strings.TrimSpace(planHeader), ",")
	var products, terms []any
	for i, line := range rates {
		v := map[string]string{}
		for j, text := range strings.Split(strings.TrimSuffix(line, "\n"), ",") {
			v[columns[j]] = text
		}
		plan := v["SKU"]
		if i > 0 && plan == "PLAN" {
			plan = fmt.Sprint("PLAN", i) // plans of a list have SKUs of their own
		}
		var length int
		_, _ = fmt.Sscan(v["LeaseContractLength"], &length)
		products = append(products, map[string]any{
			"sku": plan, "productFamily": v["Product Family"],
			"attributes": map[string]string{"purchaseOption": v["PurchaseOption"], "purchaseTerm": fmt.Sprintf("%dyr", length)},
		})
		terms = append(terms, json.RawMessage(fmt.Sprintf(
			`{"sku":%q,"leaseContractLength":{"duration":%d,"unit":%q},"rates":[{"discountedSku":%q,"discountedUsageType":%q,"discountedServiceCode":%q,`+
				`"rateCode":%q,"unit":%q,"discountedRate":{"price":%q,"currency":%q},"discountedRegionCode":%q,"discountedInstanceType":%q}]}`,
			plan, length, v["LeaseContractLengthUnit"], v["DiscountedSKU"], v["DiscountedUsageType"], v["DiscountedServiceCode"],
			strings.Replace(v["RateCode"], "PLAN.", plan+".", 1), v["Unit"], v["DiscountedRate"], v["Currency"], v["DiscountedRegionCode"], v["DiscountedInstanceType"],
		)))
	}
	text, err := json.Marshal(map[string]any{"version": "20250911184447", "publicationDate": "2025-09-11T18:44:47Z", "products": products, "terms": map[string]any{"savingsPlan": terms}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPlanRates(t *testing.T) {
	ps := productsOf(
		t, row(), row("SKU", "UNUSED", "CapacityStatus", "UnusedCapacityReservation"), row("SKU", "INFRA", "License Model", "License Included - Infrastructure"),
		row("SKU", "BAD", "Tenancy", "Nowhere"), row("SKU", "DED", "Tenancy", "Dedicated", "Operating System", "Red Hat Enterprise Linux with HA", "Pre Installed S/W", "SQL Ent"),
		row("SKU", "FREE", "PricePerUnit", "0.0000000000", "Instance Type", "p5.4xlarge"),
		row(term("SKU", "TERM", "PurchaseOption", "No Upfront")...),
	)
	of := func(sku string, more ...string) string {
		return rate(append([]string{"DiscountedSKU", sku, "RateCode", "PLAN." + sku}, more...)...)
	}
	const base = "us-east-1 p5.48xlarge commitment "
	for _, c := range []struct {
		name    string
		rate    string
		offer   string // "short key amount/upfront"
		skip    string
		unknown bool
		omit    string
		drift   bool
	}{
		{name: "instance plan", rate: rate(), offer: base + "sp_instance 1y none linux shared 34.6752/"},
		{name: "compute plan", rate: rate("Product Family", "ComputeSavingsPlans", "LeaseContractLength", "3"), offer: base + "sp_compute 3y none linux shared 34.6752/"},
		{name: "partial", rate: rate("PurchaseOption", "Partial Upfront"), offer: base + "sp_instance 1y partial linux shared 34.6752/"},
		{name: "all upfront is a rate per hour too", rate: rate("PurchaseOption", "All Upfront"), offer: base + "sp_instance 1y all linux shared 34.6752/"},
		{name: "system, license and tenancy of the product", rate: of("DED"), offer: base + "sp_instance 1y none rhel ha+sql_ent dedicated 34.6752/"},
		{name: "product without a price", rate: of("FREE", "DiscountedInstanceType", "p5.4xlarge"), offer: "us-east-1 p5.4xlarge commitment sp_instance 1y none linux shared 34.6752/"},

		{name: "product with reserved terms only", rate: of("TERM"), offer: base + "sp_instance 1y none linux shared 34.6752/"},

		{name: "another service", rate: rate("DiscountedServiceCode", "AWSLambda"), omit: OmitService},
		{name: "unused capacity", rate: of("UNUSED"), omit: OmitUnused},
		{name: "unused capacity by its usage", rate: of("NOWHERE", "DiscountedUsageType", "APE2-UnusedDed:r7g.large"), omit: OmitUnused},
		{name: "infrastructure twin", rate: of("INFRA"), omit: OmitInfrastructure},

		{name: "unreadable product", rate: of("BAD"), skip: SkipBadRow, unknown: true},
		{name: "no product", rate: of("NOWHERE"), skip: SkipNoProduct, unknown: true},
		{name: "no service", rate: rate("DiscountedServiceCode", ""), skip: SkipBadRow, unknown: true},
		{name: "another region", rate: rate("DiscountedRegionCode", "us-east-2"), skip: SkipOtherRegion, unknown: true},
		{name: "another type than the product's", rate: rate("DiscountedInstanceType", "p5.4xlarge"), skip: SkipBadRow, unknown: true},
		{name: "two years", rate: rate("LeaseContractLength", "2"), skip: SkipContradictory, unknown: true},
		{name: "three months", rate: rate("LeaseContractLength", "3", "LeaseContractLengthUnit", "month"), skip: SkipContradictory, unknown: true},
		{name: "no payment", rate: rate("PurchaseOption", "Heavy Utilization"), skip: SkipContradictory, unknown: true},
		{name: "another family alone", rate: rate("Product Family", "DatabaseSavingsPlans"), omit: OmitPlanFamily, drift: true},

		{name: "zero", rate: rate("DiscountedRate", "0.0000"), skip: SkipNoPrice},
		{name: "blank", rate: rate("DiscountedRate", ""), skip: SkipNoPrice},
		{name: "words", rate: rate("DiscountedRate", "N/A"), skip: SkipNoPrice},
		{name: "negative", rate: rate("DiscountedRate", "-1"), skip: SkipNoPrice},
		{name: "1e400", rate: rate("DiscountedRate", "1e400"), skip: SkipOverflow},
		{name: "another currency", rate: rate("Currency", "CNY"), skip: SkipCurrency},
		{name: "another unit", rate: rate("Unit", "Quantity"), skip: SkipUnit},
		{name: "rate code of another product", rate: rate("RateCode", "PLAN.OTHER"), skip: SkipRateCode},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := readPlans(t, planOptions(ps), c.rate)
			if errors.Is(got.err, gputide.ErrSchemaDrift) != c.drift || !c.drift && got.err != nil {
				t.Fatal(got.err)
			}
			var offer string
			for k, v := range got.offers {
				offer = k + " " + v
			}
			skip, known := "", false
			for _, w := range got.rows {
				skip, known = w.Skip, w.Known
			}
			if offer != c.offer || skip != c.skip || c.skip != "" && known == c.unknown {
				t.Errorf("offer %q, want %q; skipped for %q, want %q; key known: %v", offer, c.offer, skip, c.skip, known)
			}
			want := map[string]int64{}
			if c.omit != "" {
				want[c.omit] = 1
			}
			diff(t, "omitted", want, got.report.Omitted)
		})
	}
}

// TestPlansBesideReducedList shows that a rate is left out when its product may
// be one the archive did not keep, and skipped when it cannot be.
func TestPlansBesideReducedList(t *testing.T) {
	opt := planOptions(productsOf(t, row()))
	opt.Partial = true
	other := []string{"SKU", "PLAN2", "DiscountedSKU", "NOWHERE", "RateCode", "PLAN2.NOWHERE"}
	got := readPlans(t, opt, rate(), rate(append(other, "DiscountedInstanceType", "r7g.large")...), rate(append(other, "SKU", "PLAN3", "RateCode", "PLAN3.NOWHERE")...))
	diff(t, "omitted", map[string]int64{OmitNotListed: 1}, got.report.Omitted)
	diff(t, "skips", map[string]string{"PLAN3.NOWHERE": SkipNoProduct}, got.skips)
	if len(got.offers) != 1 || got.report.Version != "20250911184447" || got.report.Rows != 3 {
		t.Errorf("%d offers, report %+v", len(got.offers), got.report)
	}
}

func TestBrokenPlans(t *testing.T) {
	ps := productsOf(t, row())
	whole := planHead + planHeader + rate()
	for _, name := range planColumns {
		text := strings.Replace(whole, planHeader, strings.Replace(","+planHeader, ","+name, ","+name+"2", 1)[1:], 1)
		if name == "SKU" {
			text = strings.Replace(whole, "SKU,RateCode", "Id,RateCode", 1)
		}
		if _, err := ReadPlansCSV(strings.NewReader(text), planOptions(ps), func(*Row) {}); !errors.Is(err, gputide.ErrSchemaDrift) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "HTML": "<!DOCTYPE html>\n<html></html>\n", "JSON": `{"version":"1"}`, "cut": whole[:len(whole)-30],
		"form": strings.Replace(whole, "v1.0", "v2.0", 1), "other list": strings.Replace(whole, "AmazonComputeSavingsPlan", "AWSMachineLearningSavingsPlans", 1),
		"two columns": strings.Replace(whole, "Unit,Eff", "SKU,Eff", 1), "no version": strings.Replace(whole, "Version,2025", "Disclaimer,2025", 1),
		"price list": csvText(row()),
	} {
		if _, err := ReadPlansCSV(strings.NewReader(text), planOptions(ps), func(*Row) {}); !errors.Is(err, gputide.ErrSchemaDrift) {
			t.Errorf("CSV, %s: %v", name, err)
		}
	}
	doc := plansJSON(t, []string{rate()})
	for name, edit := range map[string][2]string{
		"no version": {`"version"`, `"release"`}, "no terms": {`"savingsPlan":`, `"other":`}, "no products": {`"products"`, `"plans"`},
		"term without a plan": {`"sku":"PLAN","leaseContract`, `"sku":"PLAN9","leaseContract`}, "length of the plan": {`"1yr"`, `"3yr"`},
		"no length": {`"leaseContractLength"`, `"lease"`}, "number": {`"34.6752"`, `34.6752`}, "cut": {`}]}}`, ``},
	} {
		text := strings.Replace(doc, edit[0], edit[1], 1)
		if text == doc {
			text = doc[:len(doc)/2]
		}
		if _, err := ReadPlansJSON(strings.NewReader(text), planOptions(ps), func(*Row) {}); !errors.Is(err, gputide.ErrSchemaDrift) {
			t.Errorf("JSON, %s: %v", name, err)
		}
	}
	boom := errors.New("boom")
	if _, err := ReadPlansCSV(io.MultiReader(strings.NewReader(whole), failing{boom}), planOptions(ps), func(*Row) {}); !errors.Is(err, boom) {
		t.Errorf("error of the stream: %v", err)
	}
}

// TestSwappedPlanColumns shows that no two columns change places unseen.
func TestSwappedPlanColumns(t *testing.T) {
	ps := productsOf(t, row())
	show := func(text string) string {
		got := collect(func(emit func(*Row)) (*Report, error) {
			return ReadPlansCSV(strings.NewReader(text), planOptions(ps), emit)
		})
		return fmt.Sprint(got.offers, got.skips, got.report.Omitted, got.err)
	}
	whole := planHead + planHeader + rate("PurchaseOption", "Partial Upfront", "LeaseContractLength", "3")
	want := show(whole)
	for a := range numPlanAttrs {
		for b := range a {
			columns := strings.Split(strings.TrimSpace(planHeader), ",")
			i, j := slices.Index(columns, planColumns[a]), slices.Index(columns, planColumns[b])
			columns[i], columns[j] = columns[j], columns[i]
			text := strings.Replace(whole, planHeader, strings.Join(columns, ",")+"\n", 1)
			// The usage type only confirms that capacity is used.
			if show(text) == want && a != planUsage && b != planUsage {
				t.Errorf("%s and %s swapped: nothing seen", planColumns[a], planColumns[b])
			}
		}
	}
}

// FuzzPlans shows that no body makes the readers fail in any other way than
// they say, and that an offer always has a whole key.
func FuzzPlans(f *testing.F) {
	f.Add(planHead + planHeader + rate())
	f.Add(planHead + planHeader + rate("DiscountedRate", `"1,5"`))
	f.Add(`{"version":"1","products":[{"sku":"P","productFamily":"ComputeSavingsPlans","attributes":{"purchaseOption":"No Upfront","purchaseTerm":"1yr"}}],"terms":{"savingsPlan":[{"sku":"P","leaseContractLength":{"duration":1,"unit":"year"},"rates":[{"discountedSku":"` + id + `"}]}]}}`)
	opt := planOptions(productsOf(f, row()))
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func(io.Reader, PlanOptions, func(*Row)) (*Report, error){ReadPlansCSV, ReadPlansJSON} {
			var offers, skipped int64
			rep, err := read(strings.NewReader(text), opt, func(r *Row) {
				if r.Skip != "" {
					skipped++
					return
				}
				offers++
				if k := r.Key; k.InstanceType == "" || k.Term == "" || k.Payment == "" || k.Plan == "" || k.OS == "" || !isPrice([]byte(r.Price.Amount)) {
					t.Errorf("offer %+v at %+v", k, r.Price)
				}
			})
			if err != nil && !errors.Is(err, gputide.ErrSchemaDrift) && !errors.Is(err, gputide.ErrTooLarge) {
				t.Errorf("error %v", err)
			}
			var omitted int64
			for _, n := range rep.Omitted {
				omitted += n
			}
			if rep.Offers != offers || rep.Skipped != skipped || offers+skipped+omitted-rep.Omitted[OmitTermKind] != rep.Rows {
				t.Errorf("%d offers, %d skipped, %d omitted: %+v", offers, skipped, omitted, rep)
			}
		}
	})
}

// TestProductsOfBothForms shows that the two forms of a list leave the same
// products, those left out included.
func TestProductsOfBothForms(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "fixtures", "aws")
	table := func(name string, read func(io.Reader, Options, func(*Row)) (*Report, error)) map[string]string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		opt := commercial("us-east-1")
		opt.Products = &Products{}
		if _, err := read(bytes.NewReader(text), opt, func(*Row) {}); err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for sku := range opt.Products.bySKU {
			typ, kind, _ := opt.Products.find([]byte(sku))
			out[sku] = fmt.Sprint(kind)
			if typ != nil {
				out[sku] += " " + typ.Name
			}
		}
		return out
	}
	csv, json := table("us-east-1.csv", ReadCSV), table("us-east-1.json", ReadJSON)
	diff(t, "products", csv, json)
	if csv["5Q7AP3RH7KTVUNCJ"] != "{   "+OmitCapacityBlock+" }" || csv["HXGQ45BFM9J2FJ3F"] != "{windows  shared  } m5.xlarge" || len(csv) != 20 {
		t.Errorf("%d products: %v", len(csv), csv)
	}
}
