package gputide_test

import (
	"testing"

	"github.com/gputide/gputide"
)

func TestBenchmarkDevice(t *testing.T) {
	for _, tt := range []struct {
		perNode, nodes uint32
		want           string
	}{
		{8, 1, "8"},
		{8, 4, ""}, // no single instance delivers it
		{0, 1, ""},
		{8, 0, ""},
	} {
		b := gputide.Benchmark{Accelerator: "NVIDIA L40S", AcceleratorsPerNode: tt.perNode, Nodes: tt.nodes}
		if d := b.Device(); d.Name != "NVIDIA L40S" || d.Count.String() != tt.want {
			t.Errorf("%d × %d: %+v, want count %q", tt.perNode, tt.nodes, d, tt.want)
		}
	}
}
