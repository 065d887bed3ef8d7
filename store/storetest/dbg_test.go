package storetest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

func TestDbg(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("SEED"))
	reg, typ := os.Getenv("REG"), os.Getenv("TYP")
	rng := rand.New(rand.NewPCG(uint64(n), 2))
	for _, st := range history(rng, n%2 == 0) {
		if st.run == nil {
			fmt.Println("IMPORT", st.kind, len(st.rows))
			for _, r := range st.rows {
				if r.Offer.Key.InstanceType == typ && r.Offer.Key.Region == reg {
					fmt.Println("   row", r.At)
				}
			}
			continue
		}
		for _, s := range st.run.Scopes {
			if s.Scope.Region == reg {
				fmt.Println(st.run.At, s.Status, s.Source, "nowithdraw", s.NoWithdraw, "feed", s.EventFeed, "replace", st.run.Replace, "replaced", st.replaced)
				for _, o := range st.run.Offers {
					if o.Key.Region == reg && o.Key.InstanceType == typ {
						fmt.Println("   ", o.At, o.Price)
					}
				}
				for _, o := range st.run.HeldKeys {
					if o.Key.Region == reg && o.Key.InstanceType == typ {
						fmt.Println("   held")
					}
				}
			}
		}
	}
}
