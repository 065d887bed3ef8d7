package exoscale

import (
	"strings"
	"testing"
)

func TestParseKey(t *testing.T) {
	for _, tt := range []struct{ key, family, size string }{
		{"running_extra_large", "standard", "extra_large"},
		{"running_cpu_extra_large", "cpu", "extra_large"},
		{"running_medium", "standard", "medium"},
		{"running_gpu3_huge", "gpu3", "huge"},
		{"running_gpurtx6000pro_small", "gpurtx6000pro", "small"},
		{"running_cpu_titan48c", "cpu", "titan48c"},
		{"running_gpu3_gigantic", "", ""},
		{"running__small", "", ""},
		{"running_", "", ""},
		{"volume", "", ""},
	} {
		if family, size, ok := parseKey(tt.key); family != tt.family || size != tt.size || ok != (tt.size != "") {
			t.Errorf("%s: %q %q %v, want %q %q", tt.key, family, size, ok, tt.family, tt.size)
		}
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add("running_extra_large")
	f.Add("running_gpu3_huge")
	f.Fuzz(func(t *testing.T, key string) {
		family, size, ok := parseKey(key)
		if !ok {
			return
		}
		if back := prefix + family + "_" + size; back != key && strings.Replace(back, standard+"_", "", 1) != key {
			t.Errorf("%q is read as %q and %q", key, family, size)
		}
	})
}
