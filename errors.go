package gputide

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Sentinels of a failed crawl or query. Carriers below unwrap to them; test
// with errors.Is.
var (
	// ErrAuth is returned when a source refuses or lacks a credential (401, 403).
	ErrAuth = errors.New("not authorised")

	// ErrRateLimited is returned when a source still answers 429 after the
	// retries its limits allow.
	ErrRateLimited = errors.New("rate limited")

	// ErrUnavailable is returned when a source cannot be reached, resets the
	// connection, times out or answers 5xx after the retries.
	ErrUnavailable = errors.New("source unavailable")

	// ErrBlocked is returned when robots.txt, a login wall or a bot wall stands
	// before a page. It is final: gputide does not evade.
	ErrBlocked = errors.New("blocked by the source")

	// ErrSchemaDrift is returned when a body is not what the source published
	// before: HTML for JSON, a renamed field, a cut body.
	ErrSchemaDrift = errors.New("source changed its format")

	// ErrEmpty is returned when a source answers well but lists nothing at all.
	ErrEmpty = errors.New("source lists nothing")

	// ErrInvalid is returned for a value outside its defined form: a malformed
	// amount, key, filter or file.
	ErrInvalid = errors.New("invalid")

	// ErrNotFound is returned when a named offer, run or source does not exist.
	ErrNotFound = errors.New("not found")

	// ErrStoreLocked is returned when another process holds the database.
	ErrStoreLocked = errors.New("database is in use")

	// ErrConflict is returned when a run at the same scope and moment is already
	// stored with other contents.
	ErrConflict = errors.New("conflicting run")

	// ErrTooLarge is returned when a body exceeds the cap of its source.
	ErrTooLarge = errors.New("body exceeds the size limit")

	// ErrNotInFixture is returned under fixture replay for a source the manifest
	// does not declare. The source counts as skipped, not failed.
	ErrNotInFixture = errors.New("not in fixture")

	// ErrNeedsKey is returned for a source that needs a credential which is not
	// configured. The source counts as skipped, not failed.
	ErrNeedsKey = errors.New("needs a credential")

	// ErrOverflow is returned when a derived price does not fit [Nano].
	ErrOverflow = errors.New("price overflows")

	// ErrNoPrice is returned when a published amount is zero, blank, negative or
	// unreadable: there is no price in it.
	ErrNoPrice = errors.New("no price")

	// ErrIncomplete is returned when a price is a sum with a missing part.
	ErrIncomplete = errors.New("incomplete components")
)

// FetchError says which request failed and how. URL has credentials removed.
// It unwraps to a sentinel of this package and to the transport error, if any.
type FetchError struct {
	Source     string        // source ID of the provider's Info
	URL        string        // redacted
	Status     int           // HTTP status; 0 when no answer came
	RetryAfter time.Duration // the delay the source asked for; 0 when it named none
	Attempt    int           // attempts made, counted from 1
	Kind       error         // one of the sentinels
	Err        error         // the cause; may be nil
}

// Error names the source, the status and the redacted URL.
func (e *FetchError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", e.Source, e.Kind)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, ", retry after %s", e.RetryAfter)
	}
	if e.Attempt > 1 {
		fmt.Fprintf(&b, " after %d attempts", e.Attempt)
	}
	fmt.Fprintf(&b, ": %s", e.URL)
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Unwrap returns the sentinel and the cause.
func (e *FetchError) Unwrap() []error { return compactErrors(e.Kind, e.Err) }

// DriftError says where a body stopped being what it was. It unwraps to
// [ErrSchemaDrift].
type DriftError struct {
	Source string // source ID
	Path   string // where in the body: a JSON path, a column, a heading
	Want   string // what was expected there
	Got    string // what stood there, shortened
	Err    error  // the decoder's error; may be nil
}

// Error names the source, the place, and both sides of the difference.
func (e *DriftError) Error() string {
	s := fmt.Sprintf("%s: %v at %s: want %s, got %s", e.Source, ErrSchemaDrift, e.Path, e.Want, e.Got)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns [ErrSchemaDrift] and the decoder's error.
func (e *DriftError) Unwrap() []error { return compactErrors(ErrSchemaDrift, e.Err) }

// PartialError says that some scopes of a crawl were read and some were not.
// It unwraps to the errors of the failed ones.
type PartialError struct {
	Done   int     // scopes read
	Failed []error // one per failed scope
}

// Error counts both sides and names the first failure.
func (e *PartialError) Error() string {
	s := fmt.Sprintf("%d scopes read, %d failed", e.Done, len(e.Failed))
	if len(e.Failed) > 0 {
		s += ": " + e.Failed[0].Error()
	}
	return s
}

// Unwrap returns the failures.
func (e *PartialError) Unwrap() []error { return e.Failed }

// HintError adds what the reader can do next to an error.
type HintError struct {
	Err  error
	Hint string // one imperative sentence, without a full stop
}

// Error returns the error and the hint.
func (e *HintError) Error() string { return e.Err.Error() + " (" + e.Hint + ")" }

// Unwrap returns the error.
func (e *HintError) Unwrap() error { return e.Err }

func compactErrors(errs ...error) []error {
	out := errs[:0]
	for _, err := range errs {
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}
