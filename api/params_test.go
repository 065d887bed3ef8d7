package api

import (
	"errors"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/query"
)

// filled returns a request with a value in each of its fields.
func filled[Req any](t *testing.T) Req {
	t.Helper()
	var req Req
	for i, f := range fields(reflect.ValueOf(&req).Elem()) {
		switch f.value.Interface().(type) {
		case time.Time:
			f.value.Set(reflect.ValueOf(time.Date(2026, 8, 22, 1, 2, 3, 4_000_000+i, time.UTC)))
			continue
		case *bool:
			f.value.Set(reflect.ValueOf(new(i%2 == 0)))
			continue
		}
		switch f.value.Kind() {
		case reflect.String:
			f.value.SetString("a b&c=d/é*" + f.name)
		case reflect.Bool:
			f.value.SetBool(true)
		case reflect.Int, reflect.Int64:
			f.value.SetInt(int64(i + 1))
		case reflect.Uint64:
			f.value.SetUint(1<<63 + uint64(i))
		case reflect.Float64:
			f.value.SetFloat(0.1 + float64(i))
		case reflect.Slice:
			f.value.Set(reflect.ValueOf([]string{"1/8", "h<=96", f.name}).Convert(f.value.Type()))
		default:
			t.Fatalf("field %s is a %s: it cannot travel", f.name, f.value.Type())
		}
	}
	return req
}

// roundTrips holds that a request comes back equal, and that no two of its
// fields have one name.
func roundTrips[Req any](t *testing.T) {
	t.Helper()
	req := filled[Req](t)
	list := names(fields(reflect.ValueOf(req)))
	if len(slices.Compact(slices.Clone(list))) != len(list) {
		t.Errorf("%T: two fields of one name: %v", req, list)
	}
	values, err := Params(req)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := url.ParseQuery(values.Encode())
	if err != nil {
		t.Fatal(err)
	}
	var got Req
	if err := ParseParams(parsed, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(req, got); diff != "" {
		t.Errorf("%T (-sent +received):\n%s", req, diff)
	}
}

func TestRequestsRoundTrip(t *testing.T) {
	roundTrips[query.OffersRequest](t)
	roundTrips[query.ChangesRequest](t)
	roundTrips[query.TypesRequest](t)
	roundTrips[query.SignalsRequest](t)
	roundTrips[query.TrendRequest](t)
	roundTrips[query.DiscountRequest](t)
	roundTrips[query.CompareRequest](t)
	roundTrips[query.RatesRequest](t)
	roundTrips[ExplainRequest](t)
}

func TestParamNames(t *testing.T) {
	want := map[string]string{
		"GPU": "gpu", "MinGPUMemory": "min-gpu-memory", "MinRAM": "min-ram", "FXNow": "fx-now", "OS": "os", "AfterSeq": "after-seq",
		"BareMetal": "bare-metal", "In": "in", "CountBy": "count-by",
	}
	for name, flag := range want {
		if got := dashed(name); got != flag {
			t.Errorf("%s is parameter %s, want %s", name, got, flag)
		}
	}
}

func TestParseParams(t *testing.T) {
	tests := map[string]string{
		"gpu=h100,h200&gpu=a100":          "",
		"at=2026-08-22":                   "",
		"available=false&limit=3":         "",
		"limt=3":                          "unknown parameter",
		"limit=x":                         "no whole number",
		"limit=1&limit=2":                 "takes one value",
		"at=yesterday":                    "no UTC time",
		"gpu=":                            "value is empty",
		"gpu=a,,b":                        "value is empty",
		"available=perhaps":               "no true or false",
		"at=" + strings.Repeat("9", 9000): "no UTC time",
	}
	for text, want := range tests {
		values, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		var req query.OffersRequest
		err = ParseParams(values, &req)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (!errors.Is(err, gputide.ErrInvalid) || !strings.Contains(err.Error(), want)):
			t.Errorf("%.40s: %v, want %q", text, err, want)
		case err != nil && len(err.Error()) > 1000:
			t.Errorf("%.40s: the error has %d bytes", text, len(err.Error()))
		}
	}
	var req query.OffersRequest
	if err := ParseParams(url.Values{"gpu": {"h100, h200", "a100"}, "bare-metal": {"false"}}, &req); err != nil {
		t.Fatal(err)
	}
	if want := (query.OffersRequest{Filter: query.Filter{GPU: []string{"h100", "h200", "a100"}, BareMetal: new(false)}}); !cmp.Equal(want, req) {
		t.Errorf("%+v", req)
	}
}

// FuzzParams holds that what is understood can be sent again.
func FuzzParams(f *testing.F) {
	f.Add("gpu=h100&limit=3&at=2026-08-22T14:00:00Z")
	f.Add("kind=price,held&after-seq=18446744073709551615&from=2026-01-01")
	f.Fuzz(func(t *testing.T, text string) {
		values, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		var req, again query.ChangesRequest
		if ParseParams(values, &req) != nil {
			return
		}
		sent, err := Params(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := ParseParams(sent, &again); err != nil || !cmp.Equal(req, again) {
			t.Errorf("%q: %v\n%s", text, err, cmp.Diff(req, again))
		}
	})
}
