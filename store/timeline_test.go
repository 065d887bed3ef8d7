package store

import (
	"math/rand/v2"
	"testing"
)

// TestTimeline compares what a timeline finds with a walk over its marks.
func TestTimeline(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		var marks []mark
		at := uint32(1e9)
		line := &timeline{}
		for range 1 + r.IntN(4) {
			var month []mark
			for range r.IntN(60) {
				at += uint32(r.IntN(3)) * uint32(1+r.IntN(5000)) // two marks may share a moment
				month = append(month, mark{
					at: at, status: markStatus(r.IntN(20) / 19), source: uint8(r.IntN(30) / 29), cadence: uint32(r.IntN(40)/39) * 3600,
					count: uint32(r.IntN(9)),
				})
			}
			line.add(month)
			marks = append(marks, month...)
		}
		for range 300 {
			checkTimeline(t, line, marks, uint32(1e9)+uint32(r.IntN(int(at-1e9)+10))-5, r.IntN(len(line.runs)+2))
		}
	}
}

func checkTimeline(t *testing.T, line *timeline, marks []mark, at uint32, hint int) {
	t.Helper()
	want := 0
	for want < len(marks) && marks[want].at <= at {
		want++
	}
	n := line.behind(at, hint)
	if n == len(line.runs) {
		if want != len(marks) {
			t.Fatalf("no run behind %d, mark %d is", at, want)
		}
	} else if got := line.from(&line.runs[n], at); got != want {
		t.Fatalf("mark %d is the first behind %d, want %d", got, at, want)
	}
	for i, run := range line.runs {
		if (i > 0 && run.start != line.runs[i-1].end) || (i == 0 && run.start != 0) {
			t.Fatalf("run %d begins at mark %d", i, run.start)
		}
		for j := run.start; j < run.end; j++ {
			m, first := marks[j], run.mark
			late := j > run.start && uint64(m.at) >= staleFrom(&marks[j-1], marks[j-1].at)
			if line.ats[j] != m.at || m.status != first.status || m.source != first.source || m.cadence != first.cadence || late {
				t.Fatalf("mark %d %+v is in the run of %+v", j, m, first)
			}
		}
	}
}
