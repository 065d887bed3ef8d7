package fetch

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestReduced(t *testing.T) {
	head := "\"FormatVersion\",\"v1.0\"\n\"SKU\",\"Type\"\n"
	var full, want strings.Builder
	full.WriteString(head)
	want.WriteString(head)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 4000 {
		line := fmt.Sprintf("%d,m5.large,%d\n", i, rng.Int64())
		if i%100 == 7 {
			line = fmt.Sprintf("%d,p5.48xlarge,\"55.04\"\n", i)
			want.WriteString(line)
		}
		full.WriteString(line)
	}
	full.WriteString("9999,p5.48xlarge,last line without end")
	want.WriteString("9999,p5.48xlarge,last line without end")
	keep := func() func([]byte) bool {
		n := 0
		return func(line []byte) bool {
			n++
			return n <= 2 || strings.Contains(string(line), ",p5.")
		}
	}
	tests := []struct {
		name    string
		over    int64
		keep    func([]byte) bool
		want    string
		reduced bool
	}{
		{"small body", 1 << 20, keep(), full.String(), false},
		{"large body", 1 << 10, keep(), want.String(), true},
		{"large body, late", int64(full.Len()) - 10, keep(), want.String(), true},
		{"large body without rule", 1 << 10, nil, full.String(), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := openArchive(t, ArchiveOptions{ReduceOver: tt.over})
				w, stop := newWorld(text(full.String()), Options{Archive: a}, testInfo())
				defer stop()
				at := time.Now()
				r := Request{Source: "list", URL: "http://localhost/list", Keep: tt.keep, KeepRule: "p5/1"}
				got, err := w.get(WithRun(t.Context(), at), r)
				fatal(t, err)
				if got != full.String() {
					t.Error("the reader did not get the whole body")
				}
				b := w.bodies[0]
				if b.Hash != sha(tt.want) || b.Size != int64(full.Len()) {
					t.Errorf("body %+v", b)
				}
				if got, err := readObject(a, b.Hash); err != nil || got != tt.want {
					t.Errorf("archived %d bytes (%v), want %d", len(got), err, len(tt.want))
				}
				fix, err := a.Replay("acme", at)
				fatal(t, err)
				w2, stop2 := newWorld(text(""), Options{Fixtures: fix}, testInfo())
				defer stop2()
				resp, err := w2.Do(t.Context(), r)
				fatal(t, err)
				defer resp.Body.Close()
				if again, err := io.ReadAll(resp.Body); err != nil || string(again) != tt.want || resp.Reduced != tt.reduced {
					t.Errorf("replayed %d bytes, reduced %t, %v", len(again), resp.Reduced, err)
				}
			})
		})
	}
}

// TestReduceLongLine: a line too long to judge is kept, its neighbours judged.
func TestReduceLongLine(t *testing.T) {
	a := openArchive(t, ArchiveOptions{ReduceOver: 10})
	w, err := a.create(func(line []byte) bool { return line[0] == 'y' }, nil)
	fatal(t, err)
	long := "n" + strings.Repeat("x", maxLine+5000) + "\n"
	for _, part := range []string{"n1\ny1\n", long[:100], long[100 : maxLine+4000], long[maxLine+4000:] + "n2\ny", "2\nn3"} {
		w.write([]byte(part))
	}
	obj, err := w.commit()
	fatal(t, err)
	got, err := readObject(a, obj.hash)
	fatal(t, err)
	if got != "y1\n"+long+"y2\n" || !obj.reduced {
		t.Errorf("kept %d bytes: %.20q … %q", len(got), got, got[max(0, len(got)-20):])
	}
}

// TestSecretAcrossWrites: a credential is found however the body is cut.
func TestSecretAcrossWrites(t *testing.T) {
	a := openArchive(t, ArchiveOptions{})
	body := "some text " + testSecret + " and more"
	for step := 1; step <= len(body); step++ {
		w, err := a.create(nil, []string{"other-secret", testSecret})
		fatal(t, err)
		for i := 0; i < len(body); i += step {
			w.write([]byte(body[i:min(i+step, len(body))]))
		}
		if _, err := w.commit(); !errors.Is(err, errSecretInBody) {
			t.Fatalf("in steps of %d: %v", step, err)
		}
	}
	if runs, _ := os.ReadDir(filepath.Join(a.dir, "objects")); len(runs) != 0 {
		t.Errorf("objects %v", runs)
	}
}

func BenchmarkArchive(b *testing.B) {
	a, err := OpenArchive(b.TempDir(), ArchiveOptions{ReduceOver: 1 << 20})
	if err != nil {
		b.Fatal(err)
	}
	var csv strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&csv, "\"SKU%d\",\"JRTCKXETXF\",\"OnDemand\",\"$0.%04d per On Demand Linux m5.large Instance Hour\",\"USD\",\"us-east-1\"\n", i, i%9999)
	}
	body := []byte(csv.String())
	for name, keep := range map[string]func([]byte) bool{"whole": nil, "reduced": func(l []byte) bool { return l[5] == '7' && l[6] == '7' }} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				w, err := a.create(keep, []string{testSecret})
				if err != nil {
					b.Fatal(err)
				}
				for i := 0; i < len(body); i += 64 << 10 {
					w.write(body[i:min(i+64<<10, len(body))])
				}
				if _, err := w.commit(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
