package gcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/gcp"
	"github.com/gputide/gputide/providers/providertest"
)

const (
	heads = "Machine type|GPU|Components|Price (USD)*Consumption model ID: 7754|DWS Flex-start price (USD)|DWS Calendar Mode price (USD)|" +
		"Current Spot pricing (USD)|Compute Resource CUDs - 1 Year (USD)|Compute Resource CUDs - 3 Year (USD)"
	noPrices = "|N/A|N/A|N/A|N/A|N/A"
)

// embedded writes tables of a place into a script: lines of cells, the first the
// heading.
func embedded(t *testing.T, tables map[string]string) string {
	t.Helper()
	cells := func(line string) []any {
		var out []any
		for text := range strings.SplitSeq(line, "|") {
			out = append(out, []any{1, nil, "", []any{nil, []any{nil, text, "more"}}})
		}
		return out
	}
	var blocks []any
	for place, table := range tables {
		lines := strings.Split(table, "\n")
		rows := []any{}
		for _, l := range lines[1:] {
			rows = append(rows, cells(l))
		}
		blocks = append(blocks, []any{cells(lines[0]), rows, place, nil})
	}
	data, err := json.Marshal([]any{nil, []any{"x", blocks}})
	if err != nil {
		t.Fatal(err)
	}
	return "<script>AF_initDataCallback({key: 'ds:1', hash: '2', data:" + string(data) + ", sideChannel: {}});</script>"
}

func readPage(t *testing.T, body string) (*providertest.Collector, error) {
	t.Helper()
	f := providertest.Replay(t, "gcp", providertest.Exchange{
		Source: "page", URL: "https://cloud.google.com/products/compute/pricing/accelerator-optimized",
		Header: map[string]string{"Content-Type": "text/html; charset=utf-8"}, Body: "<!doctype html><html><body>" + body + "</body></html>",
	})
	return providertest.Collect(t.Context(), gcp.New(f, gcp.Config{}))
}

func prices(c *providertest.Collector) []string {
	var out []string
	for _, o := range c.Live() {
		out = append(out, fmt.Sprintf("%s %s %s %s", o.Key.Region, o.Key.InstanceType, o.Key.Market, o.Price.Amount))
	}
	slices.Sort(out)
	return out
}

// TestNewMachineType proves that a machine type the table does not have is taken
// from the page, with what the page says of it.
func TestNewMachineType(t *testing.T) {
	c, err := readPage(t, embedded(t, map[string]string{
		"Iowa (us-central1)": heads + "\n|||||||| \na9-highgpu-4g|<p>Nvidia Z900</p>|<p>GPUs: 4</p><p>vCPUs:1,44</p><p>Memory: 1,871GB</p>|$9 / 1 hour" + noPrices,
	}))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"us-central1 a9-highgpu-4g on_demand 9"}, prices(c)); d != "" {
		t.Fatal(d)
	}
	s := c.Live()[0].Spec
	if s == nil || s.Device.Name != "Nvidia Z900" || s.Device.Count != gputide.NewCount(4, 1) || s.MemoryGiB == nil || *s.MemoryGiB != 1871 {
		t.Errorf("%+v", s)
	}
	if s.VCPU != nil {
		t.Errorf("vCPUs of another form are %v", *s.VCPU)
	}
}

// TestPageForms proves that a page in another form gives right rows, a failed
// scope, or one that withdraws nothing.
func TestPageForms(t *testing.T) {
	row := "a2-highgpu-1g|Nvidia A100||$3 / 1 hour" + noPrices
	iowa := func(table string) string { return embedded(t, map[string]string{"Iowa (us-central1)": table}) }
	one := []string{"us-central1 a2-highgpu-1g on_demand 3"}
	for name, tt := range map[string]struct {
		body  string
		want  []string
		err   error
		blind gputide.Market // a market that withdraws nothing
	}{
		"as it was":                    {iowa(heads + "\n" + row), one, nil, ""},
		"no script":                    {"<p>nothing</p>", nil, gputide.ErrSchemaDrift, ""},
		"another table":                {iowa("Item|Price (USD)\nLocal SSD|$0.08 / 1 month"), nil, gputide.ErrSchemaDrift, ""},
		"no rows":                      {iowa(heads), nil, gputide.ErrEmpty, ""},
		"broken data":                  {strings.Replace(iowa(heads+"\n"+row), `"(us-central1)"`, "", 1) + "<script>AF_initDataCallback({data:[1,})</script>", nil, gputide.ErrSchemaDrift, ""},
		"data that is no list":         {iowa(heads+"\n"+row) + "<script>AF_initDataCallback({data:function(){return []}});</script>", one, nil, ""},
		"a place in another form":      {embedded(t, map[string]string{"Iowa": heads + "\n" + row}), nil, gputide.ErrSchemaDrift, ""},
		"a column nobody knows":        {iowa(strings.Replace(heads, "Current Spot pricing", "Dynamic pricing", 1) + "\n" + row), one, gputide.ErrSchemaDrift, gputide.Spot},
		"a row that is no type":        {iowa(heads + "\n" + row + "\nA4 Max|x||$1 / 1 hour" + noPrices), one, nil, gputide.OnDemand},
		"a price in another currency":  {iowa(heads + "\n" + strings.Replace(row, "$", "€", 1)), nil, gputide.ErrEmpty, ""},
		"two prices for one machine":   {iowa(heads + "\n" + row + "\n" + strings.Replace(row, "$3", "$4", 1)), append(slices.Clone(one), "us-central1 a2-highgpu-1g on_demand 4"), nil, ""},
		"the same row twice":           {iowa(heads + "\n" + row + "\n" + row), one, nil, ""},
		"a short row":                  {iowa(heads + "\n" + row + "\na2-highgpu-2g|Nvidia A100"), one, nil, ""},
		"columns in another order":     {iowa("Price (USD)|" + strings.Replace(heads, "|Price (USD)*Consumption model ID: 7754", "", 1) + "\n$3 / 1 hour|a2-highgpu-1g|A100|" + noPrices), one, nil, ""},
		"one table of two without one": {iowa(heads+"\n"+row) + embedded(t, map[string]string{"Ohio (us-east5)": "Machine type|Price (USD)|Dynamic (USD)\na2-highgpu-1g|$5 / 1 hour|$1 / 1 hour"}), append(slices.Clone(one), "us-east5 a2-highgpu-1g on_demand 5"), nil, gputide.Spot},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := readPage(t, tt.body)
			if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if d := cmp.Diff(tt.want, prices(c)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			blind := slices.ContainsFunc(c.Skips, func(s gputide.Skipped) bool { return s.Key == nil && s.Scope.Market == tt.blind })
			if tt.blind != "" && !blind {
				t.Errorf("nothing says that %s may lack something: %v", tt.blind, c.Skips)
			}
		})
	}
}

// TestShownTableOnly proves that a page whose scripts hold no tables feeds the
// region that shows, and that every other is a failure, not a sale that ended.
func TestShownTableOnly(t *testing.T) {
	th := "<tr><th>" + strings.ReplaceAll(heads, "|", "</th><th>") + "</th></tr>"
	td := "<tr><td>" + strings.ReplaceAll("a2-highgpu-1g|A100||$3 / 1 hour"+noPrices, "|", "</td><td>") + "</td></tr>"
	c, err := readPage(t, "<table>"+th+td+"</table>")
	if !errors.Is(err, gputide.ErrSchemaDrift) {
		t.Errorf("error %v", err)
	}
	if d := cmp.Diff([]string{"us-central1 a2-highgpu-1g on_demand 3"}, prices(c)); d != "" {
		t.Error(d)
	}
	for _, s := range c.Scopes {
		if done := s.Status == gputide.ScopeDone; done != (s.Scope.Region == "us-central1") {
			t.Errorf("scope %v is %s", s.Scope, s.Status)
		}
	}
}
