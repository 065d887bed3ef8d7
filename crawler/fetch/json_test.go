package fetch

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

type wire struct {
	Data []struct {
		ID    string  `json:"id"`
		Price *string `json:"price"`
	} `json:"data"`
}

func TestJSON(t *testing.T) {
	tests := []struct {
		name, body  string
		path, want  string // of the DriftError; empty when it decodes
		got, status string
	}{
		{name: "fine", body: `{"data":[{"id":"a","price":"1.5"}]}`},
		{name: "space behind", body: "{}\r\n\t "},
		{name: "byte order mark", body: "\xef\xbb\xbf{}"},
		{name: "unknown field", body: `{"new":1}`},
		{name: "deep enough", body: `{"x":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`},
		{name: "brackets in a text", body: `{"x":"` + strings.Repeat(`[\"`, 200) + `"}`},
		{name: "wrong type", body: `{"data":[{"id":"a"},{"id":7}]}`, path: "$.data.id", want: "string", got: "number"},
		{name: "HTML", body: "\n<!DOCTYPE html><html><title>Sign in</title></html>", path: "$", want: "JSON", got: "HTML: <!DOCTYPE html><html><title>Sign in</title></html>"},
		{name: "empty", body: "", path: "$", want: "JSON", got: "an empty body"},
		{name: "space", body: "  \n", path: "$", want: "a value", got: "the end of the body"},
		{name: "cut", body: `{"data":[{"id":"a"`, path: "$", want: "a value", got: "the end of the body"},
		{name: "text behind", body: `{} {}`, path: "$", want: "the end of the body", got: "{"},
		{name: "garbage behind", body: `{} x`, path: "$", want: "the end", got: "something else"},
		{name: "text", body: "Service temporarily down", path: "$", want: "JSON", got: "Service temporarily down"},
		{name: "comma", body: `{"data":[],}`, path: "$", want: "a value", got: "something else"},
		{name: "too deep", body: strings.Repeat("[", 65), path: "$", want: "at most 64 levels", got: "a deeper nesting"},
		{name: "bottomless", body: strings.Repeat(`{"a":`, 100_000), path: "$", want: "at most 64 levels", got: "a deeper nesting"},
		{name: "echoed secret", body: "denied for " + testSecret, path: "$", want: "JSON", got: "denied for REDACTED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, stop := newWorld(text(tt.body), Options{}, testInfo())
				defer stop()
				var into wire
				url, err := w.JSON(t.Context(), Request{Source: "list", URL: "http://localhost/list?token=abc&n=1"}, &into)
				if url != "http://localhost/list?token=REDACTED&n=1" {
					t.Errorf("url %s", url)
				}
				if tt.want == "" {
					fatal(t, err)
					return
				}
				de, ok := errors.AsType[*gputide.DriftError](err)
				if !ok || !errors.Is(err, gputide.ErrSchemaDrift) {
					t.Fatalf("error %v", err)
				}
				got := []string{de.Source, de.Path, de.Want, de.Got}
				if diff := cmp.Diff([]string{"list", tt.path, tt.want, tt.got}, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestJSONReadError: what the body itself reports is not turned into drift.
func TestJSONReadError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := newWorld(http.HandlerFunc(stall), Options{}, testInfo())
		defer stop()
		_, err := w.JSON(t.Context(), Request{Source: "list", URL: "http://localhost/list"}, new(wire))
		if !errors.Is(err, gputide.ErrSchemaDrift) { // "start" is no JSON, seen before the stall
			t.Errorf("error %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w, stop := newWorld(text(`{"data":[`+strings.Repeat(`{"id":"x"},`, 100_000)+`{}]}`), Options{}, testInfo())
		defer stop()
		_, err := w.JSON(t.Context(), Request{Source: "list", URL: "http://localhost/list"}, new(wire))
		if !errors.Is(err, gputide.ErrTooLarge) || errors.Is(err, gputide.ErrSchemaDrift) {
			t.Errorf("error %v", err)
		}
	})
}

func TestDecoder(t *testing.T) {
	const doc = `{"version":"1","products":{"A":{"sku":"a"},"B":{"sku":"b"}},"terms":{"x":[1,{"y":[2]}],"z":"]}"},"list":[3,4],"end":true}`
	d := NewDecoder("list", strings.NewReader(doc))
	var got []string
	err := d.Object(func(name string) error {
		switch name {
		case "products":
			return d.Object(func(sku string) error {
				var p struct{ SKU string }
				err := d.Decode(&p)
				got = append(got, sku+"="+p.SKU)
				return err
			})
		case "list":
			return d.Array(func() error {
				var n int
				err := d.Decode(&n)
				got = append(got, strings.Repeat("i", n))
				return err
			})
		}
		got = append(got, "skip "+name)
		return d.Skip()
	})
	fatal(t, err)
	fatal(t, d.End())
	if want := []string{"skip version", "A=a", "B=b", "skip terms", "iii", "iiii", "skip end"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestDecoderPath(t *testing.T) {
	d := NewDecoder("list", strings.NewReader(`{"products":[{"A":{"sku":5}}]}`))
	var p struct {
		SKU string `json:"sku"`
	}
	err := d.Object(func(string) error {
		return d.Array(func() error {
			return d.Object(func(string) error { return d.Decode(&p) })
		})
	})
	de, ok := errors.AsType[*gputide.DriftError](err)
	if !ok || de.Path != "$.products[0].A.sku" {
		t.Errorf("error %v", err)
	}
	d = NewDecoder("list", strings.NewReader(`[1]`))
	if err := d.Object(nil); !errors.Is(err, gputide.ErrSchemaDrift) {
		t.Errorf("an array for an object: %v", err)
	}
	if err := Unmarshal("list", "script", []byte(`{"a":1} x`), new(any)); !errors.Is(err, gputide.ErrSchemaDrift) || !strings.Contains(err.Error(), "script") {
		t.Errorf("text behind: %v", err)
	}
}

// FuzzUnmarshal: no text makes the decoder panic, and what it refuses is drift.
func FuzzUnmarshal(f *testing.F) {
	for _, s := range []string{`{"data":[{"id":"a"}]}`, `[`, `{} x`, "\xef\xbb\xbf1", `"\u12"`, strings.Repeat("[", 70), `<html>`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var into wire
		if err := Unmarshal("list", "$", data, &into); err != nil && !errors.Is(err, gputide.ErrSchemaDrift) {
			t.Errorf("error %v", err)
		}
		d := NewDecoder("list", strings.NewReader(string(data)))
		if err := d.Skip(); err != nil && !errors.Is(err, gputide.ErrSchemaDrift) {
			t.Errorf("skip: %v", err)
		}
	})
}

func BenchmarkJSON(b *testing.B) {
	body := []byte(`{"data":[` + strings.Repeat(`{"id":"p5.48xlarge","price":"55.0400000000","attributes":{"vcpu":"192","memory":"2048 GiB"}},`, 10_000) + `{"id":"z"}]}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		var into wire
		if err := Unmarshal("list", "$", body, &into); err != nil {
			b.Fatal(err)
		}
	}
}
