package pricelist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gputide/gputide"
)

// jsonText writes rows as the JSON form of the list that csvText writes.
func jsonText(rows ...cells) string {
	type object = map[string]any
	products, terms := object{}, map[string]map[string]object{}
	for _, r := range rows {
		attributes := object{}
		for a := productFrom; a < numAttrs; a++ {
			if v := r[attrNames[a].csv]; v != "" && a != family {
				attributes[attrNames[a].json] = v
			}
		}
		s, code := r["SKU"], r["SKU"]+"."+r["OfferTermCode"]
		products[s] = object{"sku": s, "productFamily": r["Product Family"], "attributes": attributes}
		kind := r["TermType"]
		if terms[kind] == nil {
			terms[kind] = map[string]object{}
		}
		if terms[kind][s] == nil {
			terms[kind][s] = object{}
		}
		t, ok := terms[kind][s][code].(object)
		if !ok {
			t = object{"sku": s, "offerTermCode": r["OfferTermCode"], "priceDimensions": object{}, "termAttributes": object{}}
			terms[kind][s][code] = t
		}
		for _, a := range []attr{lease, option, class} {
			if v := r[attrNames[a].csv]; v != "" {
				t["termAttributes"].(object)[attrNames[a].json] = v
			}
		}
		d := object{"rateCode": r["RateCode"], "unit": r["Unit"], "pricePerUnit": object{r["Currency"]: r["PricePerUnit"]}}
		if v := r["StartingRange"]; v != "" {
			d["beginRange"], d["endRange"] = v, r["EndingRange"]
		}
		t["priceDimensions"].(object)[r["RateCode"]] = d
	}
	body := func(v any) string {
		out, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return string(out)
	}
	return `{"formatVersion":"v1.0","disclaimer":"","offerCode":"AmazonEC2","version":"20250912225308","publicationDate":"2025-09-12T22:53:08Z",` +
		`"products":` + body(products) + `,"terms":` + body(terms) + `,"attributesList":{}}`
}

// manyRows returns rows of every kind the classifier tells apart.
func manyRows() []cells {
	rows := []cells{
		row(), row("SKU", "B", "PricePerUnit", "0.0000000000"), row("SKU", "C", "MarketOption", "CapacityBlock"),
		row("SKU", "D", "Tenancy", "Used"), row("SKU", "E", "Product Family", "Storage"), row("SKU", "F", "Currency", "CNY"),
		row("SKU", "G", "Operating System", "Windows", "Pre Installed S/W", "SQL Ent"), row("SKU", "H", "EndingRange", "750"),
	}
	for i, option := range []string{"No Upfront", "Partial Upfront", "All Upfront"} {
		code := fmt.Sprintf("T%d", i)
		if i > 0 {
			rows = append(rows, row(term("PurchaseOption", option, "OfferTermCode", code, "Unit", "Quantity", "PricePerUnit", "2750")...))
		}
		rows = append(rows, row(term("PurchaseOption", option, "OfferTermCode", code, "PricePerUnit", fmt.Sprintf("%d.0", 2-i))...))
	}
	return rows
}

func TestFormsAgree(t *testing.T) {
	fromCSV := readCSV(csvText(manyRows()...), commercial("us-east-1")).ok(t)
	fromJSON := readJSON(jsonText(manyRows()...), commercial("us-east-1")).ok(t)
	diff(t, "offers", fromCSV.offers, fromJSON.offers)
	diff(t, "skips", fromCSV.skips, fromJSON.skips)
	diff(t, "known keys", fromCSV.known, fromJSON.known)
	diff(t, "reports", fromCSV.report, fromJSON.report)
	if len(fromCSV.offers) != 5 || len(fromCSV.skips) != 4 {
		t.Errorf("offers %v, skips %v", fromCSV.offers, fromCSV.skips)
	}
}

func TestBrokenJSON(t *testing.T) {
	whole := jsonText(manyRows()...)
	swap := func(old, new string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("%q is not in the list", old)
		}
		return strings.ReplaceAll(whole, old, new)
	}
	for name, text := range map[string]string{
		"empty": "", "HTML": "<html></html>", "cut": whole[:len(whole)/2], "cut at the end": whole[:len(whole)-1],
		"more": whole + "{}", "no products": swap(`"products"`, `"product"`), "no terms": swap(`"terms"`, `"term"`),
		"other list": swap("AmazonEC2", "AmazonRDS"), "no version": swap(`"version"`, `"versions"`), "form": swap("v1.0", "v2.0"),
		"price as a number": swap(`"55.0400000000"`, `55.04`), "no instance types": swap(`"instanceType"`, `"instance"`),
		"no tenancy": swap(`"tenancy"`, `"tenant"`), "no market": swap(`"marketoption"`, `"market"`), "no sku": swap(`"sku"`, `"id"`),
		"no family": swap(`"attributes"`, `"attribute"`), "NaN": swap(`"55.0400000000"`, `NaN`),
		"no prices": swap(`"pricePerUnit"`, `"price"`), "no units": swap(`"unit"`, `"units"`), "no rate codes": swap(`"rateCode"`, `"rate"`),
		"terms first": `{"version":"20250912225308","terms":{},"products":{}}`,
	} {
		if err := readJSON(text, commercial("us-east-1")).err; !errors.Is(err, gputide.ErrSchemaDrift) {
			t.Errorf("%s: %v", name, err)
		}
	}
	got := readJSON(swap(`"55.0400000000"`, `"1e400"`), commercial("us-east-1")).ok(t)
	if got.skips[id] != SkipOverflow {
		t.Errorf("1e400: %v", got.skips)
	}
}

// TestNothingIsDropped shows that every row of a list is an offer, a part of
// one, a skip or an omission.
func TestNothingIsDropped(t *testing.T) {
	for name, r := range map[string]result{
		"csv":  readCSV(csvText(manyRows()...), commercial("us-east-1")).ok(t),
		"json": readJSON(jsonText(manyRows()...), commercial("us-east-1")).ok(t),
	} {
		sum := r.report.Offers + r.report.Skipped
		for _, n := range r.report.Omitted {
			sum += n
		}
		if sum != r.report.Rows {
			t.Errorf("%s: %d of %d rows accounted for", name, sum, r.report.Rows)
		}
	}
}

func FuzzReadCSV(f *testing.F) {
	f.Add(csvText(manyRows()...))
	f.Add(preamble2025)
	f.Fuzz(func(t *testing.T, text string) {
		checkOffers(t, readCSV(text, commercial("us-east-1")))
	})
}

func FuzzReadJSON(f *testing.F) {
	f.Add(jsonText(manyRows()...))
	f.Add(jsonText(row()))
	f.Fuzz(func(t *testing.T, text string) {
		checkOffers(t, readJSON(text, commercial("us-east-1")))
	})
}

// checkOffers fails unless every offer has a full key and a price.
func checkOffers(t *testing.T, r result) {
	t.Helper()
	for _, w := range r.rows {
		if w.Skip != "" {
			continue
		}
		k := w.Key
		if k.Region != "us-east-1" || k.InstanceType == "" || k.OS == "" || k.Tenancy == "" || k.Currency != "USD" || w.Type == nil {
			t.Errorf("key %q", k.Canonical())
		}
		if !isPrice([]byte(w.Price.Amount)) && !isPrice([]byte(w.Price.Upfront)) {
			t.Errorf("price %+v", w.Price)
		}
	}
	if r.err != nil && !errors.Is(r.err, gputide.ErrSchemaDrift) && !errors.Is(r.err, gputide.ErrTooLarge) {
		t.Errorf("error %v", r.err)
	}
}

func BenchmarkReadJSON(b *testing.B) {
	body := []byte(jsonText(generatedRows()...))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadJSON(bytes.NewReader(body), benchOptions, func(*Row) {}); err != nil {
			b.Fatal(err)
		}
	}
}
