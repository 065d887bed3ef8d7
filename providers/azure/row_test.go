package azure

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRow(t *testing.T) {
	type m = map[string]string
	const size = "ND96isr_H100_v5 "
	for _, tt := range []struct {
		name string
		row  m
		want []string
	}{
		{"on demand, outside the primary meter region", nil, []string{size + "on_demand linux 98.32/h"}},
		{"the primary meter region", m{"isPrimaryMeterRegion": "true"}, []string{size + "on_demand linux 98.32/h"}},
		{"spot by its meter", m{"meterName": `"ND96isrH100v5 Spot"`}, []string{size + "spot linux 98.32/h"}},
		{"spot by its SKU", m{"skuName": `"ND96isrH100v5 Spot"`}, []string{size + "spot linux 98.32/h"}},
		{"Windows by its product", m{"productName": `"Virtual Machines NDsr H100 v5 Series Windows"`}, []string{size + "on_demand windows 98.32/h"}},
		{"reservation", m{"type": `"Reservation"`, "reservationTerm": `"1 Year"`, "retailPrice": "551221.0"}, []string{size + "commitment reservation 1y linux 551221.0/term"}},
		{"reservation of 5 years", m{"type": `"Reservation"`, "reservationTerm": `"5 Years"`}, []string{size + "commitment reservation 5y linux 98.32/term"}},
		{"reservation of no years", m{"type": `"Reservation"`, "reservationTerm": `"0 Years"`}, []string{"? unknown_term"}},
		{"reservation in months", m{"type": `"Reservation"`, "reservationTerm": `"1 Month"`}, []string{"? unknown_term"}},
		{"reservation of another unit", m{"type": `"Reservation"`, "reservationTerm": `"1 Year"`, "unitOfMeasure": `"1 Month"`}, []string{size + "commitment reservation 1y linux unknown_unit"}},
		{
			"savings plans",
			m{"savingsPlan": `[{"unitPrice":0.035376,"retailPrice":0.035376,"term":"3 Years"},{"unitPrice":0.053868,"retailPrice":0.053868,"term":"1 Year"}]`},
			[]string{size + "commitment sp_compute 1y linux 0.053868/h", size + "commitment sp_compute 3y linux 0.035376/h", size + "on_demand linux 98.32/h"},
		},
		{"no savings plan", m{"savingsPlan": "null"}, []string{size + "on_demand linux 98.32/h"}},
		{"savings plan without a price", m{"savingsPlan": `[{"term":"1 Year"}]`}, []string{size + "commitment sp_compute 1y linux no_price", size + "on_demand linux 98.32/h"}},
		{"savings plan of an unknown term", m{"savingsPlan": `[{"retailPrice":1,"term":"1 Month"}]`}, []string{"? unknown_term", size + "on_demand linux 98.32/h"}},
		{
			"savings plan priced beside a rate that is not",
			m{"retailPrice": "0", "savingsPlan": `[{"retailPrice":1,"term":"1 Year"}]`},
			[]string{size + "commitment sp_compute 1y linux 1/h", size + "on_demand linux no_price"},
		},
		{"savings plan of spot", m{"skuName": `"X Spot"`, "savingsPlan": `[{"retailPrice":1,"term":"1 Year"}]`}, []string{"- savings_plan_of_other_rate 1", size + "spot linux 98.32/h"}},
		{"placeholder of 0", m{"retailPrice": "0.0"}, []string{size + "on_demand linux no_price"}},
		{"negative price", m{"retailPrice": "-1"}, []string{size + "on_demand linux no_price"}},
		{"null price", m{"retailPrice": "null"}, []string{size + "on_demand linux no_price"}},
		{"price in quotes", m{"retailPrice": `"98.32"`}, []string{size + "on_demand linux no_price"}},
		{"small price", m{"retailPrice": "1e-05"}, []string{size + "on_demand linux 1e-05/h"}},
		{"trailing blanks", m{"armSkuName": `"Standard_NM16ads_MA35D  "`}, []string{"NM16ads_MA35D on_demand linux 98.32/h"}},
		{"low priority by its meter", m{"meterName": `"ND96isrH100v5 Low Priority"`}, []string{"- low_priority 1"}},
		{"low priority by its SKU", m{"skuName": `"ND96isrH100v5 Low Priority"`}, []string{"- low_priority 1"}},
		{"Dev/Test", m{"type": `"DevTestConsumption"`}, []string{"- dev_test 1"}},
		{"dedicated host", m{"productName": `"Easv4 Series Dedicated Host"`, "armSkuName": `"Easv4_Type2"`}, []string{"- dedicated_host 1"}},
		{"dedicated host in one word", m{"productName": `"NVsv3 DedicatedHost"`}, []string{"- dedicated_host 1"}},
		{"Cloud Services", m{"productName": `"Dv3 Series Cloud Services"`}, []string{"- cloud_services 1"}},
		{"expired", m{"meterName": `"ND96isrH100v5 Expired"`}, []string{"- expired 1"}},
		{"another service", m{"serviceName": `"Azure Database for MySQL"`}, []string{"- other_service 1"}},
		{"no size", m{"armSkuName": `""`}, []string{"- no_size 1"}},
		{"another unit", m{"unitOfMeasure": `"100 Hours"`}, []string{"- other_unit 1"}},
		{"a tier", m{"tierMinimumUnits": "100.0"}, []string{"? tiered"}},
		{"a type not seen before", m{"type": `"Reserved"`}, []string{"? unknown_type"}},
		{"no type", m{"type": ""}, []string{"? bad_row"}},
		{"no size member", m{"armSkuName": ""}, []string{"? bad_row"}},
		{"no region", m{"armRegionName": ""}, []string{"? bad_row"}},
		{"no start", m{"effectiveStartDate": ""}, []string{size + "on_demand linux bad_date"}},
		{"malformed start", m{"effectiveStartDate": `"soon"`}, []string{size + "on_demand linux bad_date"}},
		{"in the future", m{"effectiveStartDate": `"2026-12-01T00:00:01Z"`}, []string{"- not_yet_in_force 1"}},
		{"from now on", m{"effectiveStartDate": `"2026-12-01T00:00:00Z"`}, []string{size + "on_demand linux 98.32/h"}},
		{"ended", m{"effectiveEndDate": `"2026-11-29T00:00:00Z"`}, []string{"- no_longer_in_force 1"}},
		{"ended with its last day", m{"effectiveEndDate": `"2026-11-30T00:00:00Z"`}, []string{"- no_longer_in_force 1"}},
		{"ends with this day", m{"effectiveEndDate": `"2026-12-01T00:00:00Z"`}, []string{size + "on_demand linux 98.32/h"}},
		{"ended a second ago", m{"effectiveEndDate": `"2026-11-30T23:59:59Z"`}, []string{"- no_longer_in_force 1"}},
		{"malformed end", m{"effectiveEndDate": `"soon"`}, []string{size + "on_demand linux bad_date"}},
		{"a list for a text", m{"productName": `[]`}, []string{"? bad_row"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := crawl(t, Config{}, index("eastus"), first("eastus", body("null", itemOf(tt.row), good())))
			if err != nil {
				t.Fatal(err)
			}
			want := append([]string{"D2s_v5 commitment reservation 3y linux 1/term"}, tt.want...)
			if d := cmp.Diff(sorted(want), said(c)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// good is a row that needs nothing of the row under test and has every field.
func good() string {
	return itemOf(map[string]string{"armSkuName": `"Standard_D2s_v5"`, "type": `"Reservation"`, "reservationTerm": `"3 Years"`, "retailPrice": "1"})
}

// TestLatestRowHolds shows that of several rows of one offer the latest in force
// is taken, whatever their order, and contradictions are left to the crawler.
func TestLatestRowHolds(t *testing.T) {
	at := func(start, price string) string {
		return itemOf(map[string]string{"effectiveStartDate": `"` + start + `T00:00:00Z"`, "retailPrice": price})
	}
	const offer = "ND96isr_H100_v5 on_demand linux "
	for _, tt := range []struct {
		name string
		rows []string
		want []string
	}{
		{"older last", []string{at("2026-09-01", "2"), at("2026-08-01", "1")}, []string{"- superseded 1", offer + "2/h"}},
		{"older first", []string{at("2026-08-01", "1"), at("2026-09-01", "2")}, []string{"- superseded 1", offer + "2/h"}},
		{"one to come", []string{at("2026-09-01", "2"), at("2027-01-01", "3")}, []string{"- not_yet_in_force 1", offer + "2/h"}},
		{"a newer placeholder", []string{at("2026-08-01", "1"), at("2026-09-01", "0")}, []string{"- superseded 1", offer + "no_price"}},
		{"an older placeholder", []string{at("2026-08-01", "0"), at("2026-09-01", "2")}, []string{"- superseded 1", offer + "2/h"}},
		{"two at once", []string{at("2026-09-01", "1"), at("2026-09-01", "2")}, []string{offer + "1/h", offer + "2/h"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := crawl(t, Config{}, index("eastus"), first("eastus", body("null", tt.rows...)))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, said(c)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
