package providertest

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func TestEdits(t *testing.T) {
	const (
		jsonBody = `{"n": 1, "rows": [ {"a" : "x,\"y", "b":{"c.d":2}}, {"a":null,"e":[1,{"a":3}]} ]}`
		csvBody  = "\"v\",\"1\"\r\n\"a\",\"b\"\r\n\"1\",\"x, y\"\r\n\"2\",\"z\"\r\n"
		xmlBody  = `<?xml version="1.0"?><g:E xmlns="u"><C><C t='d1'><C k='X' r='1'/><C k='Y' r="2"/></C><C t='d2'></C></C></g:E>`
	)
	for _, tt := range []struct {
		name string
		body string
		edit func(edits) ([]byte, error)
		want string
	}{
		{"json, every row", jsonBody, lose("rows[].a", everyRow), `{"n": 1, "rows": [ {"renamed" : "x,\"y", "b":{"c.d":2}}, {"renamed":null,"e":[1,{"a":3}]} ]}`},
		{"json, second row", jsonBody, lose("rows[].a", 1), `{"n": 1, "rows": [ {"a" : "x,\"y", "b":{"c.d":2}}, {"renamed":null,"e":[1,{"a":3}]} ]}`},
		{"json, any name", jsonBody, lose("rows[].b.*", everyRow), `{"n": 1, "rows": [ {"a" : "x,\"y", "b":{"renamed":2}}, {"a":null,"e":[1,{"a":3}]} ]}`},
		{"json, list in a list", jsonBody, lose("rows[].e[].a", 0), `{"n": 1, "rows": [ {"a" : "x,\"y", "b":{"c.d":2}}, {"a":null,"e":[1,{"renamed":3}]} ]}`},
		{"json, no such row", jsonBody, lose("rows[].a", 2), ""},
		{"json, swap", jsonBody, swap("rows[].a", "rows[].b"), `{"n": 1, "rows": [ {"a" : {"c.d":2}, "b":"x,\"y"}, {"a":null,"e":[1,{"a":3}]} ]}`},
		{"json, clear", jsonBody, clearList("rows"), `{"n": 1, "rows": []}`},
		{"json, clear an object", jsonBody, clearList("rows[].b"), `{"n": 1, "rows": [ {"a" : "x,\"y", "b":{}}, {"a":null,"e":[1,{"a":3}]} ]}`},
		{"csv, every row", csvBody, lose("b", everyRow), "\"v\",\"1\"\r\n\"a\",\"renamed\"\r\n\"1\",\"x, y\"\r\n\"2\",\"z\"\r\n"},
		{"csv, first row", csvBody, lose("b", 0), "\"v\",\"1\"\r\n\"a\",\"b\"\r\n\"1\",\"\"\r\n\"2\",\"z\"\r\n"},
		{"csv, no such row", csvBody, lose("b", 2), ""},
		{"csv, no such column", csvBody, lose("c", everyRow), ""},
		{"csv, swap", csvBody, swap("a", "b"), "\"v\",\"1\"\r\n\"b\",\"a\"\r\n\"1\",\"x, y\"\r\n\"2\",\"z\"\r\n"},
		{"csv, clear", csvBody, clearList("a"), "\"v\",\"1\"\r\n\"a\",\"b\"\r\n"},
		{"csv, unquoted", "a,b\n1,2\n", lose("a", 0), "a,b\n,2\n"},
		{"xml, every row", xmlBody, lose("C@r", everyRow), `<?xml version="1.0"?><g:E xmlns="u"><C><C t='d1'><C k='X' renamed='1'/><C k='Y' renamed="2"/></C><C t='d2'></C></C></g:E>`},
		{"xml, second row", xmlBody, lose("C@r", 1), `<?xml version="1.0"?><g:E xmlns="u"><C><C t='d1'><C k='X' r='1'/><C k='Y' renamed="2"/></C><C t='d2'></C></C></g:E>`},
		{"xml, swap", xmlBody, swap("C@k", "C@r"), `<?xml version="1.0"?><g:E xmlns="u"><C><C t='d1'><C k='1' r='X'/><C k='2' r="Y"/></C><C t='d2'></C></C></g:E>`},
		{"xml, clear", xmlBody, clearList("C@t"), `<?xml version="1.0"?><g:E xmlns="u"><C></C></g:E>`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.edit(editsOf([]byte(tt.body)))
			if (err != nil) != (tt.want == "") {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, string(got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func lose(path string, row int) func(edits) ([]byte, error) {
	return func(e edits) ([]byte, error) { return e.lose(path, row) }
}

func swap(a, b string) func(edits) ([]byte, error) {
	return func(e edits) ([]byte, error) { return e.swap(a, b) }
}

func clearList(path string) func(edits) ([]byte, error) {
	return func(e edits) ([]byte, error) { return e.clear(path) }
}

func TestRepack(t *testing.T) {
	zip := func(text string) []byte {
		var buf bytes.Buffer
		zw := gzip.NewWriter(&buf)
		if _, err := io.WriteString(zw, text); err != nil {
			t.Fatal(err)
		}
		if err := zw.Close(); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	out, err := repack(zip("a,b\n1,2\n"), func(b []byte) ([]byte, error) { return editsOf(b).lose("b", everyRow) })
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out, zip("a,renamed\n1,2\n")) {
		t.Errorf("got %q", out)
	}
}

func TestPlaces(t *testing.T) {
	body := []byte(`{"id":"EU-1","v1":1,"w":11,"x":"1","y":0.1,"z":[1,1]}`)
	var got []int
	for _, s := range places(body, "1") {
		got = append(got, s.from)
	}
	if d := cmp.Diff([]int{18, 32, 48, 50}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for amount, want := range map[string]string{"1": "2", "19.99": "19.91", "3.20": "3.30", "0": "01"} {
		if got := otherDigit(amount); got != want {
			t.Errorf("otherDigit(%s) = %s, want %s", amount, got, want)
		}
	}
}

func TestFits(t *testing.T) {
	for _, tt := range []struct {
		pattern, address string
		want             bool
	}{
		{"https://a.b/c", "https://a.b/c", true},
		{"https://a.b/c", "https://a.b/c?page=2", true},
		{"https://a.b/c", "https://a.b/cd", false},
		{"https://a.b/*/x/*.csv", "https://a.b/1/x/2.csv", true},
		{"https://a.b/*/x/*.csv", "https://a.b/1/y/2.csv", false},
		{"https://*.b/", "https://us.b/", true},
		{"https://a.b/?q=*", "https://a.b/?q=1", true},
		{"https://a.b/?q=*", "https://a.b/?r=1", false},
		{"", "https://a.b/", false},
	} {
		if got := fits(tt.pattern, tt.address); got != tt.want {
			t.Errorf("fits(%q, %q) = %t", tt.pattern, tt.address, got)
		}
	}
}

func TestWithdrawn(t *testing.T) {
	key := func(region string) gputide.Key {
		return gputide.Key{InstanceType: "x", Region: region, Market: gputide.OnDemand}
	}
	done := func(source, region string) gputide.ScopeRun {
		return gputide.ScopeRun{Source: source, Status: gputide.ScopeDone, Scope: gputide.Scope{Region: region}}
	}
	offer := func(source, region string) gputide.RawOffer {
		return gputide.RawOffer{Source: source, Key: key(region)}
	}
	held := key("r")
	base := &Collector{Offers: []gputide.RawOffer{offer("s", "r")}, Scopes: []gputide.ScopeRun{done("s", "")}}
	failed := gputide.ScopeRun{Source: "s", Status: gputide.ScopeFailed, Scope: gputide.Scope{Region: "r"}}
	event := done("s", "r")
	event.EventFeed = true
	for _, tt := range []struct {
		name  string
		later Collector
		want  int
	}{
		{"listed", Collector{Offers: base.Offers, Scopes: base.Scopes}, 0},
		{"gone", Collector{Scopes: base.Scopes}, 1},
		{"no scope", Collector{}, 0},
		{"narrower scope failed", Collector{Scopes: []gputide.ScopeRun{done("s", ""), failed}}, 0},
		{"narrower scope is an event feed", Collector{Scopes: []gputide.ScopeRun{done("s", ""), event}}, 0},
		{"other source", Collector{Scopes: []gputide.ScopeRun{done("t", "")}}, 0},
		{"other source after a failure", Collector{Scopes: []gputide.ScopeRun{failed, done("t", "r")}}, 0},
		{"listed by a source that does not feed", Collector{Offers: []gputide.RawOffer{offer("t", "r")}, Scopes: base.Scopes}, 1},
		{"skipped with its key", Collector{Skips: []gputide.Skipped{{Source: "s", Key: &held}}, Scopes: base.Scopes}, 0},
		{"row of unknown key", Collector{Skips: []gputide.Skipped{{Source: "s"}}, Scopes: base.Scopes}, 0},
		{"row of unknown key elsewhere", Collector{
			Skips: []gputide.Skipped{{Source: "s", Scope: gputide.Scope{Region: "q"}}}, Scopes: base.Scopes,
		}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := base.Withdrawn(&tt.later); len(got) != tt.want {
				t.Errorf("%d withdrawn, want %d", len(got), tt.want)
			}
		})
	}
}
