package alibaba

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
)

// generated returns a list of n entries in the form and with the prices of the
// list of 2018, every tenth of an accelerated type.
func generated(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"currency":"USD","version":"2.0.7","publicationDate":"2018-10-08T08:15:52Z","pricingInfo":{`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		name := "ecs.r5.6xlarge"
		if i%10 == 0 {
			name = "ecs.gn6v-c8g1.16xlarge"
		}
		fmt.Fprintf(&b, `"region-%d::%s::vpc::linux::optimized":{"hours":[{"price":"1.92","period":"1"}],"months":[{"price":"883.01","period":"1"}],`, i, name)
		b.WriteString(`"years":[{"price":"9006.71","period":"1"},{"price":"18013.4","period":"2"},{"price":"27020.11","period":"3"},{"price":"36026.8","period":"4"},{"price":"45033.51","period":"5"}]}`)
	}
	b.WriteString(`},"type":"Instance","site":"Intl"}`)
	return b.Bytes()
}

// nowhere is a sink that counts offers.
type nowhere struct {
	gputide.Sink
	offers int
}

func (n *nowhere) Offer(gputide.RawOffer) { n.offers++ }

func read(t testing.TB, rows families, body []byte) int {
	t.Helper()
	sink := new(nowhere)
	r := newReader(&sites()[1], gputide.NewBatch("alibaba", providertest.Moment(), sink), rows)
	if err := r.decode(fetch.NewDecoder("list-intl", bytes.NewReader(body))); err != nil {
		t.Fatal(err)
	}
	return sink.offers
}

// BenchmarkList reads a list of the size of the China site's.
func BenchmarkList(b *testing.B) {
	body := generated(100_000)
	rows := table(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		read(b, rows, body)
	}
}

// TestMemory proves that what a list leaves in memory does not grow with it.
func TestMemory(t *testing.T) {
	rows := table(t)
	held := func(n int) uint64 {
		body := generated(n)
		var before, after runtime.MemStats
		sink := new(nowhere)
		r := newReader(&sites()[1], gputide.NewBatch("alibaba", providertest.Moment(), sink), rows)
		runtime.GC()
		runtime.ReadMemStats(&before)
		if err := r.decode(fetch.NewDecoder("list-intl", bytes.NewReader(body))); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(body)
		runtime.KeepAlive(r)
		if sink.offers != 7*n {
			t.Errorf("%d offers of %d entries", sink.offers, n)
		}
		return after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)
	}
	if small, large := held(100), held(20_000); large > small+256<<10 {
		t.Errorf("%d bytes after 20,000 entries, %d after 100", large, small)
	}
}
