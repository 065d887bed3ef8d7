package pricelist

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// readAll returns the records before the first error, and that error.
func readAll(s *scanner) ([][]string, error) {
	var out [][]string
	for {
		if err := s.next(); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return out, err
		}
		rec := make([]string, s.len())
		for i := range rec {
			rec[i] = string(s.field(i))
		}
		out = append(out, rec)
	}
}

func referenceAll(in string) ([][]string, error) {
	c := csv.NewReader(strings.NewReader(in))
	c.FieldsPerRecord = -1
	var out [][]string
	for {
		rec, err := c.Read()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return out, err
		}
		out = append(out, rec)
	}
}

var scanSeeds = []string{
	"", "\n", "\r\n", "\r", "a", "a\r", "a,b\n", "a,b\r\n", "\"a\",\"b\"\n", "\"a\",,\"b\"", ",", ",,\n,,",
	"\"a\"\"b\",c\n", "\"a\nb\",c\nd,e", "\"a\r\nb\",c\r\n", "a\"b,c\n", "\"a\"b,c\n", "\"a\",\"b\n", "\n\n\"x\"\n\n",
	"\"a\"\r\r\n", "a,\"b\",\n", "\"\",\"\"\n", "k,\"t,u\",\"v\"\nl,\"t,u\",\"v\"\nm,\"t,u\",\"w\"\n", "k,\"t\"x\nk,\"t\"x\n",
	"\"S1\",\"OnDemand\",\"0.5\",\"tail one\",,\"x\"\n\"S1\",\"Reserved\",\"0.4\",\"tail one\",,\"x\"\n", "a,b\n\"", "é,\"ü\"\n",
}

// checkScan fails unless the scanner splits in as encoding/csv does.
func checkScan(t *testing.T, in string, tailCol int) {
	t.Helper()
	want, wantErr := referenceAll(in)
	for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
		s := newScanner(r)
		s.shareTail(tailCol)
		got, err := readAll(s)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q, tail %d: error %v, encoding/csv %v", in, tailCol, err, wantErr)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q, tail %d (-encoding/csv +scanner):\n%s", in, tailCol, diff)
		}
	}
}

func TestScannerEqualsEncodingCSV(t *testing.T) {
	for _, in := range scanSeeds {
		for tail := range 4 {
			checkScan(t, in, tail)
		}
	}
	long := strings.Repeat("\"abcdefgh\",", 40_000) + "\"end\"\n\"next\"\n"
	checkScan(t, long, 2)
	checkScan(t, strings.ReplaceAll(long, "abc", "a\"\"c"), 2)
}

func TestScannerRefusesEndlessRecords(t *testing.T) {
	s := newScanner(strings.NewReader("\"" + strings.Repeat("x", 2*maxRecord) + "\"\n"))
	if err := s.next(); err == nil {
		t.Fatal("a record of 2 MiB was read")
	}
}

func FuzzScanner(f *testing.F) {
	for i, in := range scanSeeds {
		f.Add(in, uint8(i))
	}
	f.Fuzz(func(t *testing.T, in string, tail uint8) {
		if len(in) > 1<<16 {
			t.Skip()
		}
		checkScan(t, in, int(tail%8))
	})
}
