package volcengine

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
)

// readRows words what becomes of rows of a price table.
func readRows(t testing.TB, rows string) (said []string, err error) {
	t.Helper()
	known, err := loadFamilies()
	if err != nil {
		t.Fatal(err)
	}
	c := new(providertest.Collector)
	r := &reader{
		b: gputide.NewBatch("volcengine", providertest.Moment(), c), known: known,
		priced: make(map[gputide.Key]string), unpriced: make(map[gputide.Key][2]string),
	}
	body := `{"Result":{"TableList":[{"Rows":[` + rows + `]}]}}`
	if err := r.read(fetch.NewDecoder(sourceTable, strings.NewReader(body))); err != nil {
		return nil, err
	}
	r.add()
	for _, o := range c.Offers {
		words := []string{o.Key.InstanceType, o.Key.Region, string(o.Key.Market), string(o.Key.Term), o.Price.Amount, string(o.Price.Unit)}
		if o.Spec != nil {
			words = append(words, o.Spec.Device.Name, o.Spec.Device.Count.String())
		}
		said = append(said, strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	}
	for _, s := range c.Skips {
		said = append(said, "skip "+s.Reason)
	}
	for _, o := range c.Omits {
		said = append(said, "omit "+o.Reason)
	}
	return said, nil
}

func row(code, item, prices string) string {
	return `{"Product":"ECS","ConfigurationCode":"` + code + `","ChargeItemCode":"` + item + `","PriceInfoList":[` + prices + `]}`
}

func TestRows(t *testing.T) {
	const hour = `{"Period":"hourly","Times":1,"Price":"12.5"}`
	for _, tt := range []struct {
		name, rows string
		want       []string
		err        error
	}{
		{"a card", row("ecs.gni2.3xlarge", "ecs.gni2_3xlarge_cn-beijing", hour), []string{"ecs.gni2.3xlarge cn-beijing on_demand 12.5 h A10 1"}, nil},
		{"a family with cards of which nothing is known", row("ecs.pni2.14xlarge", "ecs.pni2_14xlarge_cn-beijing", hour), []string{"ecs.pni2.14xlarge cn-beijing on_demand 12.5 h pni2"}, nil},
		{"a size that is not in the table", row("ecs.gni2.7xlarge", "ecs.gni2_7xlarge_cn-beijing", hour), []string{"ecs.gni2.7xlarge cn-beijing on_demand 12.5 h A10"}, nil},
		{
			"whole years", row("ecs.g3i.large.month", "ecs.g3i_large_ap-southeast-1", `{"Period":"monthly","Times":24,"Price":"2"},{"Period":"monthly","Times":36,"Price":"3"}`),
			[]string{"ecs.g3i.large ap-southeast-1 subscription 2y 2 term", "ecs.g3i.large ap-southeast-1 subscription 3y 3 term"},
			nil,
		},
		{"half a year", row("ecs.a.b.month", "ecs.a_b_r", `{"Period":"monthly","Times":6,"Price":"2"}`), []string{"skip other_period"}, nil},
		{"a day", row("ecs.a.b", "ecs.a_b_r", `{"Period":"daily","Times":1,"Price":"2"}`), []string{"omit daily"}, nil},
		{"a price of 0", row("ecs.a.b", "ecs.a_b_r", `{"Period":"hourly","Times":1,"Price":"0"}`), []string{"skip no_price"}, nil},
		{"a number for a price", row("ecs.a.b", "ecs.a_b_r", `{"Period":"hourly","Times":1,"Price":2}`), []string{"skip no_price"}, nil},
		{"another period", row("ecs.a.b", "ecs.a_b_r", `{"Period":"weekly","Times":1,"Price":"2"}`), []string{"skip other_period", "skip other_period"}, nil},
		{
			"the same twice, and two prices", row("ecs.a.b", "ecs.a_b_r", hour) + "," + row("ecs.a.b", "ecs.a_b_r", hour) + "," +
				row("ecs.c.d", "ecs.c_d_r", hour) + "," + row("ecs.c.d", "ecs.c_d_r", `{"Period":"hourly","Times":1,"Price":"2"}`),
			[]string{"ecs.a.b r on_demand 12.5 h", "skip two_prices", "omit twin"},
			nil,
		},
		{"the item of another type", row("ecs.a.b", "ecs.a_c_r", hour), nil, gputide.ErrSchemaDrift},
		{"no region", row("ecs.a.b", "ecs.a_b", hour), nil, gputide.ErrSchemaDrift},
		{"another product", `{"Product":"EBS"},` + row("ecs.a.b", "ecs.a_b_r", hour), []string{"ecs.a.b r on_demand 12.5 h", "omit other_product"}, nil},
		{"nothing", "", nil, gputide.ErrEmpty},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readRows(t, tt.rows)
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// FuzzRows proves that no row makes a price that is none.
func FuzzRows(f *testing.F) {
	f.Add(row("ecs.a.b", "ecs.a_b_r", `{"Period":"hourly","Times":1,"Price":"1e-9"}`))
	f.Add(row("ecs.a.b.month", "ecs.a_b_r", `{"Period":"monthly","Times":-12,"Price":"1"}`))
	f.Fuzz(func(t *testing.T, rows string) {
		said, err := readRows(t, rows)
		if err == nil && len(said) == 0 {
			t.Error("a row left no trace")
		}
	})
}
