package normalize

import (
	"math"

	"github.com/gputide/gputide"
)

// The window around a label, in MiB per GB × 1024, in which a reported size is
// that of the card: drivers report less than the sticker when ECC is on, and
// some APIs write decimal GB as MiB.
const (
	windowLow   = 0.92
	windowHigh  = 1.03
	usableSlack = 0.001
)

// claim is one size that a row states.
type claim struct {
	mib   float64
	slice bool // it is per slice where the device is a fraction of a card
}

// evidence is what a row says of the memory of its device.
type evidence struct {
	stated   []claim // in fields of their own
	printed  []claim // inside a name
	fraction float64 // of a card, at most 1
	sliced   bool    // a slice whose fraction may not be known
}

func memoryEvidence(d *gputide.Device, spellings []spelling) evidence {
	ev := evidence{fraction: 1}
	if d.Count.Known() && d.Count.Num < d.Count.Den {
		ev.fraction = d.Count.Value()
	}
	switch d.Share {
	case gputide.ShareMIG, gputide.ShareVGPU, gputide.ShareTimeslice:
		ev.sliced = true
	}
	if d.MemoryMiB != nil && *d.MemoryMiB > 0 {
		ev.stated = append(ev.stated, claim{mib: float64(*d.MemoryMiB), slice: true})
	}
	if d.MemoryGB != nil && *d.MemoryGB > 0 && !math.IsInf(*d.MemoryGB, 0) {
		ev.stated = append(ev.stated, claim{mib: *d.MemoryGB * 1024})
	}
	for _, sp := range spellings {
		if sp.sliced {
			ev.sliced = true
		} else if sp.memory > 0 {
			ev.printed = append(ev.printed, claim{mib: sp.memory * 1024})
		}
	}
	return ev
}

func (ev *evidence) none() bool { return len(ev.stated)+len(ev.printed) == 0 }

// unfit is the distance of a size that is not a card's.
const unfit = math.MaxFloat64

// distance says how far a claim lies from a card, 0 being its label; unfit when
// it cannot be that card. A card without a label fits anything, badly.
func (ev *evidence) distance(k *card, c claim) float64 {
	if k.memory == 0 {
		return 10
	}
	whole := k.distance(c.mib)
	if ev.fraction < 1 {
		part := k.distance(c.mib / ev.fraction)
		if c.slice {
			return min(part, whole+1)
		}
		return min(whole, part+1)
	}
	if ev.sliced && whole == unfit && c.mib < k.memory*1024 {
		return 2
	}
	return whole
}

// distance compares a size with the labels of k. A size that drivers were seen
// to report counts as within the window; it is no nearer for that, so that cards
// of one label stay level.
func (k *card) distance(mib float64) float64 {
	label := k.memory * 1024
	d := windowDistance(mib, label)
	for _, gb := range k.also {
		d = min(d, windowDistance(mib, gb*1024))
	}
	for _, u := range k.usable {
		// Seen, but above the label: a modified card.
		if math.Abs(mib-u) <= u*usableSlack && u <= label*windowHigh {
			d = min(d, math.Abs(mib/label-1))
		}
	}
	return d
}

func windowDistance(mib, label float64) float64 {
	if r := mib / label; r >= windowLow && r <= windowHigh {
		return math.Abs(r - 1)
	}
	return unfit
}

// nearest returns the cards that a claim fits best; none when it fits no card.
func (ev *evidence) nearest(cards []*card, c claim) []*card {
	best, out := unfit, []*card(nil)
	for _, k := range cards {
		switch d := ev.distance(k, c); {
		case d == unfit || d > best:
		case d < best:
			best, out = d, []*card{k}
		default:
			out = append(out, k)
		}
	}
	return out
}

// fits reports whether every stated size is within the window of a label, or
// below it for a card sold in slices.
func (ev *evidence) fits(gb float64, slices bool) bool {
	for _, c := range ev.stated {
		label := gb * 1024
		if slices && c.mib <= label*windowHigh {
			continue
		}
		if windowDistance(c.mib, label) == unfit && windowDistance(c.mib/ev.fraction, label) == unfit {
			return false
		}
	}
	return true
}
