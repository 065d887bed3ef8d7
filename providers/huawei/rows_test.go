package huawei

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
)

// readRows reads the rows of an answer of the calculator and words what came of
// them.
func readRows(t testing.TB, rows string) (said []string, err error) {
	t.Helper()
	s := china()
	l := newList(&s, "cn-north-4")
	body := `{"region":"cn-north-4","product":{"ec2_vm":[` + rows + `]}}`
	if err := l.read(fetch.NewDecoder(sourceCalculator, strings.NewReader(body))); err != nil {
		return nil, err
	}
	c := new(providertest.Collector)
	l.add(gputide.NewBatch("huawei", providertest.Moment(), c))
	for _, o := range c.Offers {
		words := []string{string(o.Key.Market), o.Key.OS, string(o.Key.Term), string(o.Key.Payment), o.Price.Upfront, o.Price.Amount, string(o.Price.Unit)}
		said = append(said, strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	}
	for _, sk := range c.Skips {
		said = append(said, "skip "+sk.Reason)
	}
	for _, o := range c.Omits {
		said = append(said, "omit "+o.Reason)
	}
	return said, nil
}

func row(more string) string {
	return `{"spec":"a.1","imageSpec":"linux","cpu":"8 vCPU","mem":"32 GB",` + more + `}`
}

func TestRows(t *testing.T) {
	for _, tt := range []struct {
		name, rows string
		want       []string
		err        error
	}{
		{
			"every mode",
			row(`"planList":[{"billingMode":"ONDEMAND","amount":4.25,"periodNum":null},{"billingMode":"MONTHLY","amount":2040},{"billingMode":"YEARLY","periodNum":1,"amount":20400}]`),
			[]string{"on_demand linux 4.25 h", "subscription linux 1mo 2040 term", "subscription linux 1y 20400 term"},
			nil,
		},
		{
			"the lower of two rows, in either order",
			row(`"planList":[{"billingMode":"ONDEMAND","amount":5}]`) + "," + row(`"planList":[{"billingMode":"ONDEMAND","amount":4.9}]`) + "," +
				row(`"bakPlanList":[{"billingMode":"ONDEMAND","amount":5.1}]`),
			[]string{"on_demand linux 4.9 h", "omit twin"},
			nil,
		},
		{
			"a price of 0 in one row is no price, and hides none",
			row(`"planList":[{"billingMode":"ONDEMAND","amount":0}]`) + "," + row(`"planList":[{"billingMode":"ONDEMAND","amount":4.9}]`),
			[]string{"on_demand linux 4.9 h"},
			nil,
		},
		{"no price", row(`"planList":[{"billingMode":"ONDEMAND","amount":-1}]`), []string{"skip no_price"}, nil},
		{"text for a price", row(`"planList":[{"billingMode":"ONDEMAND","amount":"4"}]`), []string{"skip no_price"}, nil},
		{
			"partial and all upfront", row(`"planList":[` +
				`{"billingMode":"RI","planId":7,"originType":"price","amount":876},{"billingMode":"RI","planId":7,"originType":"perPrice","amount":73,"periodNum":1},` +
				`{"billingMode":"RI","planId":8,"originType":"price","amount":900,"periodNum":1},{"billingMode":"RI","planId":8,"originType":"perPrice","amount":0}]`),
			[]string{"commitment linux 1y all 900 0 mo", "commitment linux 1y partial 876 73 mo"},
			nil,
		},
		{
			"a reserved instance whose hours contradict its months", row(`"planList":[{"billingMode":"RI","periodNum":1,"originType":"price","amount":0},` +
				`{"billingMode":"RI","periodNum":1,"originType":"perPrice","amount":73},{"billingMode":"RI","periodNum":1,"originType":"perEffectivePrice","amount":0.2}]`),
			[]string{"skip effective_price", "omit derived_price"},
			nil,
		},
		{"an amount that does not say what it is for", row(`"planList":[{"billingMode":"RI","periodNum":1,"amount":18000}]`), []string{"skip reserved_amounts"}, nil},
		{"no period", row(`"planList":[{"billingMode":"RI","originType":"perPrice","amount":18}]`), []string{"skip no_period"}, nil},
		{
			"no upfront, and yet one", row(`"planList":[{"billingMode":"RI","periodNum":1,"originType":"price","amount":9,"paymentTypeKey":"NO_UPFRONT"},` +
				`{"billingMode":"RI","periodNum":1,"originType":"perPrice","amount":73}]`),
			[]string{"skip payment"},
			nil,
		},
		{"another mode", row(`"planList":[{"billingMode":"SPOT","amount":1}]`), nil, gputide.ErrSchemaDrift},
		{"a disk", `{"resourceSpecCode":"SAS","planList":[{"billingMode":"ONDEMAND","amount":1}]}`, nil, gputide.ErrSchemaDrift},
		{"another image", strings.Replace(row(`"planList":[]`), "linux", "bsd", 1), nil, gputide.ErrSchemaDrift},
		{"code and flavor differ", row(`"resourceSpecCode":"b.1.linux","planList":[]`), nil, gputide.ErrSchemaDrift},
		{"another form of vCPUs", strings.Replace(row(`"planList":[]`), "8 vCPU", "8BSSUNIT.pluralUnit.99", 1), nil, gputide.ErrSchemaDrift},
		{"no plans", row(`"generation":"1"`), nil, gputide.ErrSchemaDrift},
		{"a list of another form", `"x"`, nil, gputide.ErrSchemaDrift},
		{"empty", "", nil, gputide.ErrEmpty},
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

func TestCards(t *testing.T) {
	for said, want := range map[string]string{
		"2 * NVIDIA T4 / 2 * 16G":       "2 NVIDIA T4 16 NVIDIA",
		"2 * NVIDIAT4 / 2 * 16G":        "2 NVIDIAT4 16 NVIDIA",
		"8 * Ascend 310 / 8 * 8G":       "8 Ascend 310 8 Huawei",
		"1*昇腾910/1*32GB":                "1 昇腾910 32 Huawei",
		"":                              "none",
		"0":                             "none",
		"2 * NVIDIA T4 / 1 * 16G":       "drift",
		"NVIDIA T4":                     "drift",
		"0 * NVIDIA T4 / 0 * 16G":       "drift",
		"99 * NVIDIA T4 / 99 * 16G":     "drift",
		"2 * NVIDIA T4 / 2 * 16G extra": "drift",
	} {
		d, ok := cards(said)
		got := "drift"
		switch {
		case ok && !d.Known():
			got = "none"
		case ok:
			mb, _ := json.Marshal(d.MemoryGB)
			got = strings.Join([]string{d.Count.String(), d.Name, string(mb), d.Vendor}, " ")
		}
		if got != want {
			t.Errorf("%q is %s, want %s", said, got, want)
		}
	}
}

func TestFlavorDevice(t *testing.T) {
	for said, want := range map[string]gputide.Device{
		"nvidia-t4:1":           {Name: "nvidia-t4", Vendor: "NVIDIA", Count: gputide.NewCount(1, 1), Share: gputide.ShareWhole},
		"m60:direct_graphics:2": {Name: "m60", Count: gputide.NewCount(2, 1), Share: gputide.ShareWhole},
		"m60_1q:virt:1":         {Name: "m60_1q", Share: gputide.ShareVGPU},
		"ascend-310:x":          {Name: "ascend-310", Vendor: "Huawei", Share: gputide.ShareWhole},
		"":                      {},
		"nvidia-t4":             {},
	} {
		f := flavor{Extra: map[string]string{"pci_passthrough:gpu_specs": said}}
		if d := cmp.Diff(want, f.device()); d != "" {
			t.Errorf("%q (-want +got):\n%s", said, d)
		}
	}
	f := flavor{Extra: map[string]string{"pci_passthrough:alias": "nvidia-a30:1,other:1"}}
	if got := f.device(); got.Name != "nvidia-a30" || got.Count.Num != 1 {
		t.Errorf("the first of an alias list is %+v", got)
	}
}

// TestSignature proves the parts of a signature on themselves: it changes with
// each of them, and the path is signed with its slash.
func TestSignature(t *testing.T) {
	sign := func(key, method, address, at, body string) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return signature(key, method, u, at, []byte(body))
	}
	const a, at = "https://h/v1/x", "20260101T000000Z"
	all := []string{
		sign("k", "GET", a, at, ""), sign("l", "GET", a, at, ""), sign("k", "POST", a, at, ""), sign("k", "GET", a+"y", at, ""),
		sign("k", "GET", a+"?q=1", at, ""), sign("k", "GET", a, "20260101T000001Z", ""), sign("k", "GET", a, at, "b"),
		sign("k", "GET", "https://g/v1/x", at, ""),
	}
	if slices.Sort(all); len(slices.Compact(all)) != 8 {
		t.Error("a part of the request is not signed")
	}
	if sign("k", "GET", a, at, "") != sign("k", "GET", a+"/", at, "") {
		t.Error("the path is signed without a slash")
	}
}

// TestWithoutKey proves that nothing keyed is asked without a whole key, and that
// the reader is told what to set.
func TestWithoutKey(t *testing.T) {
	p := New(fetch.New(fetch.Options{}), Config{AccessKey: "a", SecretKey: "secret"})
	_, err := p.header("GET", onDemandURL, nil)
	if !errors.Is(err, gputide.ErrNeedsKey) || !strings.Contains(err.Error(), envProject) {
		t.Errorf("error %v", err)
	}
}

// FuzzRows proves that no row makes a price that is none.
func FuzzRows(f *testing.F) {
	f.Add(row(`"planList":[{"billingMode":"RI","periodNum":1,"originType":"price","amount":1e-9}]`))
	f.Add(`{"spec":"x","imageSpec":"win","acceleratorCard":"1 * A / 1 * 1G","bakPlanList":[{"billingMode":"YEARLY","amount":2}]}`)
	f.Fuzz(func(t *testing.T, rows string) {
		s := china()
		l := newList(&s, "r")
		if err := l.read(fetch.NewDecoder(sourceCalculator, strings.NewReader(`{"region":"r","product":{"ec2_vm":[`+rows+`]}}`))); err != nil {
			return
		}
		for key, p := range l.priced {
			if p.total.Sign() <= 0 || key.InstanceType == "" || !key.Market.Valid() {
				t.Errorf("%q costs %v", key.Canonical(), p)
			}
		}
	})
}

// TestDiskFragment proves on the recorded fragment of a disk that its amount is
// read exactly, and that a disk is never taken for a machine.
func TestDiskFragment(t *testing.T) {
	dir := os.Getenv("GPUTIDE_SHARED")
	if dir == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	body, err := os.ReadFile(filepath.Join(dir, "payloads", "huawei", "calculator_evs_disk_fragment.json"))
	if err != nil {
		t.Fatal(err)
	}
	var disk vm
	if err := json.Unmarshal(body, &disk); err != nil {
		t.Fatal(err)
	}
	if p := disk.PlanList[0]; string(p.Amount) != "0.000112" || p.Mode != "ONDEMAND" || *p.Measure == measureHour {
		t.Errorf("plan %+v", p)
	}
	if _, err := readRows(t, string(body)); !errors.Is(err, gputide.ErrSchemaDrift) {
		t.Errorf("a disk among the machines: %v", err)
	}
}
