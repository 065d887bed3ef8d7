package main

import (
	"slices"

	"github.com/gputide/gputide"
)

// median returns the middle price, or the mean of the two middle ones rounded
// down. It sorts prices.
func median(prices []gputide.Nano) gputide.Nano {
	slices.Sort(prices)
	n := len(prices)
	if n%2 == 1 {
		return prices[n/2]
	}
	return (prices[n/2-1] + prices[n/2]) / 2
}

// percentiles are the ones of the discount query, in percent.
var percentiles = []int{5, 50, 95}

// addPercentiles adds the percentiles of values to a: the smallest value that so
// many percent of the values do not pass. It sorts values.
func (a *answer) addPercentiles(values []gputide.Nano) {
	if len(values) == 0 {
		return
	}
	slices.Sort(values)
	for _, q := range percentiles {
		a.add(values[(len(values)*q+99)/100-1])
	}
}

// saved returns 1 − spot ÷ list in parts per billion, cut to whole ones.
func saved(list, spot gputide.Nano) gputide.Nano {
	return gputide.Nano(1e9 - float64(spot)/float64(list)*1e9)
}

// pairs returns what is saved wherever both series were observed.
func pairs(list, spot []gputide.Observation) []gputide.Nano {
	out := make([]gputide.Nano, 0, len(spot))
	j := 0
	for _, s := range spot {
		for j < len(list) && list[j].At.Before(s.At) {
			j++
		}
		if j < len(list) && list[j].At.Equal(s.At) {
			out = append(out, saved(list[j].Price, s.Price))
		}
	}
	return out
}

// onDemand returns the key of the on-demand twin of a spot series.
func onDemand(k *gputide.Key) gputide.Key {
	twin := *k
	twin.Market = gputide.OnDemand
	return twin
}
