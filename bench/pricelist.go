package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gputide/gputide/providers/aws/pricelist"
)

// reading is what one process that read a price list reports.
type reading struct {
	Seconds float64 `json:"seconds"`
	Bytes   int64   `json:"bytes"`
	Rows    int64   `json:"rows"`
	Offers  int64   `json:"offers"`
	HWM     int64   `json:"vm_hwm_bytes"`
}

// readers are the ways a list is read, each in a process of its own on one core,
// so that the memory high-water mark is its own.
var readers = []struct {
	name, title string
	read        func(r io.Reader) (rows, offers int64, err error)
}{
	{"encoding-csv", "encoding/csv, rows counted (baseline)", readEncodingCSV},
	{"linux", "gputide, on-demand Linux only", readList(pricelist.OnDemandLinux)},
	{"everything", "gputide, every market and term", readList(pricelist.Everything)},
}

func readEncodingCSV(r io.Reader) (rows, offers int64, err error) {
	c := csv.NewReader(r)
	c.ReuseRecord, c.FieldsPerRecord = true, -1
	for {
		_, err := c.Read()
		if errors.Is(err, io.EOF) {
			return rows, 0, nil
		}
		if err != nil {
			return rows, 0, err
		}
		rows++
	}
}

func readList(only pricelist.Wanted) func(r io.Reader) (rows, offers int64, err error) {
	return func(r io.Reader) (int64, int64, error) {
		opt := pricelist.Options{Source: "bench", Partition: "aws", Currency: "USD", Only: only}
		rep, err := pricelist.ReadCSV(r, opt, func(*pricelist.Row) {})
		if err != nil {
			return 0, 0, err
		}
		return rep.Rows, rep.Offers, nil
	}
}

// runReader is the child process: it reads the list named by args and prints a
// reading.
func runReader(name string, args []string, out io.Writer) error {
	runtime.GOMAXPROCS(1)
	for _, r := range readers {
		if r.name != name || len(args) != 1 {
			continue
		}
		f, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			return err
		}
		began := time.Now()
		rows, offers, err := r.read(f)
		if err != nil {
			return err
		}
		took := time.Since(began).Seconds()
		hwm, err := vmHWM()
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(reading{took, st.Size(), rows, offers, hwm})
	}
	return fmt.Errorf("no reader %q", name)
}

// vmHWM returns the most memory this process ever had resident.
func vmHWM() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			var kib int64
			_, err := fmt.Sscan(rest, &kib)
			return kib << 10, err
		}
	}
	return 0, errors.New("no VmHWM in /proc/self/status")
}

func benchPriceList(ctx context.Context, out, _ io.Writer, dir string, sz sizes) error {
	size, rounds := sz.listBytes, sz.rounds
	path := filepath.Join(dir, "list.csv")
	if err := writeList("../fixtures/aws/us-east-1.csv", path, size); err != nil {
		return err
	}
	best := make([]reading, len(readers))
	for range rounds {
		for i, r := range readers {
			got, err := child(ctx, r.name, path)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			if best[i].Seconds == 0 || got.Seconds < best[i].Seconds {
				got.HWM = max(got.HWM, best[i].HWM)
				best[i] = got
			}
		}
	}
	var rows []row
	for i, r := range readers {
		rows = append(rows, row{
			what: r.title,
			cells: []string{
				fmt.Sprintf("%.0f MB/s", float64(best[i].Bytes)/best[i].Seconds/1e6),
				fmt.Sprintf("%.0f MiB", float64(best[i].HWM)/(1<<20)),
				fmt.Sprintf("%d of %d", best[i].Offers, best[i].Rows),
				fmt.Sprintf("%.2f×", best[0].Seconds/best[i].Seconds),
			},
		})
	}
	printTable(out, fmt.Sprintf("AWS price list: %d MB of CSV, 1 row in 100 on-demand Linux, one core, best of %d", size>>20, rounds),
		[]string{"speed", "VmHWM", "offers of rows", "faster than the baseline"}, rows)
	return nil
}

func child(ctx context.Context, reader, path string) (reading, error) {
	var got reading
	self, err := os.Executable()
	if err != nil {
		return got, err
	}
	cmd := exec.CommandContext(ctx, self, "-reader", reader, path)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.Output()
	if err != nil {
		return got, err
	}
	return got, json.Unmarshal(stdout, &got)
}

// writeList repeats the rows of one of the project's own price-list fixtures,
// which carry real figures in the true form, with a new SKU each time. One row in a
// hundred is the on-demand Linux row.
func writeList(from, path string, size int64) error {
	head, linux, others, err := fixtureRows(from)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	w.Write(head) //nolint:errcheck // Flush reports it
	written := int64(len(head))
	for n := 0; written < size; n++ {
		rows := linux
		if n%100 != 0 && len(others) > 0 || len(linux) == 0 {
			rows = others
		}
		group := rows[(n+n/100)%len(rows)]
		sku := fmt.Appendf(nil, "%016d", n)
		for _, r := range group {
			r = bytes.ReplaceAll(r, r[1:17], sku)
			w.Write(r) //nolint:errcheck // Flush reports it
			written += int64(len(r))
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

// fixtureRows returns the preamble and header of the fixture, its on-demand
// Linux rows, and its other rows, grouped by SKU and term so that the two rows
// of a reserved term stay together.
func fixtureRows(path string) (head []byte, linux, others [][][]byte, err error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, nil, err
	}
	const preamble = 6
	lines := bytes.SplitAfter(body, []byte("\n"))
	head = bytes.Join(lines[:preamble], nil)
	groups := map[string]int{}
	for _, line := range lines[preamble:] {
		if len(line) < 40 {
			continue
		}
		if bytes.Contains(line, []byte(`"OnDemand","$`)) && bytes.Contains(line, []byte(`"Linux"`)) && bytes.Contains(line, []byte(`,"RunInstances",`)) {
			linux = append(linux, [][]byte{line})
			continue
		}
		term := string(line[:30]) // SKU and offer term code
		i, ok := groups[term]
		if !ok {
			i = len(others)
			groups[term], others = i, append(others, nil)
		}
		others[i] = append(others[i], line)
	}
	if len(linux) == 0 && len(others) == 0 {
		return nil, nil, nil, fmt.Errorf("%s has no row of either kind", path)
	}
	return head, linux, others, nil
}
