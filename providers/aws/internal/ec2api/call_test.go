package ec2api

import (
	"errors"
	"strconv"
	"testing"

	"github.com/gputide/gputide"
)

// TestPages reads an answer whole or not at all.
func TestPages(t *testing.T) {
	numbered := func(n int) func(*string) ([]int, *string, error) {
		asked := 0
		return func(*string) ([]int, *string, error) {
			asked++
			if asked == n {
				return []int{asked}, new(""), nil
			}
			return nil, new(strconv.Itoa(asked)), nil
		}
	}
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		ask   func(*string) ([]int, *string, error)
		some  bool
		want  error
		items int
	}{
		"no token":            {func(*string) ([]int, *string, error) { return []int{1, 2}, nil, nil }, true, nil, 2},
		"empty pages between": {numbered(5), true, nil, 1},
		"the longest":         {numbered(maxPages), true, nil, 1},
		"longer":              {numbered(maxPages + 1), true, gputide.ErrTooLarge, 0},
		"a token again":       {func(*string) ([]int, *string, error) { return []int{1}, new("x"), nil }, true, gputide.ErrSchemaDrift, 2},
		"nothing":             {func(*string) ([]int, *string, error) { return nil, nil, nil }, true, gputide.ErrEmpty, 0},
		"nothing is allowed":  {func(*string) ([]int, *string, error) { return nil, nil, nil }, false, nil, 0},
		"refused":             {func(*string) ([]int, *string, error) { return []int{9}, nil, nil }, true, broken, 0},
	} {
		items := 0
		err := pages(t.Context(), &call{source: "s", region: "r"}, c.some, c.ask, func(i *int) error {
			if *i == 9 {
				return broken
			}
			items++
			return nil
		})
		if !errors.Is(err, c.want) || items != c.items {
			t.Errorf("%s: %d items, %v; want %d, %v", name, items, err, c.items, c.want)
		}
	}
}
