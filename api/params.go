package api

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gputide/gputide"
)

// Params returns a request as query parameters: those of its fields that are
// not zero. A field is named like the flag of the command line, lower case with
// dashes (MinGPUMemory is min-gpu-memory), unless its tag `param` says
// otherwise; a field of struct type, as a filter, adds its own fields.
func Params(req any) (url.Values, error) {
	values := url.Values{}
	for _, f := range fields(reflect.ValueOf(req)) {
		if f.value.IsZero() {
			continue
		}
		texts, err := paramTexts(f.value)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", f.name, err)
		}
		values[f.name] = texts
	}
	return values, nil
}

// ParseParams fills the request that into points to from query parameters. It
// returns [gputide.ErrInvalid] for a parameter the request does not have, for
// one without a value, and for a value it cannot read. A list may be repeated
// and given with commas.
func ParseParams(values url.Values, into any) error {
	list := fields(reflect.ValueOf(into).Elem())
	for name, texts := range values {
		i := slices.IndexFunc(list, func(f field) bool { return f.name == name })
		if i < 0 {
			return fmt.Errorf("%w: unknown parameter %q; there are %s", gputide.ErrInvalid, clip(name), strings.Join(names(list), ", "))
		}
		if err := setParam(list[i].value, texts); err != nil {
			return fmt.Errorf("%w: parameter %s: %w", gputide.ErrInvalid, name, err)
		}
	}
	return nil
}

// field is one field of a request with its parameter name.
type field struct {
	name  string
	value reflect.Value
}

func fields(v reflect.Value) []field {
	var out []field
	t := v.Type()
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Type.Kind() == reflect.Struct && sf.Type != reflect.TypeFor[time.Time]() {
			out = append(out, fields(v.Field(i))...)
			continue
		}
		name := sf.Tag.Get("param")
		if name == "" {
			name = dashed(sf.Name)
		}
		out = append(out, field{name, v.Field(i)})
	}
	return out
}

func names(list []field) []string {
	out := make([]string, len(list))
	for i, f := range list {
		out[i] = f.name
	}
	slices.Sort(out)
	return out
}

// dashed turns the name of a field into that of a flag: FXNow is fx-now.
func dashed(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		starts := unicode.IsUpper(r) && i > 0 &&
			(unicode.IsLower(runes[i-1]) || (i+1 < len(runes) && unicode.IsLower(runes[i+1])))
		if starts {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// paramTexts writes a value that is not zero.
func paramTexts(v reflect.Value) ([]string, error) {
	switch x := v.Interface().(type) {
	case time.Time:
		return []string{x.UTC().Format(time.RFC3339Nano)}, nil
	case time.Duration:
		return []string{x.String()}, nil
	}
	switch v.Kind() {
	case reflect.String:
		return []string{v.String()}, nil
	case reflect.Bool:
		return []string{strconv.FormatBool(v.Bool())}, nil
	case reflect.Int, reflect.Int64:
		return []string{strconv.FormatInt(v.Int(), 10)}, nil
	case reflect.Uint64:
		return []string{strconv.FormatUint(v.Uint(), 10)}, nil
	case reflect.Float64:
		return []string{strconv.FormatFloat(v.Float(), 'g', -1, 64)}, nil
	case reflect.Pointer:
		return paramTexts(v.Elem())
	case reflect.Slice:
		out := make([]string, v.Len())
		for i := range out {
			texts, err := paramTexts(v.Index(i))
			if err != nil {
				return nil, err
			}
			out[i] = texts[0]
		}
		return out, nil
	}
	return nil, fmt.Errorf("%w: a %s is no parameter", gputide.ErrInvalid, v.Type())
}

// setParam reads the texts of one parameter.
func setParam(v reflect.Value, texts []string) error {
	if v.Kind() == reflect.Slice {
		for _, text := range texts {
			for part := range strings.SplitSeq(text, ",") {
				item := reflect.New(v.Type().Elem()).Elem()
				if err := setText(item, strings.TrimSpace(part)); err != nil {
					return err
				}
				v.Set(reflect.Append(v, item))
			}
		}
		return nil
	}
	if len(texts) != 1 {
		return fmt.Errorf("given %d times, it takes one value", len(texts))
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	return setText(v, strings.TrimSpace(texts[0]))
}

func setText(v reflect.Value, text string) error {
	if text == "" {
		return fmt.Errorf("the value is empty: leave the parameter out to select everything")
	}
	switch v.Interface().(type) {
	case time.Time:
		t, err := parseTime(text)
		if err == nil {
			v.Set(reflect.ValueOf(t))
		}
		return err
	case time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is no duration such as 90m", clip(text))
		}
		v.SetInt(int64(d))
		return nil
	}
	return setPlain(v, text)
}

func setPlain(v reflect.Value, text string) error {
	var err error
	what := "value"
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		var b bool
		b, err = strconv.ParseBool(text)
		v.SetBool(b)
		what = "true or false"
	case reflect.Int, reflect.Int64:
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		v.SetInt(n)
		what = "whole number"
	case reflect.Uint64:
		var n uint64
		n, err = strconv.ParseUint(text, 10, 64)
		v.SetUint(n)
		what = "whole number"
	case reflect.Float64:
		var x float64
		x, err = strconv.ParseFloat(text, 64)
		v.SetFloat(x)
		what = "number"
	default:
		return fmt.Errorf("a %s is no parameter", v.Type())
	}
	if err != nil {
		return fmt.Errorf("%q is no %s", clip(text), what)
	}
	return nil
}

// parseTime reads a moment in UTC, or a day, which is its midnight.
func parseTime(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no UTC time: write 2026-08-22 or 2026-08-22T14:00:00Z", clip(text))
}

// clip shortens text of a caller for an error.
func clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
