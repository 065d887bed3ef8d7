package ucloud

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
)

// TestSignature proves the signature on the example of
// https://docs.ucloud.cn/api/summary/signature.
func TestSignature(t *testing.T) {
	params := map[string]string{
		"Action": "CreateUHostInstance", "CPU": "2", "ChargeType": "Month", "DiskSpace": "10",
		"ImageId": "f43736e1-65a5-4bea-ad2e-8a46e18883c2", "LoginMode": "Password", "Memory": "2048", "Name": "Host01",
		"Password": "VUNsb3VkLmNu", "PublicKey": "ucloudsomeone@example.com1296235120854146120", "Quantity": "1",
		"Region": "cn-bj2", "Zone": "cn-bj2-04",
	}
	const want = "4f9ef5df2abab2c6fccd1e9515cb7e2df8c6bb65"
	if got := signature(params, "46f09bb9fab4f12dfc160dae12273d5332b5debe"); got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
}

// TestWithoutKey proves that nothing is asked without keys, that this is no
// failure, and that the reader is told what to set.
func TestWithoutKey(t *testing.T) {
	c, err := providertest.Collect(t.Context(), New(fetch.New(fetch.Options{}), Config{PublicKey: "p"}))
	if err != nil {
		t.Fatal(err)
	}
	no := errors.Join(c.Errors(sourcePrices)...)
	if !errors.Is(no, gputide.ErrNeedsKey) || !strings.Contains(no.Error(), envPrivate) || len(c.Scopes) != 0 {
		t.Errorf("error %v, %d scopes", no, len(c.Scopes))
	}
}

// sizesOf words what becomes of one row.
func sizesOf(t testing.TB, row string) []string {
	t.Helper()
	var m machineType
	if err := json.Unmarshal([]byte(row), &m); err != nil {
		t.Fatal(err)
	}
	c := new(providertest.Collector)
	r := &run{b: gputide.NewBatch("ucloud", providertest.Moment(), c)}
	var said []string
	for _, s := range r.sizes("r", &m) {
		d := s.spec().Device
		said = append(said, strings.Join([]string{s.instanceType(), d.Name, d.Count.String(), string(d.Share)}, " "))
	}
	for _, sg := range c.Signals {
		said = append(said, "stock "+gputide.SignalLabel(sg.Name, sg.Value))
	}
	for _, sk := range c.Skips {
		said = append(said, sk.Scope.String()+" "+sk.Reason)
	}
	for _, o := range c.Omits {
		said = append(said, "omit "+o.Reason)
	}
	return said
}

func TestSizes(t *testing.T) {
	const disk = `"Disks":[{"BootDisk":[{"Name":"CLOUD_SSD"}]}],`
	unread := func(reason string) []string {
		return []string{"region=r market=on_demand " + reason, "region=r signal=availability " + reason}
	}
	for _, tt := range []struct {
		name, row string
		want      []string
	}{
		{
			"whole cards", disk + `"Name":"V100S","Status":"Beta","MachineSizes":[{"Gpu":2,"Collection":[{"Cpu":8,"Memory":[16,32]}]}]`,
			[]string{"G.V100Sx2.c8m16 V100S 2 whole", "G.V100Sx2.c8m32 V100S 2 whole", "stock available", "stock available"},
		},
		{
			"a quarter of a card, sold out", disk + `"Name":"T4/4","Status":"Soldout","MachineSizes":[{"Gpu":1,"Collection":[{"Cpu":4,"Memory":[8]}]}]`,
			[]string{"G.T4/4x1.c4m8 T4 1/4 vgpu", "stock none"},
		},
		{
			"one size for two processors", disk + `"Name":"T4","Status":"Normal","MachineSizes":[{"Gpu":1,"Collection":[{"Cpu":4,"Memory":[8]},{"Cpu":4,"Memory":[8]}]}]`,
			[]string{"G.T4x1.c4m8 T4 1 whole", "stock available", "omit twin"},
		},
		{"hidden", disk + `"Name":"T4","Status":"Hidden","MachineSizes":[{"Gpu":1}]`, []string{"omit hidden"}},
		{"no cards", disk + `"Name":"O","Status":"Normal","MachineSizes":[{"Gpu":0}]`, []string{"omit no_accelerator"}},
		{"preemptible", disk + `"Name":"T4","Status":"Normal","InstanceType":"spot","MachineSizes":[{"Gpu":1}]`, []string{"omit other_product"}},
		{"another status", disk + `"Name":"T4","Status":"New","MachineSizes":[{"Gpu":1}]`, unread("other_status")},
		{"the family without its card", disk + `"Name":"G","Status":"Normal","MachineSizes":[{"Gpu":1}]`, unread("bad_size")},
		{"no disk", `"Name":"T4","Status":"Normal","MachineSizes":[{"Gpu":1}]`, unread("bad_size")},
		{"cards beyond reason", disk + `"Name":"T4","Status":"Normal","MachineSizes":[{"Gpu":65}]`, unread("bad_size")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, sizesOf(t, "{"+tt.row+"}")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestShape proves that a documented answer of this form is decoded; its values
// are filler.
func TestShape(t *testing.T) {
	dir := os.Getenv("GPUTIDE_SHARED")
	if dir == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	body, err := os.ReadFile(filepath.Join(dir, "payloads", "ucloud", "SHAPE_ONLY_describe_available_comp_share_instance_types_doc.json"))
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ AvailableInstanceTypes []json.RawMessage }
	if err := json.Unmarshal(body, &answer); err != nil || len(answer.AvailableInstanceTypes) != 1 {
		t.Fatal(err, len(answer.AvailableInstanceTypes))
	}
	row := strings.NewReplacer("syzEnKDG", "Normal", "OwhTtQoO", "uhost").Replace(string(answer.AvailableInstanceTypes[0]))
	if d := cmp.Diff([]string{"G.cn-zjx5.c2m4 cn-zj 5 whole", "stock available"}, sizesOf(t, row)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// FuzzSizes proves that no row makes a size that no host has.
func FuzzSizes(f *testing.F) {
	f.Add([]byte(`{"Name":"T4/4","Status":"Normal","Disks":[{"BootDisk":[{"Name":"x"}]}],"MachineSizes":[{"Gpu":1,"Collection":[{"Cpu":4,"Memory":[8,-1]}]}]}`))
	f.Fuzz(func(t *testing.T, row []byte) {
		var m machineType
		if json.Unmarshal(row, &m) != nil {
			return
		}
		r := &run{b: gputide.NewBatch("ucloud", providertest.Moment(), new(providertest.Collector))}
		for _, s := range r.sizes("r", &m) {
			if d := s.spec().Device; s.cpu < 1 || s.memoryGB < 1 || s.cards < 1 || d.Name == "" {
				t.Errorf("%+v", s)
			}
		}
	})
}
