package lambda

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/providertest"
)

func TestCents(t *testing.T) {
	for cents, want := range map[string]string{
		"1": "0.01", "10": "0.10", "129": "1.29", "1592": "15.92", "0129": "1.29",
		"0": "", "": "", "-129": "", "129.5": "", "1e3": "", "null": "", `"129"`: "", "1234567890": "",
	} {
		got, ok := dollars(cents)
		if got != want || ok != (want != "") {
			t.Errorf("dollars(%q) = %q, %v", cents, got, ok)
		}
	}
}

func TestSize(t *testing.T) {
	for text, gib := range map[string]float64{
		"1800 GiB": 1800, "22 TiB SSD": 22528, "19.5 TiB SSD": 19968, "512 GiB SSD": 512,
		"80 GB": 0, "": 0, "0 GiB": 0, "1,800 GiB": 0, "1800GiB": 0, "-": 0, "1800 MiB": 0,
	} {
		s, _ := parseSize(text)
		if got := s.gib(); (got == nil) != (gib == 0) || (got != nil && *got != gib) {
			t.Errorf("%q: %v, want %v", text, got, gib)
		}
	}
}

// TestNames proves that each pair of the table means one type of card, and that
// every name has the form that the count is read from.
func TestNames(t *testing.T) {
	table, err := loadNames()
	if err != nil {
		t.Fatal(err)
	}
	if len(table.words) != len(table.name) || len(table.words) != 9 {
		t.Errorf("%d names, %d words", len(table.words), len(table.name))
	}
	for name, w := range table.words {
		n, _, ok := parseName(name)
		if !ok || n != w.count || w.memoryGB() == nil {
			t.Errorf("%s: %v", name, w)
		}
	}
	if got := table.instanceType(words{"NVIDIA H100 SXM", "80 GB", 4}); got != "NVIDIA H100 SXM 80 GB×4" {
		t.Errorf("a row without a name is %q", got)
	}
}

// panel is a tab panel of one row per price.
func panel(id, count string, prices ...string) (tab, body string) {
	tab = `<button role="tab" aria-controls="p` + id + `">` + count + `</button>`
	body = `<div role="tabpanel" id="p` + id + `" hidden><table><tr><th>Plan</th></tr>`
	for _, price := range prices {
		body += `<tr data-plan="NVIDIA X"><th data-label="Plan">NVIDIA X</th><td data-label="VRAM/GPU">80 GB</td>` +
			`<td data-label="PRICE/GPU/HR*">` + price + `</td></tr>`
	}
	return tab, body + `</table></div>`
}

func section1(heading string, parts ...string) string {
	return "<section><h2>" + heading + "</h2>" + strings.Join(parts, "") + "</section>"
}

// crawlPage reads the rows of a page into a collector.
func crawlPage(t testing.TB, body string) (*providertest.Collector, error) {
	t.Helper()
	f := providertest.Replay(t, "lambda", providertest.Exchange{
		Source: sourcePage, URL: pageURL, Header: map[string]string{"Content-Type": "text/html; charset=utf-8"},
		Body: "<html><body>" + body + "</body></html>",
	})
	return providertest.Collect(t.Context(), New(f, ""))
}

func said(c *providertest.Collector) []string {
	var out []string
	for _, o := range c.Offers {
		out = append(out, o.Key.InstanceType+" "+o.Price.Amount)
	}
	for _, s := range c.Skips {
		if s.Key != nil {
			out = append(out, s.Key.InstanceType+" "+s.Reason)
		} else {
			out = append(out, s.Scope.String()+" "+s.Reason)
		}
	}
	for _, o := range c.Omits {
		out = append(out, o.Reason)
	}
	return out
}

func TestPage(t *testing.T) {
	tab8, panel8 := panel("8", "8x", "$3.99")
	tab1, panel1 := panel("1", " 1x\n", "$4.29")
	good := tab8 + tab1 + panel8 + panel1
	ok := []string{"NVIDIA X 80 GB×1 4.29", "NVIDIA X 80 GB×8 3.99"}
	row := func(prices ...string) string {
		_, other := panel("1", "1x", prices...)
		return section1(heading, tab8+tab1+panel8+other)
	}
	cell := func(old, text string) string { return section1(heading, strings.Replace(good, old, text, 1)) }
	for _, tt := range []struct {
		name, body string
		want       []string
		err        error
		says       string // in the error
	}{
		{"plain", section1(heading, good), ok, nil, ""},
		{"heading with blanks", section1("\n Instances  pricing ", good), ok, nil, ""},
		{"copy of the section", section1(heading, good) + section1(heading, strings.NewReplacer(`"p8"`, `"m8"`, `"p1"`, `"m1"`).Replace(good)), append(ok, "twin"), nil, ""},
		{"copy in its panel", row("$4.29", "$4.29"), append(ok, "twin"), nil, ""},
		{"copy as text", section1(heading, good) + "<script>" + good + "</script>" + "<!--" + good + "-->", ok, nil, ""},
		{"copy beside the panels", section1(heading, good, "<table><tr data-plan='NVIDIA X'><td data-label='PRICE/GPU/HR*'>$1</td></tr></table>"), append(ok, "outside_tabs"), nil, ""},
		{"another section", section1("1-Click Clusters", good) + section1(heading, strings.NewReplacer(`"p8"`, `"m8"`, `"p1"`, `"m1"`).Replace(good)), append(ok, "outside_tabs"), nil, ""},
		{"copies that disagree", row("$4.29", "$4.28"), []string{"NVIDIA X 80 GB×1 4.28", "NVIDIA X 80 GB×1 4.29", "NVIDIA X 80 GB×8 3.99"}, nil, ""},
		{"dash", row("—"), []string{"NVIDIA X 80 GB×8 3.99", "not_offered"}, nil, ""},
		{"contact", row("Contact sales"), []string{"NVIDIA X 80 GB×8 3.99", "not_offered"}, nil, ""},
		{"zero", row("$0.00"), []string{"NVIDIA X 80 GB×8 3.99", "NVIDIA X 80 GB×1 no_price"}, nil, ""},
		{"no price", row(""), []string{"NVIDIA X 80 GB×8 3.99", "NVIDIA X 80 GB×1 no_price"}, nil, ""},
		{"another currency", row("€4.29"), []string{"NVIDIA X 80 GB×8 3.99", "NVIDIA X 80 GB×1 no_price"}, nil, ""},
		{"range of prices", row("$4.29–$5"), []string{"NVIDIA X 80 GB×8 3.99", "NVIDIA X 80 GB×1 no_price"}, nil, ""},
		{"no memory", cell("80 GB", ""), []string{"NVIDIA X 80 GB×1 4.29", "market=on_demand bad_row"}, nil, ""},
		{"plans that differ", cell(`data-plan="NVIDIA X"`, `data-plan="NVIDIA Y"`), []string{"NVIDIA X 80 GB×1 4.29", "market=on_demand bad_row"}, nil, ""},
		{"no heading", section1("Pricing", good), nil, gputide.ErrSchemaDrift, heading},
		{"price for something else", strings.ReplaceAll(section1(heading, good), "PRICE/GPU/HR*", "PRICE/HR*"), nil, gputide.ErrSchemaDrift, "PRICE/GPU/HR*"},
		{"tab of another kind", section1(heading, strings.Replace(good, ">8x<", ">Reserved<", 1)), nil, gputide.ErrSchemaDrift, heading},
		{"tab of no cards", section1(heading, strings.Replace(good, ">8x<", ">0x<", 1)), nil, gputide.ErrSchemaDrift, heading},
		{"tab without a panel", section1(heading, tab8, tab1, panel8), nil, gputide.ErrSchemaDrift, heading},
		{"panel without a tab", section1(heading, tab8, panel8, panel1), nil, gputide.ErrSchemaDrift, heading},
		{"two tabs of one panel", section1(heading, tab8, tab8, panel8), nil, gputide.ErrSchemaDrift, heading},
		{"a panel lost its rows", row(), nil, gputide.ErrSchemaDrift, heading},
		{"no tabs", section1(heading, panel8) + section1("1-Click Clusters", good), nil, gputide.ErrSchemaDrift, "1-Click Clusters"},
		{"no rows", section1(heading, tab8, strings.NewReplacer("<tr data-plan", "<p data-x", "data-label", "data-y").Replace(panel8)), nil, gputide.ErrEmpty, heading},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := crawlPage(t, tt.body)
			got := errors.Join(append(c.Errors(sourcePage), err)...)
			if (tt.err == nil) != (err == nil) || !errors.Is(got, tt.err) {
				t.Fatalf("error %v, want %v", got, tt.err)
			}
			if tt.err != nil && !strings.Contains(got.Error(), tt.says) {
				t.Errorf("error %v does not say %q", got, tt.says)
			}
			if d := cmp.Diff(tt.want, said(c)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// FuzzPage proves that no page makes a panic, a price that is none, or an offer
// of no cards.
func FuzzPage(f *testing.F) {
	tab8, panel8 := panel("8", "8x", "$3.99", "—")
	f.Add(section1(heading, tab8, panel8))
	f.Add(section1(heading, tab8, panel8) + section1("1-Click Clusters", tab8, panel8))
	f.Add(`<h2>Instances pricing</h2><b role=tab aria-controls=a>1x</b><table role=tabpanel id=a><tr data-plan=A><td data-label=Plan>A`)
	table, err := loadNames()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		doc, err := goquery.NewDocumentFromReader(bytes.NewReader([]byte(body)))
		if err != nil {
			return
		}
		rows, err := readSections(doc)
		if err != nil {
			if !errors.Is(err, gputide.ErrSchemaDrift) && !errors.Is(err, gputide.ErrEmpty) {
				t.Errorf("error %v", err)
			}
			return
		}
		c := new(providertest.Collector)
		b := gputide.NewBatch("lambda", providertest.Moment(), c)
		for i := range rows {
			rows[i].add(b, table)
		}
		sound(t, c)
	})
}

// FuzzType proves the same of the rows of the API.
func FuzzType(f *testing.F) {
	f.Add("gpu_8x_a100", []byte(`{"instance_type":{"name":"gpu_8x_a100","price_cents_per_hour":1592,"specs":{"gpus":8,"vcpus":1e400}},"regions_with_capacity_available":[{"name":"a"},{}]}`))
	f.Add("x", []byte(`{"instance_type":{"name":"x","price_cents_per_hour":null},"regions_with_capacity_available":null}`))
	f.Fuzz(func(t *testing.T, name string, row []byte) {
		c := new(providertest.Collector)
		b := gputide.NewBatch("lambda", providertest.Moment(), c)
		r := &run{b: b, table: &names{}}
		rows, err := r.rows(map[string]json.RawMessage{name: row})
		if err != nil {
			return
		}
		rows[0].addPrice(b, r.table)
		rows[0].addStock(b)
		sound(t, c)
	})
}

func sound(t *testing.T, c *providertest.Collector) {
	t.Helper()
	for _, o := range c.Offers {
		v, err := gputide.ParseAmount(o.Price.Amount)
		if err != nil || v.Sign() <= 0 || (o.Price.Basis == gputide.BasisAccelerator && !o.Spec.Device.Count.Known()) {
			t.Errorf("price %q of %q", o.Price.Amount, o.Key.Canonical())
		}
	}
	for _, s := range c.Signals {
		if gputide.SignalLabel(s.Name, s.Value) == "" || s.Key.InstanceType == "" {
			t.Errorf("signal %s %d of %q", s.Name, s.Value, s.Key.Canonical())
		}
	}
}
