package fetch

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gputide/gputide"
)

func TestManifestRefused(t *testing.T) {
	valid := map[string]any{}
	fatal(t, json.Unmarshal([]byte(`{"provider":"acme","kind":"recorded","captured_at":"2026-08-22T00:00:00Z","exchanges":[{"source":"list","url":"https://h.example/x","file":"a"}]}`), &valid))
	with := func(change func(m, x map[string]any)) string {
		data, err := json.Marshal(valid)
		fatal(t, err)
		m := map[string]any{}
		fatal(t, json.Unmarshal(data, &m))
		change(m, m["exchanges"].([]any)[0].(map[string]any))
		data, err = json.Marshal(m)
		fatal(t, err)
		return string(data)
	}
	set := func(k string, v any) string { return with(func(_, x map[string]any) { x[k] = v }) }
	top := func(k string, v any) string { return with(func(m, _ map[string]any) { m[k] = v }) }
	tests := map[string]string{
		"unknown key":          top("extra", 1),
		"unknown exchange key": set("bodycontains", "x"),
		"text behind":          with(func(_, _ map[string]any) {}) + "x",
		"no JSON":              "provider: acme",
		"empty":                "",
		"kind":                 top("kind", "guessed"),
		"no time":              top("captured_at", ""),
		"a day":                top("captured_at", "2026-08-22"),
		"another provider":     top("provider", "other"),
		"no slug":              top("provider", "../acme"),
		"no source":            set("source", ""),
		"no url":               set("url", ""),
		"relative url":         set("url", "/x"),
		"ftp":                  set("url", "ftp://h/x"),
		"long url":             set("url", "https://h/"+strings.Repeat("x", maxURL)),
		"status":               set("status", 99),
		"times":                set("times", -1),
		"method":               set("method", "get"),
		"parent":               set("file", "../acme/a"),
		"absolute":             set("file", "/etc/passwd"),
		"link":                 set("file", "link"),
		"directory":            set("file", "sub"),
		"missing file":         set("file", "b"),
		"too large":            top("note", strings.Repeat("x", maxManifest)),
	}
	files := map[string]string{"a": "x", "sub/a": "x"}
	open := func(t *testing.T, manifest string) error {
		dir := writeFixture(t, "acme", manifest, files)
		fatal(t, os.Symlink("/etc/passwd", filepath.Join(dir, "acme", "link")))
		_, err := OpenFixtures(dir)
		return err
	}
	fatal(t, open(t, with(func(_, _ map[string]any) {})))
	for name, manifest := range tests {
		t.Run(name, func(t *testing.T) {
			if err := open(t, manifest); !errors.Is(err, gputide.ErrInvalid) {
				t.Errorf("error %v", err)
			}
		})
	}
	if _, err := OpenFixtures(t.TempDir()); !errors.Is(err, gputide.ErrNotFound) {
		t.Errorf("no manifest at all: %v", err)
	}
	if _, err := OpenFixtures(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// FuzzManifest: a manifest is refused as invalid or its exchanges can be served.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(testManifest))
	f.Add([]byte(`{"provider":"a","kind":"recorded","captured_at":"2026-08-22T00:00:00Z","exchanges":[{"source":"s","url":"https://h/%zz"}]}`))
	f.Add([]byte(`[{}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(data)
		if err != nil {
			if !errors.Is(err, gputide.ErrInvalid) {
				t.Errorf("error %v", err)
			}
			return
		}
		for _, x := range m.set().exchanges {
			if x.File != "" && !filepath.IsLocal(x.File) {
				t.Errorf("file %q", x.File)
			}
			if u, err := url.Parse(x.URL); err == nil && !strings.Contains(x.URL, "*") && !x.pattern.match(patternOf(u)) {
				t.Errorf("%q does not match itself", x.URL)
			}
		}
	})
}

// FuzzMatch: an address matches itself, whatever the order of its parameters and
// whoever asks, and a pattern of wildcards matches every value.
func FuzzMatch(f *testing.F) {
	f.Add("a/b", "x", "1", "y", "2")
	f.Add("offers/*/é", "region", "us east", "key", "*")
	f.Add("%2f", "", "", "a*", "&=")
	f.Fuzz(func(t *testing.T, path, k1, v1, k2, v2 string) {
		u := &url.URL{Scheme: "https", Host: "h.example", Path: "/" + path}
		q1 := url.QueryEscape(k1) + "=" + url.QueryEscape(v1)
		q2 := url.QueryEscape(k2) + "=" + url.QueryEscape(v2)
		a, b := *u, *u
		a.RawQuery, b.RawQuery = q1+"&"+q2, q2+"&"+q1+"&X-Amz-Signature=abc"
		b.User, b.Fragment = url.UserPassword("u", "p"), "x"
		pa, pb := patternOf(&a), patternOf(&b)
		if isSignatureParam(k1) || isSignatureParam(k2) { // part of the signature of b only
			return
		}
		if !pa.match(pb) || !pb.match(pa) {
			t.Errorf("%s and %s differ", &a, &b)
		}
		wild := *u
		wild.RawQuery = url.QueryEscape(k1) + "=*&" + url.QueryEscape(k2) + "=*"
		if !patternOf(&wild).match(pa) {
			t.Errorf("%s does not match %s", &wild, &a)
		}
		other := a
		other.Path += "x"
		if !strings.Contains(path, "*") && pa.match(patternOf(&other)) {
			t.Errorf("%s matches %s", &a, &other)
		}
	})
}

func TestMatchValues(t *testing.T) {
	for _, tt := range []struct {
		want, got string
		match     bool
	}{
		{"a b", "b a", true},
		{"a *", "a b", true},
		{"* a", "a b", true},
		{"a* *", "x ab", true},
		{"a b", "a", false},
		{"a a", "a b", false},
	} {
		w, g := strings.Fields(tt.want), strings.Fields(tt.got)
		slices.Sort(w)
		slices.Sort(g)
		if got := matchValues(w, g); got != tt.match {
			t.Errorf("%s, %s: %t", tt.want, tt.got, got)
		}
	}
}
