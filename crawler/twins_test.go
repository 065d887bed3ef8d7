package crawler

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// TestRepeatedRowsTakeNoRoom repeats one row many times: it is held once and
// counted each time, whatever becomes of its scope.
func TestRepeatedRowsTakeNoRoom(t *testing.T) {
	const times = 1000
	for name, tt := range map[string]struct {
		more             func(b *gputide.Batch)
		held             int
		omitted, skipped map[string]int64
	}{
		"done":      {func(b *gputide.Batch) { b.Done("list", everything) }, 1, map[string]int64{"twin": times - 1}, nil},
		"failed":    {func(b *gputide.Batch) { b.Fail("list", everything, gputide.ErrUnavailable) }, 1, nil, map[string]int64{"scope_failed": times}},
		"no scope":  {func(*gputide.Batch) {}, 1, nil, map[string]int64{"no_scope": times}},
		"disagrees": {func(b *gputide.Batch) { b.Add(offer("list", "a", "6")); b.Done("list", everything) }, 2, nil, map[string]int64{"duplicate_key": times + 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSink(info("list"), loadNormalizer(t), &gputide.Baseline{}, false, func(Progress) {})
			b := gputide.NewBatch("fake", day0, s)
			for range times {
				b.Add(offer("list", "a", "5"))
			}
			tt.more(b)
			if len(s.kept) != tt.held {
				t.Errorf("%d rows are held, want %d", len(s.kept), tt.held)
			}
			run, _ := s.assemble(outcome{at: day0, cause: gputide.CauseCrawl})
			rep := reportOf(t, run, "list")
			if d := cmp.Diff(tt.omitted, rep.Omitted); d != "" {
				t.Errorf("omitted (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.skipped, rep.Skipped); d != "" {
				t.Errorf("skipped (-want +got):\n%s", d)
			}
		})
	}
}
