package runpod_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/providertest"
)

// good is a row that needs nothing of the row under test.
const good = `{"id":"NVIDIA L4","displayName":"L4","memoryInGb":24,"secureCloud":true,"communityCloud":true,` +
	`"securePrice":0.5,"communityPrice":0.4,"secureSpotPrice":0.3,"communitySpotPrice":0.2,"maxGpuCount":1}`

const centre = `{"id":"D","listed":true,"gpuAvailability":[]}`

// row returns good as a card named X with members replaced; a value of "" drops
// the member.
func row(replace map[string]string) string {
	members := map[string]string{
		"id": `"X"`, "displayName": `"X"`, "memoryInGb": "80", "secureCloud": "true", "communityCloud": "false",
		"securePrice": "2", "communityPrice": "0", "secureSpotPrice": "1", "communitySpotPrice": "0", "maxGpuCount": "1",
	}
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

func body(row string) string {
	return `{"data":{"gpuTypes":[` + good + "," + row + `],"dataCenters":[` + centre + `]}}`
}

// said lists what the card X became: offers, skipped keys, and rows of unknown key.
func said(c *providertest.Collector) []string {
	var out []string
	key := func(k *gputide.Key) string { return fmt.Sprintf("%s %s %s", k.Market, k.Tier, k.InstanceType) }
	for _, o := range c.Offers {
		if strings.HasPrefix(o.Key.InstanceType, "X×") {
			out = append(out, key(&o.Key)+" "+o.Price.Amount)
		}
	}
	for _, s := range c.Skips {
		if s.Key != nil {
			out = append(out, key(s.Key)+" "+s.Reason)
		} else {
			out = append(out, s.Scope.String()+" "+s.Reason)
		}
	}
	slices.Sort(out)
	return out
}

func TestRow(t *testing.T) {
	for _, tt := range []struct {
		name    string
		replace map[string]string
		want    []string
	}{
		{"plain", nil, []string{"on_demand secure X×1 2", "spot secure X×1 1"}},
		{
			"per cloud maximum",
			map[string]string{"maxGpuCount": "8", "maxGpuCountSecureCloud": "2"},
			[]string{"on_demand secure X×1 2", "on_demand secure X×2 2", "spot secure X×1 1", "spot secure X×2 1"},
		},
		{"neither cloud", map[string]string{"secureCloud": "false"}, nil},
		{
			"null prices",
			map[string]string{"securePrice": "null", "secureSpotPrice": "null"},
			[]string{"on_demand secure X×1 no_price", "spot secure X×1 no_price"},
		},
		{"zero price", map[string]string{"securePrice": "0"}, []string{"on_demand secure X×1 no_price", "spot secure X×1 1"}},
		{"negative price", map[string]string{"securePrice": "-2"}, []string{"on_demand secure X×1 no_price", "spot secure X×1 1"}},
		{"word for a price", map[string]string{"securePrice": `"NaN"`}, []string{"on_demand secure X×1 no_price", "spot secure X×1 1"}},
		{"huge price", map[string]string{"securePrice": "1e400"}, []string{"on_demand secure X×1 no_price", "spot secure X×1 1"}},
		{"no price", map[string]string{"securePrice": ""}, []string{"on_demand secure X×1 no_price", "spot secure X×1 1"}},
		{"price kept exactly", map[string]string{"securePrice": "2.10"}, []string{"on_demand secure X×1 2.10", "spot secure X×1 1"}},
		{"no flag", map[string]string{"secureCloud": ""}, []string{"market=on_demand no_cloud_flag", "market=spot no_cloud_flag"}},
		{"no count", map[string]string{"maxGpuCount": "null"}, []string{"market=on_demand bad_count", "market=spot bad_count"}},
		{"count 0", map[string]string{"maxGpuCount": "0"}, []string{"market=on_demand bad_count", "market=spot bad_count"}},
		{"count beyond reason", map[string]string{"maxGpuCount": "1000"}, []string{"market=on_demand bad_count", "market=spot bad_count"}},
		{"no id", map[string]string{"id": ""}, []string{"market=on_demand bad_row", "market=spot bad_row"}},
		{"flag of another type", map[string]string{"secureCloud": `"yes"`}, []string{"market=on_demand bad_row", "market=spot bad_row"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := answer(t, 200, body(row(tt.replace)))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, said(c)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			for _, s := range c.Scopes {
				if s.Status != gputide.ScopeDone {
					t.Errorf("scope %s is %s: %s", s.Scope, s.Status, s.Reason)
				}
			}
		})
	}
}

func TestSlice(t *testing.T) {
	c, err := answer(t, 200, body(row(map[string]string{"id": `"X MIG 1g.24gb"`, "memoryInGb": "24"})))
	if err != nil {
		t.Fatal(err)
	}
	shares := make(map[string]gputide.ShareKind)
	for _, o := range c.Offers {
		shares[o.Key.InstanceType] = o.Spec.Device.Share
	}
	want := map[string]gputide.ShareKind{"X MIG 1g.24gb×1": gputide.ShareMIG, "NVIDIA L4×1": ""}
	if d := cmp.Diff(want, shares); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestAnswer(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   error
	}{
		{"field of the query unknown", 200, `{"errors":[{"message":"Cannot query field \"lp1s\" on type \"GpuType\"."}]}`, gputide.ErrSchemaDrift},
		{"query refused by code", 200, `{"data":null,"errors":[{"message":"no","extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}]}`, gputide.ErrSchemaDrift},
		{"query refused by status", 400, `{"errors":[{"message":"no"}]}`, gputide.ErrSchemaDrift},
		{"login asked for", 200, `{"errors":[{"message":"no","extensions":{"code":"UNAUTHENTICATED"}}]}`, gputide.ErrAuth},
		{"inner failure", 200, `{"data":{"gpuTypes":null},"errors":[{"message":"timeout"}]}`, gputide.ErrUnavailable},
		{"no data", 200, `{"data":null}`, gputide.ErrSchemaDrift},
		{"no list", 200, `{"data":{}}`, gputide.ErrSchemaDrift},
		{"empty list", 200, `{"data":{"gpuTypes":[],"dataCenters":[]}}`, gputide.ErrEmpty},
		{"rows of another form", 200, `{"data":{"gpuTypes":[1,2],"dataCenters":[]}}`, gputide.ErrSchemaDrift},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := answer(t, tt.status, tt.body)
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if len(c.Errors("gpu-types")) == 0 {
				t.Error("the source is not marked failed")
			}
			for _, s := range c.Scopes {
				if s.Status == gputide.ScopeDone {
					t.Errorf("scope %s is done", s.Scope)
				}
			}
		})
	}
}

// TestStockFails proves that prices survive the loss of the stock.
func TestStockFails(t *testing.T) {
	for body, want := range map[string]error{
		`{"data":{"gpuTypes":[` + good + `]}}`:                                                          gputide.ErrSchemaDrift,
		`{"data":{"gpuTypes":[` + good + `],"dataCenters":null},"errors":[{"message":"timeout"}]}`:      gputide.ErrUnavailable,
		`{"data":{"gpuTypes":[` + good + `],"dataCenters":[` + centre + `]},"errors":[{"message":""}]}`: gputide.ErrUnavailable,
	} {
		stockFails(t, body, want)
	}
}

func stockFails(t *testing.T, body string, want error) {
	t.Helper()
	c, err := answer(t, 200, body)
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
	if got := len(c.Live()); got != 4 {
		t.Errorf("%d offers, want 4", got)
	}
	if errs := c.Errors("gpu-types"); len(errs) != 0 {
		t.Errorf("the source is marked failed: %v", errs)
	}
	for _, s := range c.Scopes {
		if done := s.Status == gputide.ScopeDone; done == (s.Scope.Signal != "") {
			t.Errorf("scope %s is %s", s.Scope, s.Status)
		}
	}
}

func TestStock(t *testing.T) {
	l4 := strings.TrimSuffix(good, "}") + `,"lp1s":{"stockStatus":null},"lp2s":{"stockStatus":"Low"}}`
	x2 := row(map[string]string{
		"maxGpuCount": "4", "lp1s": "null", "lp2s": `{"stockStatus":"Low"}`, "lp3s": `{"stockStatus":"Lots"}`, "lp4s": `"Low"`,
	})
	answerBody := `{"data":{"gpuTypes":[` + l4 + "," + x2 + `],"dataCenters":[` +
		`{"id":"A","listed":true,"gpuAvailability":[{"gpuTypeId":"L","available":true,"stockStatus":"High"},` +
		`{"gpuTypeId":"N","available":false,"stockStatus":null},{"gpuTypeId":"Y","available":true,"stockStatus":null},` +
		`{"gpuTypeId":"W","available":true,"stockStatus":"Plenty"}]},` +
		`{"id":"B","listed":false,"gpuAvailability":[{"gpuTypeId":"L","available":true,"stockStatus":"High"}]},` +
		`{"listed":true,"gpuAvailability":[]}]}}`
	c, err := answer(t, 200, answerBody)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int64)
	for _, s := range c.Signals {
		got[s.Key.InstanceType+" "+s.Key.Region+" "+s.Key.Tier] = s.Value
	}
	want := map[string]int64{
		"L×1 A secure": 3, "N×1 A secure": 0, "Y×1 A secure": 4,
		"NVIDIA L4×1  secure": 0, "X×2  secure": 1,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if len(c.Skips) != 4 {
		t.Errorf("%d rows skipped, want two unknown words, a word in place of an answer and a data centre without id", len(c.Skips))
	}
}
