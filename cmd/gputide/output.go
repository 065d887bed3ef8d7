package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// format is the form of an answer.
type format string

// The forms an answer can have.
const (
	formatTable  format = "table"
	formatJSON   format = "json"
	formatNDJSON format = "ndjson"
	formatCSV    format = "csv"
)

var (
	listFormats   = [...]format{formatTable, formatJSON, formatNDJSON, formatCSV}
	objectFormats = [...]format{formatTable, formatJSON}
)

// formatFlag adds -o to a verb that answers with rows, or with one object.
func formatFlag(cmd *cobra.Command, into *string, allowed []format) {
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	cmd.Flags().StringVarP(into, "output", "o", string(formatTable), "`FORM` of the answer: "+strings.Join(names, ", "))
}

// writeRows writes rows in a machine form, one at a time. columns are the CSV
// columns: paths into the JSON of a row.
func writeRows[T any](w io.Writer, f format, columns []string, rows iter.Seq2[T, error]) (int, error) {
	buf := bufio.NewWriterSize(w, 64<<10)
	var put func(row *T) error
	end := func() error { return nil }
	switch f {
	case formatJSON:
		put, end = jsonRows[T](buf)
	case formatNDJSON:
		put = func(row *T) error { return encodeJSON(buf, row) }
	case formatCSV:
		put, end = csvRows[T](buf, columns)
	default:
		return 0, fmt.Errorf("no machine form %q", f)
	}
	n := 0
	for row, err := range rows {
		if err == nil {
			err = put(&row)
		}
		if err != nil {
			buf.Flush() // what was read is true; the error tells that it ends early
			return n, err
		}
		n++
	}
	if err := end(); err != nil {
		return n, err
	}
	return n, buf.Flush()
}

// jsonRows writes one array with a row a line.
func jsonRows[T any](w io.Writer) (put func(*T) error, end func() error) {
	open := "[\n"
	put = func(row *T) error {
		var line bytes.Buffer
		if err := encodeJSON(&line, row); err != nil {
			return err
		}
		if _, err := io.WriteString(w, open); err != nil {
			return err
		}
		open = ",\n"
		_, err := w.Write(bytes.TrimRight(line.Bytes(), "\n"))
		return err
	}
	end = func() error {
		text := "\n]\n"
		if open == "[\n" {
			text = "[]\n"
		}
		_, err := io.WriteString(w, text)
		return err
	}
	return put, end
}

// encodeJSON writes v on one line.
func encodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(jsonGuard{w})
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// writeObject writes one JSON object for people and programs.
func writeObject(w io.Writer, v any) error {
	enc := json.NewEncoder(jsonGuard{w})
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// csvRows writes a header and one record a row. The cells are those of the JSON
// form, so the two cannot differ.
func csvRows[T any](w io.Writer, columns []string) (put func(*T) error, end func() error) {
	cw := csv.NewWriter(w)
	head := false
	header := func() error {
		if head {
			return nil
		}
		head = true
		return cw.Write(columns)
	}
	put = func(row *T) error {
		if err := header(); err != nil {
			return err
		}
		text, err := json.Marshal(row)
		if err != nil {
			return err
		}
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		var tree map[string]any
		if err := dec.Decode(&tree); err != nil {
			return err
		}
		record := make([]string, len(columns))
		for i, c := range columns {
			record[i] = safeCell(cell(tree, c))
		}
		return cw.Write(record)
	}
	end = func() error {
		if err := header(); err != nil {
			return err
		}
		cw.Flush()
		return cw.Error()
	}
	return put, end
}

// cell returns the text at a dotted path, empty for null. A list is joined by
// semicolons.
func cell(tree map[string]any, path string) string {
	var v any = tree
	for name := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = m[name]
	}
	return cellText(v)
}

func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = cellText(e)
		}
		return strings.Join(parts, ";")
	case map[string]any:
		text, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(text)
	}
	return fmt.Sprint(v)
}

// sliceRows is a list as a stream.
func sliceRows[T any](list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// answerWriter keeps the first error of writing an answer, for the verbs that
// print it a line at a time.
type answerWriter struct {
	w   io.Writer
	err error
}

func (a *answerWriter) Write(p []byte) (int, error) {
	n, err := a.w.Write(p)
	if a.err == nil {
		a.err = err
	}
	return n, err
}

// asFile returns the file an answer goes to, if it is one. A command that demo
// runs writes through the demo's writer.
func asFile(w io.Writer) (*os.File, bool) {
	for {
		a, ok := w.(*answerWriter)
		if !ok {
			f, ok := w.(*os.File)
			return f, ok
		}
		w = a.w
	}
}
