package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/gputide/gputide/query"
)

func TestClean(t *testing.T) {
	tests := map[string]string{
		"plain text ×":                 "plain text ×",
		"\x1b[31mred\x1b[0m":           "red",
		"\x1b]0;title\x07after":        "after",
		"\x1b]8;;http://x\x1b\\link":   "link",
		"\x1b[never ends":              "ever ends",
		"a\x1bcb":                      "acb",
		"two\nlines\tand\rback":        "two lines and back",
		"bell\x07 null\x00 del\x7f":    "bell null del",
		"c1\u009b31m":                  "c131m",
		"\u202eevil\u2069":             "evil",
		"bad\xffutf8":                  "bad�utf8",
		"月 and é":                      "月 and é",
		"\ufeffmark\u2028sep\u200fdir": "marksepdir",
	}
	for in, want := range tests {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a", "\x1b[1m", "\x1b]0;x", "\x1b", "\u202e", "\xff\xfe", "\x1b\x1b[[m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if strings.ContainsFunc(got, unsafeRune) {
			t.Errorf("clean(%q) = %q keeps what a terminal obeys", s, got)
		}
		if again := clean(got); again != got {
			t.Errorf("clean(%q) = %q, and cleaned again %q", s, got, again)
		}
	})
}

func TestSafeCell(t *testing.T) {
	tests := map[string]string{
		"":                   "",
		"h100":               "h100",
		"-5.25":              "-5.25",
		"1.5":                "1.5",
		"-":                  "'-",
		"=1+1":               "'=1+1",
		"+cmd|' /C calc'!A0": "'+cmd|' /C calc'!A0",
		"@SUM(A1)":           "'@SUM(A1)",
		"-2+3":               "'-2+3",
		"\t=1":               " =1",
		"-1e5":               "'-1e5",
		"+5":                 "'+5",
	}
	for in, want := range tests {
		if got := safeCell(in); got != want {
			t.Errorf("safeCell(%q) = %q, want %q", in, got, want)
		}
	}
}

// sample is a row of tests.
type sample struct {
	Name   string             `json:"name"`
	Price  *string            `json:"price"`
	Nested map[string]float64 `json:"nested"`
	List   []string           `json:"list"`
}

func sampleRows(t *testing.T) []sample {
	t.Helper()
	return []sample{
		{Name: "=evil()", Price: opt("1.50"), Nested: map[string]float64{"a": 0.125}, List: []string{"x", "y"}},
		{Name: "b\x1b[31m<5%\u202e", Nested: map[string]float64{}},
	}
}

func TestWriteRows(t *testing.T) {
	columns := []string{"name", "price", "nested.a", "nested.b", "list", "missing"}
	tests := []struct {
		form format
		want string
	}{
		{formatCSV, "name,price,nested.a,nested.b,list,missing\n'=evil(),1.50,0.125,,x;y,\nb<5%,,,,,\n"},
		{formatNDJSON, `{"name":"=evil()","price":"1.50","nested":{"a":0.125},"list":["x","y"]}` + "\n" +
			`{"name":"b\u001b[31m<5%\u202e","price":null,"nested":{},"list":null}` + "\n"},
		{formatJSON, "[\n" + `{"name":"=evil()","price":"1.50","nested":{"a":0.125},"list":["x","y"]},` + "\n" +
			`{"name":"b\u001b[31m<5%\u202e","price":null,"nested":{},"list":null}` + "\n]\n"},
	}
	for _, tt := range tests {
		var b bytes.Buffer
		n, err := writeRows(&b, tt.form, columns, sliceRows(sampleRows(t)))
		if err != nil || n != 2 {
			t.Fatalf("%s: %d rows, %v", tt.form, n, err)
		}
		if diff := cmp.Diff(tt.want, b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.form, diff)
		}
	}
	for form, want := range map[format]string{formatCSV: "name\n", formatNDJSON: "", formatJSON: "[]\n"} {
		var b bytes.Buffer
		if _, err := writeRows(&b, form, []string{"name"}, sliceRows[sample](nil)); err != nil || b.String() != want {
			t.Errorf("%s of no rows = %q, %v; want %q", form, b.String(), err, want)
		}
	}
}

// TestWriteRowsError keeps what was read before an error and never closes the
// array, so that a reader cannot take it for whole.
func TestWriteRowsError(t *testing.T) {
	fault := errors.New("fault")
	var rows iter.Seq2[sample, error] = func(yield func(sample, error) bool) {
		_ = yield(sample{Name: "a"}, nil) && yield(sample{}, fault)
	}
	for _, form := range []format{formatJSON, formatNDJSON, formatCSV} {
		var b bytes.Buffer
		if n, err := writeRows(&b, form, []string{"name"}, rows); !errors.Is(err, fault) || n != 1 {
			t.Errorf("%s: %d rows, %v", form, n, err)
		}
		if !strings.Contains(b.String(), "a") || (form == formatJSON && json.Valid(b.Bytes())) {
			t.Errorf("%s wrote %q", form, b.String())
		}
	}
}

func TestTableFits(t *testing.T) {
	type row struct{ a, b, c string }
	rows := []row{{"a1", strings.Repeat("long", 10), "c1"}, {"a2", "b2", "c2\x1b[31m"}}
	columns := []column[row]{
		{head: "A", cell: func(r *row) string { return r.a }},
		{head: "B", cell: func(r *row) string { return r.b }, least: 6},
		{head: "C", cell: func(r *row) string { return r.c }, shed: 1, right: true},
		{head: "NONE", cell: func(*row) string { return "" }},
	}
	tests := []struct {
		width  int
		want   string
		hidden string
	}{
		{0, "A   B                                          C\na1  longlonglonglonglonglonglonglonglonglong  c1\na2  b2                                        c2\n", ""},
		{20, "A   B              C\na1  longlonglong…  c1\na2  b2             c2\n", ""},
		{12, "A   B\na1  longlon…\na2  b2\n", "c"},
		{3, "A   B\na1  longl…\na2  b2\n", "c"},
	}
	for _, tt := range tests {
		var b bytes.Buffer
		hidden, err := printTable(screen{w: &b, width: tt.width}, columns, rows)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(b.String(), "\n")
		for _, l := range lines {
			if w := text.StringWidthWithoutEscSequences(l); tt.width > 8 && w > tt.width {
				t.Errorf("width %d: line of %d columns: %q", tt.width, w, l)
			}
		}
		if strings.Join(hidden, ",") != tt.hidden {
			t.Errorf("width %d: hidden %q, want %q", tt.width, hidden, tt.hidden)
		}
		if tt.width != 20 && b.String() != tt.want {
			t.Errorf("width %d:\n%s\nwant:\n%s", tt.width, b.String(), tt.want)
		}
	}
}

func TestTableColour(t *testing.T) {
	columns := []column[string]{{head: "S", cell: func(s *string) string { return *s }, paint: func(*string) colours { return colours{text.FgRed} }}}
	var plain, painted bytes.Buffer
	for b, colour := range map[*bytes.Buffer]bool{&plain: false, &painted: true} {
		if _, err := printTable(screen{w: b, colour: colour}, columns, []string{"gone"}); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(plain.String(), "\x1b") || !strings.Contains(painted.String(), "\x1b[31mgone\x1b[0m") {
		t.Errorf("plain %q, painted %q", plain.String(), painted.String())
	}
}

func TestMoneyText(t *testing.T) {
	tests := []struct {
		nano string
		want string
	}{
		{"55.04", "55.04"}, {"3", "3.00"}, {"21.957642", "21.9576"}, {"0.00000123", "0.00000123"}, {"0.34", "0.34"}, {"1.99996", "2.00"},
	}
	for _, tt := range tests {
		var n query.Money
		if err := n.UnmarshalJSON([]byte(`"` + tt.nano + `"`)); err != nil {
			t.Fatal(err)
		}
		if got := shortMoney(n); got != tt.want {
			t.Errorf("%s = %s, want %s", tt.nano, got, tt.want)
		}
	}
	month := query.PublishedRow{Amount: "2500", Unit: "mo", Basis: "instance", Currency: "CNY"}
	if got := publishedText(&month, ""); got != "¥2500/月" {
		t.Errorf("a month in yuan = %q", got)
	}
	core := query.PublishedRow{Amount: "0.05", Unit: "h", Basis: "accelerator", Currency: "USD"}
	if got := publishedText(&core, ""); got != "$0.05/gpu/h" {
		t.Errorf("an hour of an accelerator = %q", got)
	}
	for term, want := range map[query.Text]string{"1mo": "¥2500/月", "1y": "¥2500/年", "3y": "¥2500/3y", "12mo": "¥2500/12mo", "": "¥2500/term"} {
		whole := query.PublishedRow{Amount: "2500", Unit: "term", Basis: "instance", Currency: "CNY"}
		if got := publishedText(&whole, term); got != want {
			t.Errorf("a term of %q in yuan = %q, want %q", term, got, want)
		}
	}
	n := query.Money(3_424_657_534)
	if got := priceText(&n, "CNY", true); got != "≈ ¥3.4247" {
		t.Errorf("derived price = %q", got)
	}
}

// TestLostAnswer: a verb that prints facts a line at a time fails when they do
// not arrive, as one that prints rows does.
func TestLostAnswer(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"gpus", "h100"}, {"flags"}, {"--help"}} {
		var stderr strings.Builder
		m := &Main{Stdout: fullDisk{}, Stderr: &stderr, LookupEnv: func(string) (string, bool) { return "", false }, Now: time.Now}
		if code := m.Run(t.Context(), args); code != exitError || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%q: exit code %d, stderr %q", args, code, stderr.String())
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
