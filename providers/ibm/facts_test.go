package ibm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide/providers/providertest"
)

// TestTierFacts proves how tiers are read on the documented answer for a product
// that has them. It is no offer, so that the command cannot show it: the metric
// is given the unit of an instance.
func TestTierFacts(t *testing.T) {
	dir := os.Getenv("GPUTIDE_SHARED")
	if dir == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	body, err := os.ReadFile(filepath.Join(dir, "payloads", "ibm", "global_catalog_pricing.cos_bandwidth.us-south.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"on_demand us-south h<=150000 USD 0.07 h", "on_demand us-south h<=50000 USD 0.09 h", "on_demand us-south h<=999999999 USD 0.05 h"}
	if got := tiersOf(t, string(body)); cmp.Diff(want, got) != "" {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
	}
	for name, edit := range map[string][2]string{
		"one digit of a bound": {"150000", "150001"},
		"one digit of a price": {"0.07", "0.08"},
		"another model":        {"Graduated", "Block"},
		"bounds renamed":       {"quantity_tier", "upper"},
		"another country":      {`"USA"`, `"DEU"`},
	} {
		spoilt := strings.ReplaceAll(string(body), edit[0], edit[1])
		if spoilt == string(body) || cmp.Equal(want, tiersOf(t, spoilt)) {
			t.Errorf("%s: every fact still holds", name)
		}
	}
}

func tiersOf(t *testing.T, body string) []string {
	t.Helper()
	body = strings.NewReplacer("STANDARD_BANDWIDTH", "INSTANCE_HOURS_MULTI_TENANT", `"charge_unit": "GIGABYTE"`, `"charge_unit": "Instance-Hour"`).Replace(body)
	var d deployment
	if err := json.Unmarshal([]byte(body), &d); err != nil {
		t.Fatal(err)
	}
	c := new(providertest.Collector)
	table, err := loadCards()
	if err != nil {
		t.Fatal(err)
	}
	r := &run{b: newBatch(c), cards: table}
	r.addDeployment(&d, profile, nil)
	return offersOf(c)
}
