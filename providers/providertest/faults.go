package providertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/gputide/gputide"
)

// retryAfter is the delay a rate-limited answer asks for.
const retryAfter = 17 * time.Second

const wall = "<!DOCTYPE html><html><head><title>Down</title></head><body><p>We will be back soon.</p></body></html>"

// fault is one way a source fails to answer.
type fault struct {
	name string
	want error
	make func(f *fixture, i int, page bool) *fixture
}

func faults() []fault {
	status := func(code int, headers map[string]string) func(*fixture, int, bool) *fixture {
		return func(f *fixture, i int, _ bool) *fixture { return f.answer(i, code, headers, []byte("no")) }
	}
	return []fault{
		{"500", gputide.ErrUnavailable, status(500, nil)},
		{"401", gputide.ErrAuth, status(401, nil)},
		{"403", gputide.ErrAuth, status(403, nil)},
		{"429", gputide.ErrRateLimited, status(429, map[string]string{
			"Retry-After": strconv.Itoa(int(retryAfter / time.Second)),
		})},
		{"cut in half", gputide.ErrSchemaDrift, cutInHalf},
		{"no body", gputide.ErrSchemaDrift, func(f *fixture, i int, _ bool) *fixture {
			return withoutLength(f.answer(i, 200, nil, []byte{}), i)
		}},
		{"other form", gputide.ErrSchemaDrift, otherForm},
	}
}

// cutInHalf keeps the announced length, as a lost connection does.
func cutInHalf(f *fixture, i int, _ bool) *fixture {
	body := f.bodies[f.Exchanges[i].File]
	c := withoutLength(f.answer(i, f.Exchanges[i].Status, nil, body[:len(body)/2]), i)
	c.Exchanges[i].Headers["Content-Length"] = strconv.Itoa(len(body))
	return c
}

// otherForm serves a page where data was due, and data where a page was due.
func otherForm(f *fixture, i int, page bool) *fixture {
	if page {
		return withoutLength(f.answer(i, 200, map[string]string{"Content-Type": "application/json"}, []byte(`{"message":"moved"}`)), i)
	}
	c := withoutLength(f.answer(i, 200, nil, []byte(wall)), i)
	dropHeader(c.Exchanges[i].Headers, "Content-Type")
	dropHeader(c.Exchanges[i].Headers, "Content-Encoding")
	c.Exchanges[i].Headers["Content-Type"] = "text/html; charset=utf-8"
	return c
}

func withoutLength(f *fixture, i int) *fixture {
	dropHeader(f.Exchanges[i].Headers, "Content-Length")
	return f
}

// faultChecks are one check per exchange of the fixture and fault.
func (s *suite) faultChecks() []check {
	var list []check
	for i, e := range s.fixture.Exchanges {
		if e.robots() {
			continue
		}
		for _, ft := range faults() {
			name := fmt.Sprintf("fault %s-%d %s", e.Source, i, ft.name)
			list = append(list, check{name, func(t *testing.T) []error { return s.checkFault(t.Context(), i, ft) }})
		}
	}
	return list
}

// checkFault proves that a fault of one exchange is reported as what it is and
// withdraws nothing.
func (s *suite) checkFault(ctx context.Context, i int, ft fault) []error {
	e := s.fixture.Exchanges[i]
	f, base, err := s.turn(ctx, e.Source, func(f *fixture, base *outcome) (bool, error) {
		failed, err := s.crawl(ctx, f.answer(i, http.StatusInternalServerError, nil, []byte("no")))
		return err == nil && failed.differs(base), err
	})
	if err != nil {
		return []error{err}
	}
	src, _ := s.info.Source(e.Source)
	got, err := s.crawl(ctx, ft.make(f, i, src.Page))
	if err != nil {
		return []error{err}
	}
	errs := s.judge(e.Source, base, got, nil, ft.want)
	if ft.want == gputide.ErrRateLimited && len(errs) == 0 {
		fe, ok := errors.AsType[*gputide.FetchError](got.reported(e.Source))
		if !ok || fe.RetryAfter != retryAfter {
			errs = append(errs, fmt.Errorf("the delay of %s that the source asks for is lost", retryAfter))
		}
	}
	return errs
}
