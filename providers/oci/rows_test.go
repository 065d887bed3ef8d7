package oci

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/providertest"
)

// shape returns a row of a GPU shape with members replaced; a value of "" drops
// the member.
func shape(replace map[string]string) string {
	return object(map[string]string{
		"name": `"BM.GPU.X9.8"`, "hidden": "false", "status": `"ACTIVE"`, "allowPreemptible": "false", "bundleMemoryQty": "2048",
		"gpuQty": "8", "gpuMemoryQty": "640", "processorType": `{"value":"hopper"}`, "subType": `{"value":"gpu"}`,
		"products": `[{"partNumber":"P1","qty":112,"type":{"value":"ocpu"}}]`,
	}, replace)
}

func object(members, replace map[string]string) string {
	for name, v := range replace {
		members[name] = v
	}
	var out []string
	for name, v := range members {
		if v != "" {
			out = append(out, fmt.Sprintf("%q:%s", name, v))
		}
	}
	slices.Sort(out)
	return "{" + strings.Join(out, ",") + "}"
}

// part returns a product of the estimator with the given prices in USD.
func part(number, prices string) string {
	return fmt.Sprintf(`{"partNumber":%q,"billingModel":"UCM","pricetype":"HOUR","currencyCodeLocalizations":[{"currencyCode":"USD","prices":[%s]}]}`, number, prices)
}

func payg(value string) string { return `{"model":"PAY_AS_YOU_GO","value":` + value + `}` }

func items(rows ...string) string { return `{"items":[` + strings.Join(rows, ",") + `]}` }

// crawl reads bodies of the given sources; the fixture has nothing else.
func crawl(t testing.TB, bodies map[string]string) (*providertest.Collector, error) {
	t.Helper()
	var exchanges []providertest.Exchange
	for source, url := range map[string]string{sourceShapes: shapesURL, sourceProducts: productsURL, sourceList: listURL} {
		if body, ok := bodies[source]; ok {
			exchanges = append(exchanges, providertest.Exchange{
				Source: source, URL: url, Body: body, Header: map[string]string{"Content-Type": "application/json"},
			})
		}
	}
	return providertest.Collect(t.Context(), New(providertest.Replay(t, "oci", exchanges...), Config{}))
}

// said lists what came of the rows, but for the row of the good shape.
func said(c *providertest.Collector) []string {
	var out []string
	for _, o := range c.Offers {
		text := fmt.Sprint(o.Key.Market, " ", o.Key.InstanceType, " ", o.Price.Amount)
		for _, p := range o.Price.Components {
			text += fmt.Sprint(" ", p.Kind, " ", p.Amount, "×", p.Quantity)
		}
		if o.Key.InstanceType != goodName {
			out = append(out, text)
		}
	}
	for _, s := range c.Skips {
		if s.Key != nil {
			out = append(out, fmt.Sprint(s.Key.Market, " ", s.Key.InstanceType, " ", s.Reason))
		} else {
			out = append(out, fmt.Sprint(s.Scope, " ", s.Reason))
		}
	}
	for _, o := range c.Omits {
		out = append(out, fmt.Sprint(o.Reason, " ", o.Rows))
	}
	slices.Sort(out)
	return out
}

const goodName = "BM.GPU.H100.8"

func goodShape() string { return shape(map[string]string{"name": `"` + goodName + `"`}) }

// cpuShape returns the members of a shape without cards, one of them replaced.
func cpuShape(name, v string) map[string]string {
	m := map[string]string{
		"name": `"BM.Standard.E4.128"`, "gpuQty": "null", "gpuMemoryQty": "null", "subType": `{"value":"standard"}`, "processorType": `{"value":"amd"}`,
		"products": `[{"partNumber":"P1","qty":128,"type":{"value":"ocpu"}},{"partNumber":"P2","qty":81.6,"type":{"value":"disk"}}]`,
	}
	m[name] = v
	return m
}

func TestShape(t *testing.T) {
	for _, tt := range []struct {
		name    string
		replace map[string]string
		want    []string
	}{
		{"price per card", nil, []string{"on_demand BM.GPU.X9.8 2.5"}},
		{"note in the name", map[string]string{"name": `"BM.GPU.X9.4 (NVL72)"`, "gpuQty": "4"}, []string{"on_demand BM.GPU.X9.4 2.5"}},
		{"half when preemptible", map[string]string{"name": `"VM.GPU9.1"`, "gpuQty": "1", "allowPreemptible": "true"}, []string{"on_demand VM.GPU9.1 2.5", "spot VM.GPU9.1  accelerator 2.5×0.5"}},
		{"preemptible or not is not said", map[string]string{"allowPreemptible": "null"}, []string{"on_demand BM.GPU.X9.8 2.5", "spot BM.GPU.X9.8 no_preemptible_flag"}},
		{"no count", map[string]string{"gpuQty": "null"}, []string{"on_demand BM.GPU.X9.8 bad_count"}},
		{"no count and no kind", map[string]string{"gpuQty": "", "subType": "null"}, []string{"on_demand BM.GPU.X9.8 bad_count"}},
		{"count 0", map[string]string{"gpuQty": "0"}, []string{"on_demand BM.GPU.X9.8 bad_count"}},
		{"a card and a half", map[string]string{"gpuQty": "1.5"}, []string{"on_demand BM.GPU.X9.8 bad_count"}},
		{"a part of a card", map[string]string{"gpuQty": "0.5"}, []string{"on_demand BM.GPU.X9.8 bad_count"}},
		{"count beyond reason", map[string]string{"gpuQty": "1000"}, []string{"on_demand BM.GPU.X9.8 bad_count"}},
		{"count in words", map[string]string{"gpuQty": `"eight"`}, []string{"market=on_demand bad_shape", "market=spot bad_shape"}},
		{"a second part", map[string]string{"products": `[{"partNumber":"P1","type":{"value":"ocpu"}},{"partNumber":"P2","type":{"value":"memory"}}]`}, []string{"on_demand BM.GPU.X9.8 bad_part"}},
		{"a part of another type", map[string]string{"products": `[{"partNumber":"P1","type":{"value":"memory"}}]`}, []string{"on_demand BM.GPU.X9.8 bad_part"}},
		{"no part", map[string]string{"products": "[]"}, []string{"on_demand BM.GPU.X9.8 bad_part"}},
		{"part without a price", map[string]string{"products": `[{"partNumber":"P9","type":{"value":"ocpu"}}]`, "allowPreemptible": "true"}, []string{"on_demand BM.GPU.X9.8 part_not_listed", "spot BM.GPU.X9.8 part_not_listed"}},
		{"free part", map[string]string{"products": `[{"partNumber":"P0","type":{"value":"ocpu"}}]`}, []string{"on_demand BM.GPU.X9.8 no_price"}},
		{"hidden", map[string]string{"hidden": "true"}, []string{"hidden 1"}},
		{"retired", map[string]string{"status": `"INACTIVE"`}, []string{"not_active 1"}},
		{"no status", map[string]string{"status": ""}, []string{"on_demand BM.GPU.X9.8 no_status"}},
		{"no name", map[string]string{"name": ""}, []string{"market=on_demand bad_shape", "market=spot bad_shape"}},
		{"sum of parts", cpuShape("allowPreemptible", "false"), []string{"on_demand BM.Standard.E4.128  core 2.5×128 local_ssd 0.01×81.6"}},
		{"half of each part", cpuShape("allowPreemptible", "true"), []string{"on_demand BM.Standard.E4.128  core 2.5×128 local_ssd 0.01×81.6", "spot BM.Standard.E4.128  core 2.5×64 local_ssd 0.01×40.8"}},
		{"sum with a missing part", cpuShape("products", `[{"partNumber":"P1","qty":1,"type":{"value":"ocpu"}},{"partNumber":"P9","qty":1,"type":{"value":"memory"}}]`), []string{"on_demand BM.Standard.E4.128 part_not_listed"}},
		{"flexible", cpuShape("subType", `{"value":"flexible"}`), []string{"flexible_shape 1"}},
		{"dedicated host", cpuShape("name", `"DVH.Standard.E4.128"`), []string{"other_product 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := crawl(t, map[string]string{
				sourceShapes:   items(goodShape(), shape(tt.replace)),
				sourceProducts: items(part("P1", payg("2.5")), part("P2", payg("0")+","+payg("0.01")), part("P0", payg("0"))),
			})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, said(c)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			for _, s := range c.Scopes {
				if s.Status != gputide.ScopeDone || s.Source != sourceProducts {
					t.Errorf("scope %s of %s is %s: %s", s.Scope, s.Source, s.Status, s.Reason)
				}
			}
		})
	}
}

func TestPart(t *testing.T) {
	for _, tt := range []struct{ name, part, want string }{
		{"as published", part("P1", payg("3.0500")), "on_demand BM.GPU.X9.8 3.0500"},
		{"free allowance first", part("P1", payg("0")+","+payg("0.01")), "on_demand BM.GPU.X9.8 0.01"},
		{"the dearest of several steps", part("P1", payg("0.02")+","+payg("0.10")+","+payg("0.03")), "on_demand BM.GPU.X9.8 0.10"},
		{"another model", part("P1", `{"model":"MONTHLY","value":1},`+payg("2")), "on_demand BM.GPU.X9.8 2"},
		{"zero", part("P1", payg("0")), "on_demand BM.GPU.X9.8 no_price"},
		{"negative", part("P1", payg("-2")), "on_demand BM.GPU.X9.8 no_price"},
		{"null", part("P1", payg("null")), "on_demand BM.GPU.X9.8 no_price"},
		{"text", part("P1", payg(`"2"`)), "on_demand BM.GPU.X9.8 no_price"},
		{"no price", part("P1", ""), "on_demand BM.GPU.X9.8 no_price"},
		{"another currency", strings.Replace(part("P1", payg("2")), "USD", "EUR", 1), "on_demand BM.GPU.X9.8 other_currency"},
		{"per month", strings.Replace(part("P1", payg("2")), "HOUR", "MONTH", 1), "on_demand BM.GPU.X9.8 not_hourly"},
		{"twice the same", part("P1", payg("2")) + "," + part("P1", payg("2")), "on_demand BM.GPU.X9.8 2"},
		{"two prices", part("P1", payg("2")) + "," + part("P1", payg("3")), "on_demand BM.GPU.X9.8 two_prices"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			good := strings.Replace(goodShape(), "P1", "P2", 1)
			c, err := crawl(t, map[string]string{sourceShapes: items(good, shape(nil)), sourceProducts: items(part("P2", payg("1")), tt.part)})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]string{tt.want}, said(c)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestCardMemory proves how the memory of a shape is read: as a sum, as that of
// one card, or not at all.
func TestCardMemory(t *testing.T) {
	for _, tt := range []struct {
		shape, gpus, listed string
		want                float64 // 0: not said
	}{
		{"BM.GPU.A100-v2.8", "8", "640", 80},
		{"BM.GPU4.8", "8", "320", 40},
		{"BM.GPU4.8", "8", "640", 0},
		{"BM.GPU.MI355X.8", "8", "288", 288},
		{"BM.GPU.MI300X.8", "8", "1536", 192},
		{"BM.GPU.B300.8", "8", "2100", 0},
		{"BM.GPU.GB300.4", "4", "278", 0},
		{"BM.GPU.GB200.4", "4", "756", 0},
		{"BM.GPU.X9.8", "8", "640", 0},
		{"VM.GPU3.1", "1", "null", 0},
	} {
		s := readShape(json.RawMessage(shape(map[string]string{"name": `"` + tt.shape + `"`, "gpuQty": tt.gpus, "gpuMemoryQty": tt.listed})))
		table, err := loadTable()
		if err != nil {
			t.Fatal(err)
		}
		var got float64
		if gb := s.spec(table.byName[tt.shape]).Device.MemoryGB; gb != nil {
			got = *gb
		}
		if got != tt.want {
			t.Errorf("%s, %s GB: %g GB a card, want %g", tt.shape, tt.listed, got, tt.want)
		}
	}
}

func TestCardOf(t *testing.T) {
	for shape, want := range map[string]string{
		"BM.GPU.H100.8": "H100", "VM.GPU.A10.2": "A10", "BM.GPU9.8": "GPU9", "BM.GPU.B4.8": "B4", "BM.GPU.L40S-NC.4": "L40S-NC", "GPU": "GPU",
	} {
		if got := cardOf(shape); got != want {
			t.Errorf("%s: %q, want %q", shape, got, want)
		}
	}
}

// listed returns a part of the price list API.
func listed(number, metric, category, prices string) string {
	return fmt.Sprintf(`{"partNumber":%q,"displayName":"x","metricName":%q,"serviceCategory":%q,"currencyCodeLocalizations":[{"currencyCode":"USD","prices":[%s]}]}`, number, metric, category, prices)
}

func TestPriceList(t *testing.T) {
	const metric, gpu = "GPU Per Hour", "Compute - GPU"
	v100 := []string{
		"on_demand BM.GPU3.8 3", "on_demand VM.GPU3.1 3", "on_demand VM.GPU3.2 3", "on_demand VM.GPU3.4 3",
		"spot VM.GPU3.1  accelerator 3×0.5", "spot VM.GPU3.2  accelerator 3×0.5", "spot VM.GPU3.4  accelerator 3×0.5",
	}
	for _, tt := range []struct {
		name, row string
		want      []string
	}{
		{"every shape of a part", listed("B89734", metric, gpu, payg("3")), v100},
		{"a twin", listed("B89734", metric, gpu, payg("3")) + "," + listed("B89734", metric, gpu, payg("3")), append(slices.Clone(v100), "twin 1")},
		{"no price", listed("B92740", metric, gpu, payg("0")), []string{"on_demand BM.GPU4.8 no_price"}},
		{"another metric", listed("B92740", "OCPU Per Hour", gpu, payg("3")), []string{"on_demand BM.GPU4.8 not_per_gpu_hour"}},
		{"another currency", strings.Replace(listed("B92740", metric, gpu, payg("3")), "USD", "EUR", 1), []string{"on_demand BM.GPU4.8 other_currency"}},
		{"no public shape", listed("B109480", metric, "Compute - GPU - Other", payg("10.75")), []string{"no_public_shape 1"}},
		{"new part", listed("B999999", metric, gpu, payg("10")), []string{"market=on_demand unknown_part", "market=spot unknown_part"}},
		{"Cloud@Customer", listed("B110965", metric, "Compute Cloud@Customer", payg("3.5")), []string{"cloud_at_customer 1"}},
		{"VMware", listed("B108806", "Node Per Hour", "Compute - VMware", payg("16")), []string{"other_product 1"}},
		{"no part number", listed("", metric, gpu, payg("1")), []string{"market=on_demand bad_row", "market=spot bad_row"}},
		{"no metric", listed("B1", "", gpu, payg("1")), []string{"market=on_demand bad_row", "market=spot bad_row"}},
		{"no product", "7", []string{"market=on_demand bad_row", "market=spot bad_row"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := crawl(t, map[string]string{sourceList: items(listed("B98415", metric, gpu, payg("10")), tt.row)})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, said(c)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestLists proves what is said of whole answers that cannot be used.
func TestLists(t *testing.T) {
	goodPart := items(part("P1", payg("2")))
	for _, tt := range []struct {
		name   string
		bodies map[string]string
		blamed string
		want   error
	}{
		{"no list", map[string]string{sourceShapes: `{}`, sourceProducts: goodPart}, sourceShapes, gputide.ErrSchemaDrift},
		{"no shape", map[string]string{sourceShapes: items(), sourceProducts: goodPart}, sourceShapes, gputide.ErrEmpty},
		{"no GPU shape", map[string]string{sourceShapes: items(`{"name":"BM.Standard.E4.128"}`), sourceProducts: goodPart}, sourceShapes, gputide.ErrSchemaDrift},
		{"something behind it", map[string]string{sourceShapes: items(goodShape()) + "{}", sourceProducts: goodPart}, sourceShapes, gputide.ErrSchemaDrift},
		{"a list of rows", map[string]string{sourceShapes: `[` + goodShape() + `]`, sourceProducts: goodPart}, sourceShapes, gputide.ErrSchemaDrift},
		{"no price at all", map[string]string{sourceShapes: items(goodShape()), sourceProducts: items(part("P1", payg("0")))}, sourceProducts, gputide.ErrSchemaDrift},
		{"parts of other shapes", map[string]string{sourceShapes: items(goodShape()), sourceProducts: items(part("P1 ", payg("2")))}, sourceProducts, gputide.ErrSchemaDrift},
		{"no part", map[string]string{sourceShapes: items(goodShape()), sourceProducts: items()}, sourceProducts, gputide.ErrEmpty},
		{"no GPU part", map[string]string{sourceList: items(listed("B1", "OCPU Per Hour", "Compute", payg("1")))}, sourceList, gputide.ErrSchemaDrift},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := crawl(t, tt.bodies)
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if len(c.Errors(tt.blamed)) == 0 {
				t.Errorf("%s is not marked failed", tt.blamed)
			}
			if len(c.Live()) != 0 {
				t.Errorf("offers %v", c.Live())
			}
		})
	}
}

// TestTable proves that every shape of the table has a name, a part and cards.
func TestTable(t *testing.T) {
	table, err := loadTable()
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range table.byName {
		if !strings.HasSuffix(name, fmt.Sprintf(".%d", k.gpus)) {
			t.Errorf("%s has %d cards", name, k.gpus)
		}
		if k.arch != archX86 && k.arch != archArm || k.device == "" || !strings.HasPrefix(k.part, "B") || shapeless(k.part) {
			t.Errorf("row %+v", *k)
		}
		if k.preemptible && isBareMetal(name) {
			t.Errorf("%s: bare metal is never preemptible", name)
		}
	}
}

// FuzzRows proves that no row makes a price that is none, whatever stands in it.
func FuzzRows(f *testing.F) {
	f.Add([]byte(shape(nil)))
	f.Add([]byte(part("P1", payg("2"))))
	f.Add([]byte(listed("B89734", "GPU Per Hour", "Compute - GPU", payg("1e-9"))))
	f.Add([]byte(`{"name":"VM.X","hidden":false,"status":"ACTIVE","products":[{"partNumber":"P1","qty":1e30,"type":{"value":"disk"}}]}`))
	table, err := loadTable()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		c := new(providertest.Collector)
		r := &run{b: gputide.NewBatch("oci", providertest.Moment(), c), table: table}
		s := readShape(row)
		r.addShape(&s, map[string]unitPrice{"P1": {amount: "2"}, "P0": {reason: "no_price"}})
		var p product
		if json.Unmarshal(row, &p) == nil {
			r.addPart(&p, map[string]unitPrice{})
		}
		(&computeReader{b: r.b, table: table}).add(row)
		for _, o := range c.Offers {
			amounts := []string{o.Price.Amount}
			if len(o.Price.Components) > 0 {
				amounts = nil
				for _, part := range o.Price.Components {
					amounts = append(amounts, part.Amount)
				}
			}
			for _, a := range amounts {
				if v, err := gputide.ParseAmount(a); err != nil || v.Sign() <= 0 || o.Key.InstanceType == "" {
					t.Errorf("price %q of %q", a, o.Key.Canonical())
				}
			}
		}
	})
}
