package fetch

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gputide/gputide"
)

// Defaults of a [Fetcher] and of sources that state nothing else.
const (
	// DefaultUserAgent names the project and where its operator can be asked.
	DefaultUserAgent = "gputide/1 (+https://github.com/gputide/gputide)"

	// DefaultMaxBytes is the cap of one decoded body.
	DefaultMaxBytes int64 = 64 << 20

	// DefaultTimeout is the time one attempt may take, its body included.
	DefaultTimeout = 2 * time.Minute

	// DefaultAttempts is how often a request is tried in all.
	DefaultAttempts = 4

	// DefaultMaxRetryAfter is the longest Retry-After that is waited for. A source
	// that asks for more is left alone: the request fails at once with the delay.
	DefaultMaxRetryAfter = 2 * time.Minute
)

// Options configures a [Fetcher]. The zero value is a live client without
// archive or log.
type Options struct {
	// UserAgent is sent with every request; empty is [DefaultUserAgent].
	UserAgent string

	// Logger takes one debug line per attempt; nil discards them. It should be
	// built on [Redactor.Handler].
	Logger *slog.Logger

	// Now is the clock; nil is time.Now. Waiting is done with real timers.
	Now func() time.Time

	// Transport carries the requests; nil is a transport of the fetcher's own,
	// which dials public addresses only, and loopback where the host asked for is
	// a loopback host.
	Transport http.RoundTripper

	// Dial replaces the dialler of the own transport; nil is a net.Dialer. Host
	// names arrive unresolved, metadata services and private literals never.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Proxy chooses a proxy as in http.Transport; nil is http.ProxyFromEnvironment.
	Proxy func(*http.Request) (*url.URL, error)

	// Archive keeps what live requests return; nil keeps nothing.
	Archive *Archive

	// Fixtures answers every request instead of the network; nil is live. Under
	// replay nothing is archived, limited or waited for.
	Fixtures *Fixtures

	// NoConditional switches conditional requests off: every body is downloaded
	// again, as a run that needs what a reduced body lacks must do.
	NoConditional bool

	// Secrets are credential values to keep out of every text.
	Secrets []string

	// Redactor is the one the log handler uses, so that secrets learnt later are
	// known to both; nil makes one.
	Redactor *Redactor

	// Attempts is how often a request is tried in all; 0 is [DefaultAttempts].
	Attempts int
}

// Fetcher is the HTTP client of one process. It holds the limits of every host
// and is safe for concurrent use.
type Fetcher struct {
	opt       Options
	log       *slog.Logger
	redact    *Redactor
	base      http.RoundTripper // the network; nil under replay
	limits    *limits
	robots    *robotsCache
	codecs    *codecs
	unbounded *served // what replay served outside any run
}

// New returns a fetcher.
func New(opt Options) *Fetcher {
	if opt.UserAgent == "" {
		opt.UserAgent = DefaultUserAgent
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Attempts <= 0 {
		opt.Attempts = DefaultAttempts
	}
	if opt.Redactor == nil {
		opt.Redactor = NewRedactor()
	}
	for _, s := range opt.Secrets {
		opt.Redactor.Add(s)
	}
	f := &Fetcher{
		opt:       opt,
		log:       opt.Logger,
		redact:    opt.Redactor,
		limits:    newLimits(),
		robots:    newRobotsCache(),
		codecs:    newCodecs(),
		unbounded: newServed(),
	}
	if opt.Fixtures == nil {
		f.base = opt.Transport
		if f.base == nil {
			f.base = newTransport(opt.Dial, opt.Proxy)
		}
	}
	return f
}

// Client returns the fetcher bound to the sources, hosts and limits of one
// provider.
func (f *Fetcher) Client(info gputide.Info) *Client {
	c := &Client{f: f, info: info, hosts: hostsOf(info)}
	if f.opt.Fixtures != nil {
		c.replay = &replayTransport{
			provider: info.Name,
			set:      f.opt.Fixtures.sets[info.Name],
			redact:   f.redact,
			served:   f.unbounded,
		}
	}
	return c
}

// Replaying reports whether requests are answered from fixtures.
func (f *Fetcher) Replaying() bool { return f.opt.Fixtures != nil }

// Redactor returns what keeps credentials out of texts.
func (f *Fetcher) Redactor() *Redactor { return f.redact }

// Close closes idle connections. The fetcher stays usable.
func (f *Fetcher) Close() {
	if t, ok := f.base.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// Client is the fetcher as one provider may use it. It is safe for concurrent
// use.
type Client struct {
	f      *Fetcher
	info   gputide.Info
	hosts  hostList
	replay *replayTransport // nil when live
	once   sync.Map         // source ID → *http.Client
}

// Replaying reports whether requests are answered from a fixture or an archived
// run. Credentials do not matter then: use dummies.
func (c *Client) Replaying() bool { return c.replay != nil }

// CapturedAt returns when the fixture being replayed was captured, and false
// when live or when there is no fixture of this provider.
func (c *Client) CapturedAt() (time.Time, bool) {
	if c.replay == nil || c.replay.set == nil {
		return time.Time{}, false
	}
	return c.replay.set.CapturedAt, true
}

// AddSecret registers a credential learnt at run time, such as an access token.
func (c *Client) AddSecret(value string) { c.f.redact.Add(value) }

// source returns the declared source, with defaults filled in.
func (c *Client) source(id string) (gputide.Source, bool) {
	s, ok := c.info.Source(id)
	if s.MaxBytes <= 0 {
		s.MaxBytes = DefaultMaxBytes
	}
	if s.Timeout <= 0 {
		s.Timeout = DefaultTimeout
	}
	return s, ok
}
