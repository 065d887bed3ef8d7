package fetch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gputide/gputide"
)

const (
	robotsPath = "/robots.txt"

	// robotsTTL is how long a robots.txt holds; a failure to read it for less, so
	// that the next crawl asks again.
	robotsTTL     = 24 * time.Hour
	robotsFailTTL = 5 * time.Minute

	// maxRobots is how much of a robots.txt is read; RFC 9309 asks for 500 KiB.
	maxRobots = 512 << 10
)

var errDisallowed = errors.New("robots.txt disallows it")

// robotsCache holds the rules of every host for the whole process.
type robotsCache struct {
	mu    sync.Mutex
	hosts map[string]*robotsHost
}

// robotsHost is the robots.txt of one host. busy holds one token: who has it may
// touch the rest, and others wait for its answer instead of asking too.
type robotsHost struct {
	busy  chan struct{}
	until time.Time
	rules robotsRules
	err   error
}

func newRobotsCache() *robotsCache { return &robotsCache{hosts: make(map[string]*robotsHost)} }

func (r *robotsCache) of(origin string) *robotsHost {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.hosts[origin]
	if h == nil {
		h = &robotsHost{busy: make(chan struct{}, 1)}
		r.hosts[origin] = h
	}
	return h
}

// robots returns nil when the robots.txt of the host allows the address.
func (c *Client) robots(ctx context.Context, source string, u *url.URL) error {
	origin := strings.ToLower(u.Scheme + "://" + u.Host)
	if c.replay != nil {
		rules, err := c.readRobots(ctx, source, origin)
		if err != nil {
			return err
		}
		return c.obey(source, u, rules)
	}
	h := c.f.robots.of(origin)
	select {
	case h.busy <- struct{}{}:
		defer func() { <-h.busy }()
	case <-ctx.Done():
		return c.failure(ctx, source, u.String(), ctx.Err())
	}
	now := c.f.opt.Now()
	if now.Before(h.until) {
		if h.err != nil {
			return h.err
		}
		return c.obey(source, u, h.rules)
	}
	rules, err := c.readRobots(ctx, source, origin)
	if err != nil && ctx.Err() != nil {
		return err
	}
	h.rules, h.err, h.until = rules, err, now.Add(robotsTTL)
	if err != nil {
		h.until = now.Add(robotsFailTTL)
		return err
	}
	return c.obey(source, u, rules)
}

func (c *Client) obey(source string, u *url.URL, rules robotsRules) error {
	if rules.allows(c.f.opt.UserAgent, u) {
		return nil
	}
	return c.newError(source, u.String(), gputide.ErrBlocked, errDisallowed)
}

// readRobots fetches the rules of a host: a status of 4xx means there are none.
func (c *Client) readRobots(ctx context.Context, source, origin string) (robotsRules, error) {
	ctx = WithRecorder(ctx, func(gputide.Body) {}) // no body of the run
	resp, err := c.Do(ctx, Request{Source: source, URL: origin + robotsPath, Accept: "text/plain,*/*;q=0.1"})
	if fe, ok := errors.AsType[*gputide.FetchError](err); ok && fe.Status/100 == 4 && fe.Status != http.StatusTooManyRequests {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("robots.txt: %w", err)
	}
	defer closeQuietly(resp.Body)
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxRobots))
	if err != nil {
		return nil, fmt.Errorf("robots.txt: %w", err)
	}
	return parseRobots(data), nil
}

// robotsRules are the groups of a robots.txt (RFC 9309): agent, lower case, to
// its rules. Groups of one agent are one group.
type robotsRules map[string][]robotsRule

type robotsRule struct {
	allow   bool
	pattern string
}

func parseRobots(data []byte) robotsRules {
	rules := make(robotsRules)
	var agents []string
	inRules := false
	in := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	in.Buffer(nil, maxRobots+1)
	in.Split(scanRobotsLines)
	for in.Scan() {
		line, _, _ := strings.Cut(in.Text(), "#")
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "user-agent":
			if inRules {
				agents, inRules = nil, false
			}
			agent := productToken(value)
			agents = append(agents, agent)
			if _, ok := rules[agent]; !ok {
				rules[agent] = nil
			}
		case "allow", "disallow":
			inRules = true
			if value == "" {
				continue
			}
			rule := robotsRule{allow: strings.EqualFold(strings.TrimSpace(name), "allow"), pattern: normalPath(value)}
			for _, agent := range agents {
				rules[agent] = append(rules[agent], rule)
			}
		}
	}
	return rules
}

// scanRobotsLines splits at LF, CR LF and CR.
func scanRobotsLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexAny(data, "\r\n"); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// productToken returns the name of an agent without version or comment.
func productToken(agent string) string {
	agent = strings.ToLower(strings.TrimSpace(agent))
	if i := strings.IndexAny(agent, "/ \t("); i > 0 {
		agent = agent[:i]
	}
	return agent
}

// allows applies the group of the agent, else that of every agent: the longest
// matching rule decides, and of two as long the one that allows.
func (r robotsRules) allows(agent string, u *url.URL) bool {
	group, ok := r[productToken(agent)]
	if !ok {
		group = r["*"]
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	if path = normalPath(path); path == robotsPath {
		return true
	}
	allowed, longest := true, -1
	for _, rule := range group {
		if n := len(rule.pattern); n >= longest && rule.match(path) {
			allowed = rule.allow || (n == longest && allowed)
			longest = n
		}
	}
	return allowed
}

func (r robotsRule) match(path string) bool {
	if p, anchored := strings.CutSuffix(r.pattern, "$"); anchored {
		return glob(p, path)
	}
	return glob(r.pattern+"*", path)
}

// normalPath brings percent-encoding into one form: unreserved characters plain,
// all else that is encoded or not ASCII in upper-case hex.
func normalPath(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		encoded := c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2])
		if encoded {
			c = unhex(s[i+1])<<4 | unhex(s[i+2])
			i += 2
		}
		if (encoded && !isUnreserved(c)) || c >= 0x80 {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}

func isUnreserved(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-._~", c) >= 0
}
