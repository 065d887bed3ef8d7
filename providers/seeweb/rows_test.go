package seeweb

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide/providers/providertest"
)

const card = `<div class="cardType"><span class="cardname">NVIDIA L40S</span><select name="card-number"><option value="1">1</option></select>
<p class="hourly"><span>0.85</span> €</p><p class="compare"><span>0.85</span> €</p>
<p class="hourly_3mnths">3: <span>0.81</span> €</p><p class="hourly_6mnths">6: <span>0.77</span> €</p><p class="hourly_12mnths">12: <span>0.72</span> €</p></div>`

// TestPromotion proves that a price asked is never taken for the list price.
func TestPromotion(t *testing.T) {
	list := []string{"on_demand list 0.85", "commitment 3mo list 0.81", "commitment 6mo list 0.77", "commitment 1y list 0.72"}
	for _, tt := range []struct {
		name, old, new string
		want           []string
	}{
		{"none", "", "", list},
		{"cheaper", `hourly"><span>0.85`, `hourly"><span>0.80`, append([]string{"on_demand promo 0.80"}, list...)},
		{"nothing to compare with", `compare`, `other`, list},
		{"not in euros", `<p class="compare"><span>0.85</span> €`, `<p class="compare"><span>0.85</span> $`, append([]string{"on_demand promo 0.85", "skipped no_price"}, list[1:]...)},
		{"not reserved", `hourly_6mnths`, `other`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := `<html><body><section id="js-gpu">` + strings.Replace(card, tt.old, tt.new, 1) + `</section></body></html>`
			c, err := providertest.Collect(t.Context(), New(providertest.Replay(t, "seeweb", providertest.Exchange{
				Source: source, URL: pageURL, Body: body, Header: map[string]string{"Content-Type": "text/html; charset=utf-8"},
			})))
			if (err != nil) != (tt.want == nil) {
				t.Fatal(err)
			}
			var got []string
			for _, o := range c.Live() {
				got = append(got, strings.Join(strings.Fields(fmt.Sprint(o.Key.Market, " ", o.Key.Term, " ", o.Key.Stat, " ", o.Price.Amount)), " "))
			}
			for _, s := range c.Skips {
				got = append(got, "skipped "+s.Reason)
			}
			want := slices.Clone(tt.want)
			slices.Sort(got)
			slices.Sort(want)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
