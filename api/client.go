package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/query"
)

// MaxSocketPath is the longest path a unix socket can have, in bytes.
const MaxSocketPath = 107

const dialTimeout = time.Second

// Client asks the daemon behind a unix socket.
type Client struct {
	path string
	http *http.Client
}

// Dial returns a client of the socket at path, and nil when nobody answers
// there: no such file, a file nobody listens at, or one of another user.
func Dial(ctx context.Context, path string) (*Client, error) {
	if len(path) > MaxSocketPath {
		return nil, nil // no daemon can listen there
	}
	dialer := &net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		if nobody(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("socket %s: %w", path, err)
	}
	first := make(chan net.Conn, 1)
	first <- conn
	return &Client{path: path, http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			select {
			case c := <-first:
				return c, nil
			default:
				return dialer.DialContext(ctx, "unix", path)
			}
		},
		DisableCompression: true,
		IdleConnTimeout:    time.Minute,
	}}}, nil
}

// nobody reports an error of dialling that says that no daemon is there for us.
func nobody(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrPermission) ||
		errors.Is(err, syscall.ENOTSOCK)
}

// Close lets the connections go.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Health asks whether the daemon is well.
func (c *Client) Health(ctx context.Context) (Health, error) {
	return call[Health](ctx, c, http.MethodGet, "/healthz", struct{}{})
}

// call sends a request and reads its answer.
func call[Ans any](ctx context.Context, c *Client, method, path string, req any) (Ans, error) {
	var ans Ans
	to, err := target(path, req)
	if err != nil {
		return ans, err
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://gputide"+to, http.NoBody)
	if err != nil {
		return ans, err
	}
	resp, err := c.http.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return ans, ctx.Err()
		}
		return ans, &gputide.HintError{
			Err:  fmt.Errorf("the daemon at %s does not answer: %w", c.path, err),
			Hint: "it may be stopping: ask again, or see its log",
		}
	}
	defer resp.Body.Close()
	if got := resp.Header.Get(contractHeader); got != strconv.Itoa(query.Contract) {
		return ans, &gputide.HintError{
			Err:  fmt.Errorf("%w: the daemon at %s speaks contract %q, this program %d", gputide.ErrInvalid, c.path, got, query.Contract),
			Hint: "run the same version of gputide on both sides: restart the daemon",
		}
	}
	return ans, decode(resp, &ans)
}

// decode reads an answer, or the error that came in its place.
func decode(resp *http.Response, into any) error {
	dec := json.NewDecoder(resp.Body)
	if resp.StatusCode == http.StatusOK {
		if err := dec.Decode(into); err != nil {
			return fmt.Errorf("answer of the daemon: %w", err)
		}
		return nil
	}
	var wrapped struct {
		Error *Fault `json:"error"`
	}
	err := dec.Decode(&wrapped)
	if err != nil || wrapped.Error == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxBody))
		return fmt.Errorf("the daemon answers %s", resp.Status)
	}
	return wrapped.Error.asError()
}
