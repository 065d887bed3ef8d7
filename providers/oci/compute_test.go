package oci

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
)

// pages answers ListShapes with bodies and tokens by page token.
func pages(t *testing.T, answers map[string][2]string) (*providertest.Collector, error) {
	t.Helper()
	var exchanges []providertest.Exchange
	for page, a := range answers {
		url := "https://iaas.us-ashburn-1.oraclecloud.com/20160918/shapes?compartmentId=*"
		if page != "" {
			url += "&page=" + page
		}
		header := map[string]string{"Content-Type": "application/json"}
		if a[1] != "" {
			header["opc-next-page"] = a[1]
		}
		exchanges = append(exchanges, providertest.Exchange{Source: sourceCompute, URL: url, Body: a[0], Header: header})
	}
	return providertest.Collect(t.Context(), New(providertest.Replay(t, "oci", exchanges...), Config{}))
}

func TestPages(t *testing.T) {
	row := func(name string) string { return `[{"shape":"` + name + `","gpus":1,"gpuDescription":"NVIDIA® X"}]` }
	for _, tt := range []struct {
		name    string
		answers map[string][2]string
		want    []string
		err     error
	}{
		{"one page", map[string][2]string{"": {row("VM.A.1"), ""}}, []string{"VM.A.1"}, nil},
		{"an empty page in the middle", map[string][2]string{"": {row("VM.A.1"), "b"}, "b": {"[]", "c"}, "c": {row("VM.C.1"), ""}}, []string{"VM.A.1", "VM.C.1"}, nil},
		{"a shape in two availability domains", map[string][2]string{"": {row("VM.A.1"), "b"}, "b": {row("VM.A.1"), ""}}, []string{"VM.A.1"}, nil},
		{"a token that returns", map[string][2]string{"": {row("VM.A.1"), "b"}, "b": {row("VM.B.1"), "b"}}, nil, gputide.ErrSchemaDrift},
		{"tokens that turn round", map[string][2]string{"": {row("VM.A.1"), "b"}, "b": {row("VM.B.1"), "c"}, "c": {row("VM.C.1"), "b"}}, nil, gputide.ErrSchemaDrift},
		{"nothing", map[string][2]string{"": {"[]", ""}}, nil, gputide.ErrEmpty},
		{"an object", map[string][2]string{"": {`{"data":[]}`, ""}}, nil, gputide.ErrSchemaDrift},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := pages(t, tt.answers)
			var got []string
			for _, s := range c.Specs {
				got = append(got, s.InstanceType)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if err := errors.Join(c.Errors(sourceCompute)...); !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
		})
	}
}

// TestWithoutKey proves that the Compute API is not asked without a whole key,
// and that the reader is told what to set.
func TestWithoutKey(t *testing.T) {
	_, err := New(fetch.New(fetch.Options{}), Config{Tenancy: "t", User: "u"}).compute(t.Context(), nil)
	if !errors.Is(err, gputide.ErrNeedsKey) || !strings.Contains(err.Error(), envPrivateKey) {
		t.Errorf("error %v", err)
	}
}
