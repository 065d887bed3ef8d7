package azure

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gputide/gputide/providers/providertest"
)

// BenchmarkList reads the rows of a region as large as the largest: 12,000 rows.
func BenchmarkList(b *testing.B) {
	var rows []json.RawMessage
	size := int64(0)
	for i := range 12_000 {
		rows = append(rows, json.RawMessage(sized(fmt.Sprintf("Standard_NC%dads_A100_v4", i), "3.673")))
		size += int64(len(rows[i]))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		l := newList("eastus", providertest.Moment())
		for _, raw := range rows {
			if err := l.row(raw); err != nil {
				b.Fatal(err)
			}
		}
	}
}
