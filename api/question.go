package api

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/query"
)

// Store is what questions beside queries need of a database.
type Store interface {
	query.Reader

	// Run returns one run, or [gputide.ErrNotFound].
	Run(ctx context.Context, id uint64) (gputide.RunRecord, error)

	// Quarantine returns the refused rows of a provider, of all when it is empty.
	Quarantine(ctx context.Context, provider string) ([]gputide.Quarantined, error)

	// Stats describes the database.
	Stats(ctx context.Context) (gputide.StoreStats, error)
}

// View is a database at one moment: nothing read through it differs in time.
type View struct {
	Engine *query.Engine
	Store  Store
}

// Question is one route: what is asked with Req is answered with Ans. A path
// may hold {name}, which is the parameter of that name.
type Question[Req, Ans any] struct {
	Path   string
	Answer func(ctx context.Context, v *View, req Req) (Ans, error)

	// Rows returns the rows of an answer, for NDJSON; nil where it has none.
	Rows func(ans *Ans) iter.Seq[any]

	// Next returns the request that continues an answer that was cut short, and
	// false when there is nothing more. A limit of the caller's is a whole answer.
	Next func(req Req, ans *Ans) (Req, bool)
}

// Route is a question as a server takes it.
type Route interface {
	route() (pattern string, serve func(s *Server, w http.ResponseWriter, r *http.Request))
}

// Command is a route that changes something, asked with POST. It is served on
// the socket only.
type Command[Req, Ans any] struct {
	Path string
	Do   func(ctx context.Context, req Req) (Ans, error)
}

// parse reads the request of a route from its path and parameters.
func parse[Req any](path string, r *http.Request) (Req, error) {
	var req Req
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return req, fmt.Errorf("%w: parameters: %w", gputide.ErrInvalid, err)
	}
	for _, name := range pathNames(path) {
		if values.Has(name) {
			return req, fmt.Errorf("%w: parameter %s stands in the path", gputide.ErrInvalid, name)
		}
		values.Set(name, r.PathValue(name))
	}
	return req, ParseParams(values, &req)
}

// pathNames returns the names in braces of a path.
func pathNames(path string) []string {
	var out []string
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			out = append(out, strings.TrimSuffix(name, "}"))
		}
	}
	return out
}

// target is the path and query of a request.
func target(path string, req any) (string, error) {
	values, err := Params(req)
	if err != nil {
		return "", err
	}
	for _, name := range pathNames(path) {
		if !values.Has(name) {
			return "", fmt.Errorf("%w: parameter %s is empty", gputide.ErrInvalid, name)
		}
		path = strings.Replace(path, "{"+name+"}", url.PathEscape(values.Get(name)), 1)
		values.Del(name)
	}
	if len(values) == 0 {
		return path, nil
	}
	return path + "?" + values.Encode(), nil
}

func (q Question[Req, Ans]) route() (string, func(*Server, http.ResponseWriter, *http.Request)) {
	return "GET " + q.Path, func(s *Server, w http.ResponseWriter, r *http.Request) {
		req, err := parse[Req](q.Path, r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if q.Rows != nil && wantsLines(r) {
			q.stream(s, w, r, req)
			return
		}
		ans, err := q.answer(s, r, req)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.send(w, r, &ans)
	}
}

// answer answers from one moment of the database.
func (q Question[Req, Ans]) answer(s *Server, r *http.Request, req Req) (Ans, error) {
	var ans Ans
	err := s.View(r.Context(), func(v *View) (err error) {
		ans, err = q.Answer(r.Context(), v, req)
		return err
	})
	return ans, err
}

// stream writes an answer as a row a line. Each part of it is from one moment.
func (q Question[Req, Ans]) stream(s *Server, w http.ResponseWriter, r *http.Request, req Req) {
	begun := false
	for {
		ans, err := q.answer(s, r, req)
		if err != nil {
			if begun {
				panic(http.ErrAbortHandler) // the cut connection tells that rows are missing
			}
			s.fail(w, r, err)
			return
		}
		if !begun {
			w.Header().Set("Content-Type", typeLines)
			begun = true
		}
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for row := range q.Rows(&ans) {
			if enc.Encode(row) != nil {
				return // the caller has gone
			}
		}
		if q.Next == nil {
			return
		}
		var more bool
		if req, more = q.Next(req, &ans); !more || http.NewResponseController(w).Flush() != nil {
			return
		}
	}
}

// Ask asks a daemon. An error of the daemon's unwraps to the sentinel it has
// there.
func (q Question[Req, Ans]) Ask(ctx context.Context, c *Client, req Req) (Ans, error) {
	return call[Ans](ctx, c, http.MethodGet, q.Path, req)
}

func (c Command[Req, Ans]) route() (string, func(*Server, http.ResponseWriter, *http.Request)) {
	return "POST " + c.Path, func(s *Server, w http.ResponseWriter, r *http.Request) {
		req, err := parse[Req](c.Path, r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		ans, err := c.Do(r.Context(), req)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.send(w, r, &ans)
	}
}

// Ask asks a daemon to do it.
func (c Command[Req, Ans]) Ask(ctx context.Context, cl *Client, req Req) (Ans, error) {
	return call[Ans](ctx, cl, http.MethodPost, c.Path, req)
}
