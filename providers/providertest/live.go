package providertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// roundTrip is a network of one function.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip calls f.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// reset is a network on which every connection is reset.
func reset(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
}

// stall is a network that never answers.
func stall(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// live crawls over a network of one function. It belongs in a synctest bubble:
// retries wait.
func (s *suite) live(ctx context.Context, network roundTrip) *outcome {
	opt, log := s.options()
	opt.Transport = network
	return s.collect(ctx, s.new(fetch.New(opt)), log)
}

// checkReset proves that a network that is down is reported as such and
// withdraws nothing.
func (s *suite) checkReset(t *testing.T) (errs []error) {
	synctest.Test(t, func(t *testing.T) {
		got := s.live(t.Context(), reset)
		all := []error{got.err}
		for _, n := range got.Sources {
			all = append(all, n.Err)
		}
		if err := errors.Join(all...); !errors.Is(err, gputide.ErrUnavailable) {
			errs = append(errs, fmt.Errorf("reported: %w; want %w", orNone(err), gputide.ErrUnavailable))
		}
		errs = append(errs, withdrawn(s.base, got)...)
	})
	return errs
}

// checkCancel proves that a crawl ends with its context, before it began and
// while it waits for an answer, and leaves no goroutine behind: the bubble would
// not end.
func (s *suite) checkCancel(t *testing.T) (errs []error) {
	ended := func(when string, got *outcome) {
		if !errors.Is(got.err, context.Canceled) {
			errs = append(errs, fmt.Errorf("cancelled %s: %w; want %w", when, orNone(got.err), context.Canceled))
		}
		errs = append(errs, withdrawn(s.base, got)...)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		ended("before it began", s.live(ctx, stall))
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan struct{})
		var got *outcome
		go func() {
			defer close(done)
			got = s.live(ctx, stall)
		}()
		synctest.Wait()
		start := time.Now()
		cancel()
		<-done
		ended("while it waited", got)
		if waited := time.Since(start); waited > time.Second {
			errs = append(errs, fmt.Errorf("returned %s after the context ended", waited))
		}
	})
	return errs
}

// checkSecrets proves that no configured credential appears in anything that is
// kept or printed, whether the source takes it or not.
func (s *suite) checkSecrets(t *testing.T) []error {
	if len(s.opt.Secrets) == 0 {
		if i := slices.IndexFunc(s.info.Sources, func(src gputide.Source) bool { return src.Auth == gputide.AuthKey }); i >= 0 {
			return []error{fmt.Errorf("source %s needs a key: name the dummy that New configures in Opt.Secrets", s.info.Sources[i].ID)}
		}
	}
	refused := s.fixture
	for i := range refused.Exchanges {
		refused = refused.answer(i, http.StatusUnauthorized, nil, []byte("no"))
	}
	no, err := s.crawl(t.Context(), refused)
	if err != nil {
		return []error{err}
	}
	places := map[string][]byte{
		"log": slices.Concat(s.base.log, no.log), "batch": slices.Concat(s.base.golden(), no.golden()),
		"error": fmt.Append(nil, s.base.err, no.err),
	}
	for name, body := range s.fixture.bodies {
		places["fixture "+name] = body
	}
	var errs []error
	for place, text := range places {
		for i, secret := range s.opt.Secrets {
			if bytes.Contains(text, []byte(secret)) {
				errs = append(errs, fmt.Errorf("secret %d appears in the %s", i, place))
			}
		}
	}
	return errs
}
