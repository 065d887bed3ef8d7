package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// hasFields is a check of the only row of an answer.
func hasFields(want ...string) func([]answerRow) error {
	return func(rows []answerRow) error {
		if len(rows) != 1 {
			return fmt.Errorf("%d rows, want 1", len(rows))
		}
		return rowHas(rows[0], want...)
	}
}

// rowHas compares fields given as name, value, name, value.
func rowHas(r answerRow, want ...string) error {
	var errs []error
	for i := 0; i+1 < len(want); i += 2 {
		if got := r.text(want[i]); got != want[i+1] {
			errs = append(errs, fmt.Errorf("%s is %s, want %s", want[i], got, want[i+1]))
		}
	}
	return errors.Join(errs...)
}

// inOrder checks that exactly these rows come out, in this order.
func inOrder(fields string, want ...string) func([]answerRow) error {
	return func(rows []answerRow) error {
		for i, w := range want {
			if i < len(rows) {
				if err := has(fields, w)(rows[i : i+1]); err != nil {
					return fmt.Errorf("row %d: %w", i, err)
				}
			}
		}
		return count(len(want))(rows)
	}
}

// only checks the rows that have a value in a field and leaves the others out.
func only(field, value string, check func([]answerRow) error) func([]answerRow) error {
	return func(rows []answerRow) error {
		return check(slices.DeleteFunc(slices.Clone(rows), func(r answerRow) bool { return r.text(field) != value }))
	}
}

// numberOf reads a field as a number, which is exact enough to add and compare.
func numberOf(r answerRow, field string) (float64, error) {
	var v float64
	if _, err := fmt.Sscan(r.text(field), &v); err != nil {
		return 0, fmt.Errorf("%s is %s", field, r.text(field))
	}
	return v, nil
}

// totals words the sums of fields over all rows.
func totals(fields ...string) func([]answerRow) string {
	return func(rows []answerRow) string {
		var out []string
		for _, f := range fields {
			sum := 0.0
			for _, r := range rows {
				v, err := numberOf(r, f)
				if err != nil {
					return err.Error()
				}
				sum += v
			}
			out = append(out, fmt.Sprintf("%v %s", sum, f))
		}
		return strings.Join(out, ", ")
	}
}

// values words which values a field takes.
func values(field string) func([]answerRow) string {
	return func(rows []answerRow) string {
		got := map[string]bool{}
		for _, r := range rows {
			got[r.text(field)] = true
		}
		return field + " takes " + strings.Join(slices.Sorted(maps.Keys(got)), ", ")
	}
}

// percents checks the discount of the only row, as far as a fact prints it.
func percents(n int, low, median, high float64) func([]answerRow) error {
	return func(rows []answerRow) error {
		return errors.Join(hasFields("samples", fmt.Sprint(n))(rows), closeTo("min_pct", low, 0.005)(rows), closeTo("p50_pct", median, 0.005)(rows),
			closeTo("max_pct", high, 0.005)(rows))
	}
}

// closeTo compares a field of the only row with a value a fact has rounded: within
// is half of its last decimal.
func closeTo(field string, want, within float64) func([]answerRow) error {
	return func(rows []answerRow) error {
		if len(rows) != 1 {
			return fmt.Errorf("%d rows, want 1", len(rows))
		}
		got, err := numberOf(rows[0], field)
		if err != nil {
			return err
		}
		if d := got - want; d > within+1e-12 || d < -within-1e-12 {
			return fmt.Errorf("%s is %v, want %v", field, got, want)
		}
		return nil
	}
}

// sixDecimals is half of the last decimal of a mean of the facts.
const sixDecimals = 0.000_000_5

// still words how many series with two observations or more have no change.
func still(rows []answerRow) string {
	never, several := 0, 0
	for _, r := range rows {
		if n, err := numberOf(r, "samples"); err != nil {
			return err.Error()
		} else if n < 2 {
			continue
		}
		several++
		if r.text("changes") == "0" {
			never++
		}
	}
	return fmt.Sprintf("%d of %d with two or more never change", never, several)
}

// observed words what is in an export: prices, offers, and how many of those
// with two prices or more never change.
func observed(rows []answerRow) string {
	prices := map[string][]string{}
	n := 0
	for _, r := range rows {
		if r.text("state") == "priced" {
			n++
			prices[r.text("offer_id")] = append(prices[r.text("offer_id")], r.text("price"))
		}
	}
	never, several := 0, 0
	for _, all := range prices {
		if len(all) < 2 {
			continue
		}
		several++
		if slices.Min(all) == slices.Max(all) {
			never++
		}
	}
	return fmt.Sprintf("%d prices of %d offers, %d of %d with two or more never change", n, len(prices), never, several)
}

// days words at how many moments an export has a price.
func days(rows []answerRow) string {
	seen := map[string]bool{}
	for _, r := range rows {
		if r.text("state") == "priced" {
			seen[r.text("time")] = true
		}
	}
	return fmt.Sprintf("prices at %d moments", len(seen))
}

// largestFall words the change with the lowest percentage.
func largestFall(rows []answerRow) string {
	least, lowest := 0.0, answerRow{}
	for _, r := range rows {
		if r.text("pct") == "<null>" {
			continue
		}
		pct, err := numberOf(r, "pct")
		if err != nil {
			return err.Error()
		}
		if pct < least {
			least, lowest = pct, r
		}
	}
	return fmt.Sprintf("the largest fall is %s to %s, %s %%, seen %s", lowest.text("before"), lowest.text("after"), lowest.text("pct"), lowest.text("seen_at"))
}

// ups words how many changes go up.
func ups(rows []answerRow) string {
	n := 0
	for _, r := range rows {
		if !strings.HasPrefix(r.text("pct"), "-") {
			n++
		}
	}
	return fmt.Sprintf("%d changes, %d up", len(rows), n)
}
