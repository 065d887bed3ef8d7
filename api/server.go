package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/query"
)

// Media types of answers.
const (
	typeJSON  = "application/json"
	typeLines = "application/x-ndjson"
)

// contractHeader carries the version of the output contract in every answer.
const contractHeader = "Gputide-Contract"

// Bounds of a server where its fields are zero.
const (
	DefaultTimeout = time.Minute // of one answer
	DefaultAtOnce  = 16          // answers at once
	maxBody        = 64 << 10    // bytes of a request's body, which no route reads
	maxHeader      = 1 << 20     // bytes of a request line with its headers
)

// Server answers questions over HTTP.
type Server struct {
	// View calls read with a database at one moment. It may call it again, when
	// the database changed in between: the last call counts.
	View func(ctx context.Context, read func(*View) error) error

	Routes   []Route       // questions beside those of [Questions], and commands
	Logger   *slog.Logger  // nil discards
	Version  string        // of the program, told by /healthz
	Database string        // path of the file, told by /healthz
	Timeout  time.Duration // of one answer; 0 is DefaultTimeout
	AtOnce   int           // answers at once; 0 is DefaultAtOnce
}

// Health is the answer of /healthz.
type Health struct {
	Status   string `json:"status"` // ok
	Version  string `json:"version"`
	Contract int    `json:"contract"`
	Database string `json:"database"` // told on the socket only
}

// Handler returns the routes. With commands it takes requests that change
// something, too: for a socket that only its owner can open.
func (s *Server) Handler(commands bool) http.Handler {
	mux := http.NewServeMux()
	turns := make(chan struct{}, orDefault(s.AtOnce, DefaultAtOnce))
	for _, route := range append(Questions(), s.Routes...) {
		pattern, serve := route.route()
		switch command := strings.HasPrefix(pattern, http.MethodPost+" "); {
		case !command:
			mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.inTurn(turns, w, r, serve) })
		case commands:
			mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
				_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a crawl may take longer than any answer
				serve(s, w, r)
			})
		}
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		health := Health{Status: "ok", Version: s.Version, Contract: query.Contract}
		if commands {
			health.Database = s.Database
		}
		s.send(w, r, &health)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, &gputide.HintError{
			Err:  fmt.Errorf("%w: %s %s", gputide.ErrNotFound, r.Method, clip(r.URL.Path)),
			Hint: "the routes begin with /v1/: offers, changes, types, signals, explain/ID",
		})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		w.Header().Set(contractHeader, strconv.Itoa(query.Contract))
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	})
}

// HTTP returns a server for a handler, bounded in time and size.
func (s *Server) HTTP(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      10 * time.Minute, // a reader that stalls does not keep its turn for ever
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.logger().Handler(), slog.LevelDebug),
	}
}

// inTurn serves a request when there is room, within the time of an answer.
func (s *Server) inTurn(
	turns chan struct{}, w http.ResponseWriter, r *http.Request, serve func(*Server, http.ResponseWriter, *http.Request),
) {
	ctx, cancel := context.WithTimeout(r.Context(), orDefault(s.Timeout, DefaultTimeout))
	defer cancel()
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
	case <-ctx.Done():
		w.Header().Set("Retry-After", "1")
		s.fail(w, r, fmt.Errorf("%w: ask again in a moment", ErrBusy))
		return
	}
	serve(s, w, r.WithContext(ctx))
}

// send writes an answer as one JSON value.
func (s *Server) send(w http.ResponseWriter, r *http.Request, v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", typeJSON)
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	_, _ = w.Write(b.Bytes()) // the caller may have gone; there is nobody to tell
}

// fail writes an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	fault, status := newFault(err)
	if status == http.StatusInternalServerError {
		s.logger().ErrorContext(r.Context(), "request failed", "url", r.URL.Path, "err", err)
	}
	body, err := json.Marshal(map[string]*Fault{"error": fault})
	if err != nil {
		body = []byte(`{"error":{"code":"internal","message":"the error cannot be written"}}`)
	}
	w.Header().Set("Content-Type", typeJSON)
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}

// wantsLines reports whether the caller asks for NDJSON.
func wantsLines(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), typeLines)
}

func (s *Server) logger() *slog.Logger {
	if s.Logger != nil {
		return s.Logger
	}
	return slog.New(slog.DiscardHandler)
}

func orDefault[T comparable](v, preset T) T {
	var zero T
	if v == zero {
		return preset
	}
	return v
}
