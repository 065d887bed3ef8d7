package ibm

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// cardsCSV names the cards that profiles abbreviate, with the source of each.
//
//go:embed cards.csv
var cardsCSV string

// maxCards bounds the cards of one profile: a larger number is a misread name.
const maxCards = 64

// cards has the devices by the word of a profile's name. It is read-only.
type cards map[string]gputide.Device

func loadCards() (cards, error) {
	c := csv.NewReader(strings.NewReader(cardsCSV))
	c.Comment = '#'
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("cards.csv: %w", err)
	}
	out := make(cards, len(rows))
	for _, row := range rows[1:] {
		gb, err := strconv.ParseFloat(row[3], 64)
		if err != nil {
			return nil, fmt.Errorf("cards.csv: %s: %w", row[0], err)
		}
		out[row[0]] = gputide.Device{Name: row[1], Vendor: row[2], MemoryGB: &gb}
	}
	return out, nil
}

// profileName is the grammar of the name of an accelerated profile: family,
// vCPUs, GiB, cards and card, as in gx3d-160x1792x8h100. Profiles without cards
// end after the memory.
var profileName = regexp.MustCompile(`^[a-z]+[0-9]+[a-z]*-([0-9]{1,4})x([0-9]{1,5})x([0-9]{1,3})([a-z]+[a-z0-9]*)$`)

// accelerated reports whether a name is that of a profile with cards.
func accelerated(profile string) bool { return profileName.MatchString(profile) }

// spec returns what the name of a profile says; nil for one without cards.
func (c cards) spec(profile string) *gputide.Spec {
	m := profileName.FindStringSubmatch(profile)
	if m == nil {
		return nil
	}
	var n [3]float64
	for i := range n {
		n[i], _ = strconv.ParseFloat(m[1+i], 64) // the grammar allows digits only
	}
	device, ok := c[m[4]]
	if !ok {
		device = gputide.Device{Name: m[4]}
	}
	if n[2] <= maxCards {
		device.Count = gputide.NewCount(uint32(n[2]), 1)
	}
	device.Share = gputide.ShareWhole
	return &gputide.Spec{Source: sourceNames, InstanceType: profile, Device: device, VCPU: &n[0], MemoryGiB: &n[1]}
}
