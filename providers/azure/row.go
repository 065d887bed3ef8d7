package azure

import (
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

const (
	typeConsumption = "Consumption"
	typeReservation = "Reservation"
	typeDevTest     = "DevTestConsumption"

	hourly = "1 Hour"

	planReservation = "reservation"
	planSavings     = "sp_compute"

	// maxYears bounds a term: 10 years is the longest seen.
	maxYears = 10
)

// omitted returns why a row is by rule no offer of ours, empty when it is one or
// cannot be told. Low priority machines are sold through Batch only.
func (it *item) omitted() string {
	has := func(text *string, words ...string) bool {
		for _, w := range words {
			if text != nil && strings.Contains(*text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case it.Service != nil && *it.Service != "Virtual Machines":
		return "other_service"
	case it.Size != nil && strings.TrimSpace(*it.Size) == "":
		return "no_size"
	case it.Type != nil && *it.Type == typeDevTest:
		return "dev_test"
	case has(it.Product, "Dedicated Host", "DedicatedHost"):
		return "dedicated_host"
	case has(it.Product, "Cloud Services", "CloudServices"):
		return "cloud_services"
	case has(it.Meter, "Low Priority"), strings.Contains(it.SKU, "Low Priority"):
		return "low_priority"
	case has(it.Meter, "Expired"):
		return "expired"
	case it.Type != nil && *it.Type == typeConsumption && it.Unit != nil && *it.Unit != hourly:
		return "other_unit"
	}
	return ""
}

// key returns which offer a row speaks of, or why that is not known.
func (it *item) key() (k offerKey, problem string) {
	switch {
	case it.Size == nil || it.Type == nil || it.Meter == nil || it.Product == nil || it.Unit == nil || it.Region == nil:
		return k, "bad_row"
	case it.Tier != nil && strings.Trim(string(it.Tier), "0.") != "": // a price from so many units on: none was seen
		return k, "tiered"
	}
	k.size = strings.TrimSpace(*it.Size)
	k.os = osOf(*it.Product)
	switch *it.Type {
	case typeConsumption:
		k.market = gputide.OnDemand
		if strings.Contains(*it.Meter, "Spot") || strings.Contains(it.SKU, "Spot") {
			k.market = gputide.Spot
		}
		return k, ""
	case typeReservation:
		k.market, k.plan = gputide.Commitment, planReservation
		var ok bool
		if it.Term != nil {
			k.term, ok = termOf(*it.Term)
		}
		if !ok {
			return k, "unknown_term"
		}
		return k, ""
	}
	return k, "unknown_type"
}

// osOf returns the operating system of a product. Names of Linux products mostly
// say nothing of it, and meters are named alike. A reservation covers no Windows
// license: its product is the Linux one.
func osOf(product string) string {
	if strings.Contains(product, "Windows") {
		return "windows"
	}
	return "linux"
}

// termOf reads "1 Year" or "3 Years".
func termOf(s string) (gputide.Term, bool) {
	number, unit, _ := strings.Cut(s, " ")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > maxYears || number != strconv.Itoa(n) || (unit != "Year" && unit != "Years") {
		return "", false
	}
	return gputide.NewTerm(n, "y"), true
}
