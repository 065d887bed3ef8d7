package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gputide/gputide"
)

// Fault is an error as it travels: the answer of every status but 200. It
// unwraps to the sentinel its code names, so that a client judges a distant
// error as it would its own.
type Fault struct {
	Code    string `json:"code"`           // one of codes
	Message string `json:"message"`        // for people, without the hint
	Hint    string `json:"hint,omitempty"` // what to do next
}

// ErrBusy is returned when more requests are being answered than the server
// takes at once.
var ErrBusy = errors.New("too many requests at once")

// faultCode ties a code to an error and a status.
type faultCode struct {
	code   string
	err    error
	status int
}

const codeInternal = "internal"

// codes lists the codes of faults; what is in none of them is internal.
func codes() []faultCode {
	return []faultCode{
		{"invalid", gputide.ErrInvalid, http.StatusBadRequest},
		{"not_found", gputide.ErrNotFound, http.StatusNotFound},
		{"busy", ErrBusy, http.StatusServiceUnavailable},
		{"locked", gputide.ErrStoreLocked, http.StatusConflict},
		{"conflict", gputide.ErrConflict, http.StatusConflict},
		{"timeout", context.DeadlineExceeded, http.StatusGatewayTimeout},
		{"cancelled", context.Canceled, http.StatusServiceUnavailable},
	}
}

// newFault returns the form of err in which it travels, and its status.
func newFault(err error) (*Fault, int) {
	f := &Fault{Code: codeInternal, Message: err.Error()}
	if he, ok := errors.AsType[*gputide.HintError](err); ok {
		f.Hint = he.Hint
		f.Message = strings.Replace(f.Message, " ("+he.Hint+")", "", 1)
	}
	for _, c := range codes() {
		if errors.Is(err, c.err) {
			f.Code = c.code
			return f, c.status
		}
	}
	return f, http.StatusInternalServerError
}

// Error returns the message.
func (f *Fault) Error() string { return f.Message }

// Unwrap returns the sentinel of the code, nil for an internal error.
func (f *Fault) Unwrap() error {
	for _, c := range codes() {
		if c.code == f.Code {
			return c.err
		}
	}
	return nil
}

// asError returns the fault with its hint where a local error has it.
func (f *Fault) asError() error {
	if f.Hint == "" {
		return f
	}
	return &gputide.HintError{Err: f, Hint: f.Hint}
}
