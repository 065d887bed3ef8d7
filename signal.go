package gputide

// The names of signals.
const (
	SignalAvailability   = "availability"
	SignalListings       = "listings"        // how many ephemeral listings stand behind a statistic
	SignalInterruption   = "interruption"    // spot interruption band 0–4
	SignalSavings        = "savings"         // percent below on-demand as the source states it
	SignalPlacementScore = "placement_score" // 1–10
	SignalEvictionRate   = "eviction_rate"   // percent, lower bound of the band
)

// SignalNames lists the names of signals.
func SignalNames() []string {
	return []string{SignalAvailability, SignalListings, SignalInterruption, SignalSavings, SignalPlacementScore, SignalEvictionRate}
}

// Availability levels, the values of [SignalAvailability]. A source that only
// says yes reports AvailabilityYes.
const (
	AvailabilityNone   int64 = 0
	AvailabilityLow    int64 = 1
	AvailabilityMedium int64 = 2
	AvailabilityHigh   int64 = 3
	AvailabilityYes    int64 = 4
)

// Signal is a fact about offers at a moment that is not a price. Key has the
// fields the source states; fields it does not state are empty.
type Signal struct {
	Source string
	Key    Key // Provider is filled by Batch
	Part   string
	Name   string
	Value  int64
}

var (
	availabilityLabels = []string{"none", "low", "medium", "high", "available"}
	interruptionLabels = []string{"<5%", "5-10%", "10-15%", "15-20%", ">20%"}
	evictionLabels     = map[int64]string{0: "0-5%", 5: "5-10%", 10: "10-15%", 15: "15-20%", 20: "20+%"}
)

// SignalLabel returns the words for a value of a signal, or "" where the number
// speaks for itself.
func SignalLabel(name string, value int64) string {
	var labels []string
	switch name {
	case SignalAvailability:
		labels = availabilityLabels
	case SignalInterruption:
		labels = interruptionLabels
	case SignalEvictionRate:
		return evictionLabels[value]
	}
	if value < 0 || value >= int64(len(labels)) {
		return ""
	}
	return labels[value]
}
