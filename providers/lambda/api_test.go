package lambda_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/providertest"
)

// answer crawls an API that answers with body.
func answer(t testing.TB, body string) (*providertest.Collector, error) {
	t.Helper()
	return providertest.Collect(t.Context(), withKey(providertest.Replay(t, "lambda", providertest.Exchange{
		Source: "api", URL: "https://cloud.lambda.ai/api/v1/instance-types", Body: body,
		Header: map[string]string{"Content-Type": "application/json"},
	})))
}

// good is a row that needs nothing of the row under test.
const good = `"gpu_1x_a10":{"instance_type":{"name":"gpu_1x_a10","price_cents_per_hour":129},"regions_with_capacity_available":[{"name":"us-east-1"}]}`

func said(c *providertest.Collector) []string {
	var out []string
	for _, o := range c.Offers {
		out = append(out, fmt.Sprintf("%s %s gpus=%s", o.Key.InstanceType, o.Price.Amount, o.Spec.Device.Count))
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
	for _, s := range c.Signals {
		out = append(out, fmt.Sprintf("%s %s=%d", s.Key.InstanceType, s.Key.Region, s.Value))
	}
	slices.Sort(out)
	return out
}

func TestType(t *testing.T) {
	x := func(members string) string {
		return `"gpu_8x_x":{"instance_type":{"name":"gpu_8x_x",` + members + `},"regions_with_capacity_available":[]}`
	}
	const none = "gpu_8x_x =0"
	for _, tt := range []struct {
		name, row string
		want      []string
	}{
		{"plain", x(`"price_cents_per_hour":1592,"specs":{"gpus":8}`), []string{"gpu_8x_x 15.92 gpus=8", none}},
		{"count from the name", x(`"price_cents_per_hour":1592`), []string{"gpu_8x_x 15.92 gpus=8", none}},
		{"counts differ", x(`"price_cents_per_hour":1592,"specs":{"gpus":4}`), []string{"gpu_8x_x bad_count", none}},
		{"zero price", x(`"price_cents_per_hour":0`), []string{"gpu_8x_x no_price", none}},
		{"negative price", x(`"price_cents_per_hour":-1`), []string{"gpu_8x_x no_price", none}},
		{"fraction of a cent", x(`"price_cents_per_hour":159.2`), []string{"gpu_8x_x no_price", none}},
		{"text for a price", x(`"price_cents_per_hour":"1592"`), []string{"gpu_8x_x no_price", none}},
		{"no price", x(`"specs":{"gpus":8}`), []string{"gpu_8x_x no_price", none}},
		{"null price", x(`"price_cents_per_hour":null`), []string{none, "not_offered"}},
		{"another name", `"gpu_8x_x":{"instance_type":{"name":"gpu_8x_y","price_cents_per_hour":1}}`, []string{"market=on_demand bad_row", "signal=availability no_regions"}},
		{"no type", `"gpu_8x_x":{"regions_with_capacity_available":[]}`, []string{"gpu_8x_x bad_row", none}},
		{"no row", `"gpu_8x_x":7`, []string{"gpu_8x_x bad_row", "signal=availability no_regions"}},
		{"no cards", `"cpu_4x":{"instance_type":{"name":"cpu_4x","price_cents_per_hour":9,"specs":{"gpus":0}},"regions_with_capacity_available":[{}]}`, []string{"cpu_4x 0.09 gpus=", "signal=availability bad_region"}},
		{"nothing says how many", `"x":{"instance_type":{"name":"x","price_cents_per_hour":9},"regions_with_capacity_available":[{"name":"r"}]}`, []string{"x bad_count", "x r=4"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := answer(t, `{"data":{`+good+","+tt.row+`}}`)
			if err != nil {
				t.Fatal(err)
			}
			want := append([]string{"gpu_1x_a10 1.29 gpus=1", "gpu_1x_a10 us-east-1=4"}, tt.want...)
			slices.Sort(want)
			if d := cmp.Diff(want, said(c)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestStockFails proves that prices survive the loss of the stock.
func TestStockFails(t *testing.T) {
	c, err := answer(t, `{"data":{"gpu_1x_a10":{"instance_type":{"name":"gpu_1x_a10","price_cents_per_hour":129}}}}`)
	if !errors.Is(err, gputide.ErrSchemaDrift) {
		t.Errorf("error %v", err)
	}
	if len(c.Live()) != 1 || len(c.Errors("api")) != 0 {
		t.Errorf("offers %v, errors %v", c.Live(), c.Errors("api"))
	}
	for _, s := range c.Scopes {
		if done := s.Status == gputide.ScopeDone; done == (s.Scope.Signal != "") {
			t.Errorf("scope %s is %s", s.Scope, s.Status)
		}
	}
}
