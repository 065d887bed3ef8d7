package tencent_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
	"github.com/gputide/gputide/providers/tencent"
)

const (
	secretKey     = "dummySecretKeyOfTheChinaSite0000"
	intlSecretKey = "dummySecretKeyOfTheOtherSite00000"
)

func newProvider(f *fetch.Fetcher) gputide.Provider {
	return tencent.New(f, tencent.Config{
		SecretID: "AKIDdummy", SecretKey: secretKey, IntlSecretID: "IKIDdummy", IntlSecretKey: intlSecretKey,
		Now: func() time.Time { return time.Date(2026, 9, 20, 0, 0, 0, 0, time.UTC) },
	})
}

func TestConformance(t *testing.T) {
	field := func(source, path string) providertest.Field { return providertest.Field{Source: source, Path: path} }
	row := func(name string) providertest.Field { return field("cvm", "Response.InstanceTypeQuotaSet[]."+name) }
	providertest.Run(t, newProvider, providertest.Opt{
		Secrets: []string{secretKey, intlSecretKey},
		Lists: []providertest.Field{
			field("cvm", "Response.RegionSet"),
			field("cvm", "Response.InstanceTypeQuotaSet"),
			field("gateway", "data.Response.InstanceTypeQuotaSet"),
			field("instance-types", "Response.InstanceTypeConfigSet"),
			field("ti-one", "Response.Specs"),
			field("hai", "Response.ApplicationSet"),
		},
		Required: []providertest.Field{
			field("cvm", "Response"),
			field("cvm", "Response.RegionSet[].Region"),
			row("Zone"), row("InstanceType"), row("InstanceChargeType"), row("Status"), row("Price"), row("Price.UnitPrice"),
			field("gateway", "data"),
			field("gateway", "data.Response.InstanceTypeQuotaSet[].Price"),
			field("instance-types", "Response.InstanceTypeConfigSet[].InstanceType"),
			field("reserved", "Response.ReservedInstanceConfigInfos"),
			field("ti-one", "Response.Specs[].SpecName"),
			field("ti-one", "Response.SpecsPrice"),
			field("hai", "Response.Price.InstancePrice.ChargeUnit"),
		},
		Deviations: []providertest.Deviation{
			{Name: "digit", Reason: "TI-ONE publishes hundredths of a yuan; TestYuan, the run without a key and the facts change digits"},
		},
		Swaps: [][2]providertest.Field{
			{row("Price.UnitPrice"), row("Price.UnitPriceDiscount")},
			{row("Price.UnitPriceSecondStep"), row("Price.UnitPriceThirdStep")},
			{row("Price.OriginalPriceOneYear"), row("Price.DiscountPriceOneYear")},
			{row("Price.OriginalPriceThreeYear"), row("Price.OriginalPriceFiveYear")},
			{row("Cpu"), row("Memory")},
			{row("Zone"), row("InstanceType")},
			{field("instance-types", "Response.InstanceTypeConfigSet[].CPU"), field("instance-types", "Response.InstanceTypeConfigSet[].Memory")},
		},
	})
}

// TestConformanceWithoutKey runs the suite as most users crawl: there is the
// gateway and nothing else.
func TestConformanceWithoutKey(t *testing.T) {
	dir := gatewayOnly(t)
	golden := filepath.Join(dir, "want.golden.json")
	const kept = "testdata/gateway.golden.json"
	body, err := os.ReadFile(kept)
	if err == nil {
		err = os.WriteFile(golden, body, 0o644)
	}
	if err != nil && !(providertest.Updating() && errors.Is(err, fs.ErrNotExist)) {
		t.Fatal(err)
	}
	field := func(path string) providertest.Field {
		return providertest.Field{Source: "gateway", Path: "data.Response." + path}
	}
	providertest.Run(t, func(f *fetch.Fetcher) gputide.Provider { return tencent.New(f, tencent.Config{}) }, providertest.Opt{
		Fixtures: dir,
		Secrets:  []string{"no-key-is-set"},
		Lists:    []providertest.Field{field("RegionSet"), field("InstanceTypeQuotaSet")},
		Required: []providertest.Field{
			field("RegionSet[].region"), field("RegionSet[].zones"), field("InstanceTypeQuotaSet[].InstanceType"),
			field("InstanceTypeQuotaSet[].InstanceChargeType"), field("InstanceTypeQuotaSet[].Price.UnitPrice"),
		},
		Deviations: []providertest.Deviation{{Name: "complete", Reason: "reserved instances need a key"}},
	})
	if providertest.Updating() {
		body, err := os.ReadFile(golden)
		if err == nil {
			err = os.WriteFile(kept, body, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// gatewayOnly returns a copy of the fixture with the exchanges of the gateway.
func gatewayOnly(t *testing.T) string {
	t.Helper()
	const fixtures = "../../fixtures/tencent"
	dir := filepath.Join(t.TempDir(), "tencent")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(fixtures, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	var kept []any
	for _, e := range m["exchanges"].([]any) {
		x := e.(map[string]any)
		if x["source"] != "gateway" {
			continue
		}
		kept = append(kept, x)
		body, err := os.ReadFile(filepath.Join(fixtures, x["file"].(string)))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, x["file"].(string)), body, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	m["exchanges"] = kept
	text, err = json.Marshal(m)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
