package main

import (
	"testing"

	"github.com/gputide/gputide/query"
)

func TestFinePrice(t *testing.T) {
	for n, want := range map[query.Money]string{
		2_690_000_000: "$2.69",
		10_000_000:    "$0.01",
		9_999_999:     "$0.01",
		2_244_250:     "$0.002244",
		199_999:       "$0.0002",
		7:             "$0.000000007",
		0:             "$0.00",
	} {
		if got := finePrice(&n, "USD"); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
	if got := finePrice(nil, "USD"); got != "" {
		t.Errorf("no price is %q", got)
	}
}
