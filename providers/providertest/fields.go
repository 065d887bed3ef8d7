package providertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/gputide/gputide"
)

// maxRows bounds the rows of which one field is removed.
const maxRows = 25

// fieldChecks are the checks of the fields that Opt names.
func (s *suite) fieldChecks() []check {
	var list []check
	for _, f := range s.opt.Lists {
		list = append(list, check{"empty " + f.String(), func(t *testing.T) []error { return s.checkEmpty(t.Context(), f) }})
	}
	for _, f := range s.opt.Required {
		list = append(
			list,
			check{"renamed " + f.String(), func(t *testing.T) []error { return s.checkRenamed(t.Context(), f) }},
			check{"removed " + f.String(), func(t *testing.T) []error { return s.checkRemoved(t.Context(), f) }},
		)
	}
	for _, p := range s.opt.Swaps {
		list = append(list, check{"swapped " + p[0].String() + " " + p[1].Path, func(t *testing.T) []error {
			return s.checkSwapped(t.Context(), p)
		}})
	}
	for _, e := range s.opt.Edits {
		list = append(list, check{"edit " + e.Name, func(t *testing.T) []error { return s.checkEdit(t.Context(), &e) }})
	}
	return list
}

// String returns source:path without slashes, as the name of a check.
func (f Field) String() string { return f.Source + ":" + f.Path }

// spoil crawls the fixture with the bodies of a source edited. It returns nil
// when no body had what the edit changes. A source that nobody asks while a more
// authoritative one answers is crawled without that one.
func (s *suite) spoil(ctx context.Context, source string, edit func(edits) ([]byte, error)) (base, got *outcome, err error) {
	spoilt := func(f *fixture) (*fixture, int) {
		return f.edit(source, func(body []byte) ([]byte, error) { return edit(editsOf(body)) })
	}
	if _, n := spoilt(s.fixture); n == 0 {
		return nil, nil, nil
	}
	f, base, err := s.turn(ctx, source, func(_ *fixture, base *outcome) (bool, error) { return base.asked(source), nil })
	if err != nil {
		return nil, nil, err
	}
	edited, _ := spoilt(f)
	got, err = s.crawl(ctx, edited)
	return base, got, err
}

// turn returns the fixture in which a source has its turn, and its crawl: the
// whole one, or one in which the sources of more authority answer 404.
func (s *suite) turn(
	ctx context.Context, source string, matters func(*fixture, *outcome) (bool, error),
) (*fixture, *outcome, error) {
	f := s.fixture
	for _, src := range s.info.Sources {
		base := s.base
		if f != s.fixture {
			var err error
			if base, err = s.crawl(ctx, f); err != nil {
				return nil, nil, err
			}
		}
		if ok, err := matters(f, base); ok || err != nil {
			return f, base, err
		}
		if src.ID == source {
			break
		}
		f = f.dead(src.ID)
	}
	return nil, nil, fmt.Errorf("source %s is never asked, or its failure is not reported", source)
}

// dead returns f with every exchange of a source answering 404.
func (f *fixture) dead(source string) *fixture {
	for i := range f.Exchanges {
		if f.Exchanges[i].Source == source {
			f = f.answer(i, http.StatusNotFound, nil, []byte("no"))
		}
	}
	return f
}

func (o *outcome) asked(source string) bool {
	return slices.ContainsFunc(o.Bodies, func(b gputide.Body) bool { return b.Source == source })
}

// checkEmpty proves that a list without rows is ErrEmpty, not a sale that ended.
func (s *suite) checkEmpty(ctx context.Context, f Field) []error {
	base, got, err := s.spoil(ctx, f.Source, func(e edits) ([]byte, error) { return e.clear(f.Path) })
	return s.judge(f.Source, base, got, err, gputide.ErrEmpty)
}

// checkRenamed proves that a field gone from every row is drift.
func (s *suite) checkRenamed(ctx context.Context, f Field) []error {
	base, got, err := s.spoil(ctx, f.Source, func(e edits) ([]byte, error) { return e.lose(f.Path, everyRow) })
	return s.judge(f.Source, base, got, err, gputide.ErrSchemaDrift)
}

// checkRemoved proves that a field gone from one row is seen in some row, and
// that no row without it withdraws anything.
func (s *suite) checkRemoved(ctx context.Context, f Field) []error {
	seen := 0
	for row := range maxRows {
		base, got, err := s.spoil(ctx, f.Source, func(e edits) ([]byte, error) { return e.lose(f.Path, row) })
		if err != nil {
			return []error{err}
		}
		if got == nil {
			break
		}
		if got.differs(base) {
			seen++
		}
		if errs := withdrawn(base, got); len(errs) > 0 {
			return append(errs, fmt.Errorf("when row %d lacks the field", row))
		}
	}
	if seen == 0 {
		return []error{errors.New("removing it from any one row changes nothing")}
	}
	return nil
}

func (s *suite) checkSwapped(ctx context.Context, pair [2]Field) []error {
	base, got, err := s.spoil(ctx, pair[0].Source, func(e edits) ([]byte, error) { return e.swap(pair[0].Path, pair[1].Path) })
	switch {
	case err != nil:
		return []error{err}
	case got == nil:
		return []error{errors.New("no row has both fields")}
	case !got.differs(base):
		return []error{errors.New("nothing changes")}
	}
	return nil
}

func (s *suite) checkEdit(ctx context.Context, e *Edit) []error {
	base, got, err := s.spoil(ctx, e.Source, func(b edits) ([]byte, error) {
		if out := e.Change(b.text()); out != nil {
			return out, nil
		}
		return nil, errNoMatch
	})
	return s.judge(e.Source, base, got, err, e.Want)
}

// judge compares a crawl of a spoilt fixture with what is wanted: want reported
// of the source, or any difference when want is nil, and nothing withdrawn.
func (s *suite) judge(source string, base, got *outcome, err, want error) []error {
	switch {
	case err != nil:
		return []error{err}
	case got == nil:
		return []error{errors.New("no body of the fixture has it")}
	case want == nil && !got.differs(base):
		return []error{errors.New("nothing changes")}
	case want != nil && !errors.Is(got.reported(source), want):
		return []error{fmt.Errorf("reported of %s: %w; want %w", source, orNone(got.reported(source)), want)}
	}
	return withdrawn(base, got)
}

func orNone(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}

// withdrawn complains of every offer of base that got would withdraw.
func withdrawn(base, got *outcome) []error {
	var errs []error
	for _, k := range base.Withdrawn(got.Collector) {
		errs = append(errs, fmt.Errorf("withdrawn: %q", k.Canonical()))
	}
	return first(errs)
}
