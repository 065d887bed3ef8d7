package runpod_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/providertest"
	"github.com/gputide/gputide/providers/runpod"
)

const payload = "graphql_gputypes_datacenters_2026-08.json"

// sharedPayload returns the recorded answer; the test is skipped without it.
func sharedPayload(t *testing.T) []byte {
	t.Helper()
	shared := os.Getenv("GPUTIDE_SHARED")
	if shared == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	body, err := os.ReadFile(filepath.Join(shared, "payloads", "runpod", payload))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// answer crawls a source that answers with body.
func answer(t testing.TB, status int, body string) (*providertest.Collector, error) {
	t.Helper()
	return providertest.Collect(t.Context(), runpod.New(providertest.Replay(t, "runpod", providertest.Exchange{
		Source: "gpu-types", Method: "POST", URL: "https://api.runpod.io/graphql", Status: status, Body: body,
		Header: map[string]string{"Content-Type": "application/json"},
	})))
}

// facts is what is known of the recording, in the words of the source.
type facts struct {
	OnePod    map[string]string // market tier display name → USD, of pods with one card
	Offers    map[string]int    // market → offers of every count
	Memory    map[string]float64
	Available map[string]string // card → data centres that have it, with the level
	Listed    int               // data centres that say anything
}

// known holds the facts as recorded in August 2026.
func known() facts {
	f := facts{
		OnePod: map[string]string{},
		Offers: map[string]int{"on_demand": 114, "spot": 114},
		Memory: map[string]float64{},
		Listed: 5,
		Available: map[string]string{
			"NVIDIA H100 80GB HBM3":   "AP-IN-1=low",
			"NVIDIA B300 SXM6 AC":     "EU-NL-1=low EUR-IS-1=low US-WA-2=low",
			"NVIDIA GeForce RTX 4090": "EU-RO-1=low EUR-IS-1=low",
			"NVIDIA B200":             "EU-RO-1=low",
		},
	}
	for _, market := range []string{"on_demand", "spot"} {
		for offer, usd := range map[string]string{
			"secure MI300X": "2.39", "secure B200": "6.79", "secure B300": "7.89", "secure RTX 4090": "0.74",
			"secure H100 SXM": "3.29", "secure H200 SXM": "4.59", "secure L40S": "0.99",
			"community A100 SXM 40GB": "1", "community B200": "5.98", "community B300": "6.94",
			"community RTX 3070": "0.13", "community RTX 4090": "0.34", "community H100 SXM": "2.69",
			"community H200 SXM": "3.59", "community L40S": "0.79",
		} {
			f.OnePod[market+" "+offer] = usd
		}
	}
	for card, gb := range map[string]float64{
		"MI300X": 192, "A100 SXM 40GB": 40, "B200": 180, "B300": 288, "RTX 3070": 8,
		"RTX 4090": 24, "H100 SXM": 80, "H200 SXM": 141, "L40S": 48,
	} {
		f.Memory[card] = gb
	}
	return f
}

// read returns the same facts as the adapter read them.
func read(c *providertest.Collector) facts {
	f := facts{
		OnePod: map[string]string{}, Offers: map[string]int{}, Memory: map[string]float64{}, Available: map[string]string{},
	}
	for _, o := range c.Live() {
		f.Offers[string(o.Key.Market)]++
		name := strings.Join(o.Spec.Device.Other, " ")
		if o.Spec.Device.MemoryGB != nil {
			f.Memory[name] = *o.Spec.Device.MemoryGB
		}
		if o.Key.InstanceType == o.Spec.Device.Name+"×1" && o.Key.Currency == "USD" && o.Price.Unit == gputide.PerHour {
			f.OnePod[fmt.Sprintf("%s %s %s", o.Key.Market, o.Key.Tier, name)] = o.Price.Amount
		}
	}
	var centres []string
	for _, s := range c.Signals {
		if s.Key.Region == "" {
			continue
		}
		centres = append(centres, s.Key.Region)
		if s.Value > gputide.AvailabilityNone {
			card := strings.TrimSuffix(s.Key.InstanceType, "×1")
			at := s.Key.Region + "=" + gputide.SignalLabel(s.Name, s.Value)
			f.Available[card] = strings.TrimSpace(f.Available[card] + " " + at)
		}
	}
	slices.Sort(centres)
	f.Listed = len(slices.Compact(centres))
	return f
}

// TestFacts proves what is known of the recorded answer, though its collector
// asked with other aliases.
func TestFacts(t *testing.T) {
	c, err := answer(t, 200, string(sharedPayload(t)))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(known(), read(c)); d != "" {
		t.Errorf("facts (-known +read):\n%s", d)
	}
}

// TestFactsNotice proves that the facts fail when the answer is spoilt.
func TestFactsNotice(t *testing.T) {
	body := string(sharedPayload(t))
	swap := func(a, b string) string {
		return strings.NewReplacer(`"`+a+`"`, `"`+b+`"`, `"`+b+`"`, `"`+a+`"`).Replace(body)
	}
	for name, spoilt := range map[string]string{
		"digit of a price":      strings.Replace(body, "3.29", "3.28", 1),
		"digit of a spot price": strings.Replace(body, `"secureSpotPrice": 7.89`, `"secureSpotPrice": 7.88`, 1),
		"digit of a memory":     strings.Replace(body, `"memoryInGb": 141`, `"memoryInGb": 142`, 1),
		"digit of a count":      strings.Replace(body, `"maxGpuCount": 2`, `"maxGpuCount": 3`, 1),
		"flag of a cloud":       strings.Replace(body, `"communityCloud": false`, `"communityCloud": true`, 1),
		"flag of a data centre": strings.Replace(body, `"listed": true`, `"listed": false`, 1),
		"stock of a card":       strings.Replace(body, "\"available\": true,\n      \"stockStatus\": \"Low\"", "\"available\": true,\n      \"stockStatus\": \"High\"", 1),
		"prices swapped":        swap("securePrice", "communityPrice"),
		"spot prices swapped":   swap("secureSpotPrice", "communitySpotPrice"),
		"clouds swapped":        swap("secureCloud", "communityCloud"),
		"numbers swapped":       swap("memoryInGb", "maxGpuCount"),
		"names swapped":         swap("id", "displayName"),
		"price removed":         strings.Replace(body, `"securePrice"`, `"x"`, 1),
		"memory removed":        strings.Replace(body, `"memoryInGb"`, `"x"`, 1),
		"id removed":            strings.Replace(body, `"id"`, `"x"`, 1),
		"count removed":         strings.Replace(body, `"maxGpuCount"`, `"x"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			if spoilt == body {
				t.Fatal("the answer has nothing to spoil")
			}
			c, err := answer(t, 200, spoilt)
			if err == nil && cmp.Equal(known(), read(c)) {
				t.Error("nothing is noticed")
			}
		})
	}
}
