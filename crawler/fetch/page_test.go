package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gputide/gputide"
)

const pageHTML = `<!DOCTYPE html><html><head><title>GPU pricing</title></head><body><table><tr><td>H100</td><td>¥20.5</td></tr></table></body></html>`

func html(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		_, _ = io.WriteString(w, body)
	}
}

func TestPage(t *testing.T) {
	const gbk = "<html><head><meta charset=\"gbk\"><title>x</title></head><body><table><tr><td>H100</td><td>\xa3\xa420.5</td></tr></table></body></html>"
	tests := []struct {
		name    string
		robots  http.HandlerFunc
		page    http.HandlerFunc
		want    error
		price   string
		url     string
		visited bool // the page itself was asked for
	}{
		{name: "fine", page: html("text/html; charset=utf-8", pageHTML), price: "¥20.5", visited: true},
		{name: "no charset declared", page: html("text/html", pageHTML), price: "¥20.5", visited: true},
		{name: "no charset, ASCII for long", page: html("text/html", strings.Replace(pageHTML, "<body>", "<body>"+strings.Repeat("<p>x</p>", 500), 1)), price: "¥20.5", visited: true},
		{name: "no content type", page: html("", pageHTML), price: "¥20.5", visited: true},
		{name: "byte order mark", page: html("text/html", "\xef\xbb\xbf"+pageHTML), price: "¥20.5", visited: true},
		{name: "gbk by header", page: html("text/html; charset=gb2312", strings.Replace(gbk, "gbk", "x", 1)), price: "￥20.5", visited: true},
		{name: "gbk by meta", page: html("text/html", gbk), price: "￥20.5", visited: true},
		{name: "latin 1", page: html("text/html; charset=iso-8859-1", strings.Replace(pageHTML, "¥", "\xa5", 1)), price: "¥20.5", visited: true},
		{name: "XHTML", page: html("application/xhtml+xml", pageHTML), price: "¥20.5", visited: true},
		{name: "redirect", page: sequence(status(301, "Location", "/pricing/new?sig=abc"), html("text/html", pageHTML)), price: "¥20.5", url: "http://localhost/pricing/new?sig=REDACTED", visited: true},
		{name: "redirect to what robots.txt disallows", robots: text("User-agent: *\nDisallow: /private"), page: sequence(status(301, "Location", "/private/x"), html("text/html", pageHTML)), want: gputide.ErrBlocked, visited: true},
		{name: "JSON", page: html("application/json", `{"a":1}`), want: gputide.ErrSchemaDrift, visited: true},
		{name: "empty", page: html("text/plain", ""), want: gputide.ErrSchemaDrift, visited: true},
		{name: "disallowed", robots: text("User-agent: gputide\nDisallow: /pricing"), page: html("text/html", pageHTML), want: gputide.ErrBlocked},
		{name: "others are disallowed", robots: text("User-agent: otherbot\nDisallow: /"), page: html("text/html", pageHTML), price: "¥20.5", visited: true},
		{name: "robots.txt forbidden", robots: status(403), page: html("text/html", pageHTML), price: "¥20.5", visited: true},
		{name: "robots.txt down", robots: status(500), page: html("text/html", pageHTML), want: gputide.ErrUnavailable},
		{name: "robots.txt hangs", robots: hang, page: html("text/html", pageHTML), want: gputide.ErrUnavailable},
		{name: "robots.txt moved", robots: sequence(status(302, "Location", "/robots.txt?2"), text("User-agent: *\nDisallow: /p")), page: html("text/html", pageHTML), want: gputide.ErrBlocked},
		{name: "401", page: status(401), want: gputide.ErrAuth, visited: true},
		{name: "404", page: status(404), want: gputide.ErrNotFound, visited: true},
		{name: "429", page: status(429), want: gputide.ErrRateLimited, visited: true},
		{name: "500", page: status(500), want: gputide.ErrUnavailable, visited: true},
		{name: "captcha", page: wall(403, "<html>captcha"), want: gputide.ErrBlocked, visited: true},
		{name: "challenge with 200", page: html("text/html", "<html><title> Just a moment... </title></html>"), want: gputide.ErrBlocked, visited: true},
		{name: "login", page: status(302, "Location", "/en/login"), want: gputide.ErrBlocked, visited: true},
		{name: "cut", page: raw("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<html><table>"), want: gputide.ErrSchemaDrift, visited: true},
		{name: "too large", page: html("text/html", pageHTML+strings.Repeat(" ", 1<<20)), want: gputide.ErrTooLarge, visited: true},
		{name: "reset", page: raw(""), want: gputide.ErrUnavailable, visited: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				visited := false
				mux := http.NewServeMux()
				if tt.robots != nil {
					mux.HandleFunc("/robots.txt", tt.robots)
				}
				mux.HandleFunc("/pricing", func(w http.ResponseWriter, r *http.Request) {
					visited = true
					if !strings.HasPrefix(r.Header.Get("User-Agent"), "gputide/") || !strings.Contains(r.Header.Get("Accept"), "text/html") {
						t.Errorf("headers %v", r.Header)
					}
					tt.page(w, r)
				})
				mux.HandleFunc("/pricing/new", tt.page)
				info := testInfo()
				info.Sources[1].MaxBytes = 1 << 20
				w, stop := newWorld(mux, Options{}, info)
				defer stop()
				doc, url, err := w.Page(WithRecorder(t.Context(), w.record), "page", "http://localhost/pricing?token=abc")
				if visited != tt.visited {
					t.Errorf("page asked for: %t", visited)
				}
				if tt.want != nil {
					if !errors.Is(err, tt.want) || strings.Contains(err.Error(), "abc") {
						t.Errorf("error %v, want %v", err, tt.want)
					}
					return
				}
				fatal(t, err)
				if got := doc.Find("td").Eq(1).Text(); got != tt.price {
					t.Errorf("price %q, want %q", got, tt.price)
				}
				if tt.url == "" {
					tt.url = "http://localhost/pricing?token=REDACTED"
				}
				if url != tt.url {
					t.Errorf("url %s", url)
				}
				if len(w.bodies) != 1 || w.bodies[0].URL != url {
					t.Errorf("recorded %+v", w.bodies)
				}
			})
		})
	}
}

// TestRobotsCache: one robots.txt a day and host, a failure for less, and those
// who wait for it do not ask too.
func TestRobotsCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		answer := status(500)
		mux := http.NewServeMux()
		mux.HandleFunc("/robots.txt", func(w http.ResponseWriter, r *http.Request) {
			asked++
			time.Sleep(time.Second)
			answer(w, r)
		})
		mux.HandleFunc("/", html("text/html", pageHTML))
		w, stop := newWorld(mux, Options{}, testInfo())
		defer stop()
		page := func(want error) {
			t.Helper()
			if _, _, err := w.Page(t.Context(), "page", "http://localhost/pricing"); !errors.Is(err, want) {
				t.Errorf("error %v, want %v", err, want)
			}
		}
		page(gputide.ErrUnavailable)
		page(gputide.ErrUnavailable)
		if asked != 4 {
			t.Errorf("asked %d times while it fails", asked)
		}
		asked, answer = 0, text("User-agent: *\nDisallow: /x")
		time.Sleep(robotsFailTTL)
		done := make(chan error)
		for range 5 {
			go func() {
				_, _, err := w.Page(t.Context(), "page", "http://localhost/pricing")
				done <- err
			}()
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, _, err := w.Page(ctx, "page", "http://localhost/pricing"); !errors.Is(err, gputide.ErrUnavailable) {
			t.Errorf("impatient: %v", err)
		}
		for range 5 {
			fatal(t, <-done)
		}
		time.Sleep(robotsTTL - time.Minute)
		page(nil)
		if asked != 1 {
			t.Errorf("asked %d times in a day", asked)
		}
		answer = text("User-agent: *\nDisallow: /")
		time.Sleep(2 * time.Minute)
		page(gputide.ErrBlocked)
		if asked != 2 {
			t.Errorf("asked %d times", asked)
		}
	})
}

func TestRobotsRules(t *testing.T) {
	const groups = "# hello\r\nUser-Agent: other\nDisallow: /\n\nuser-agent: GPUtide/2.0\nuser-agent: third\nDisallow: /a\nAllow: /a/b # yes\n\n" +
		"User-agent: *\nDisallow: /star\nUser-agent: gputide\nDisallow: /late\nSitemap: https://x/y\nCrawl-delay: 5\n"
	rules := func(lines string) string { return "User-agent: *\n" + lines }
	tests := []struct {
		robots, path string
		want         bool
	}{
		{"", "/x", true},
		{"<html>not found</html>", "/x", true},
		{"Disallow: /", "/x", true}, // no group
		{groups, "/a", false},
		{groups, "/a/c", false},
		{groups, "/a/b", true},
		{groups, "/late", false}, // groups of one agent are one
		{groups, "/star", true},  // its own group holds
		{rules("Disallow:"), "/x", true},
		{rules("Disallow: /"), "/", false},
		{rules("Disallow: /"), "/robots.txt", true},
		{rules("Disallow: /"), "", false},
		{rules("Disallow: /x\nAllow: /x"), "/x", true}, // a tie allows
		{rules("Allow: /x\nDisallow: /x"), "/x", true},
		{rules("Disallow: /pricing/\nAllow: /pricing/gpu"), "/pricing/gpu?c=1", true},
		{rules("Disallow: /*.json$"), "/a/b.json", false},
		{rules("Disallow: /*.json$"), "/a/b.json?x", true},
		{rules("Disallow: /*?*sort="), "/p?q=1&sort=2", false},
		{rules("Disallow: /*/c"), "/a/b/c", false},
		{rules("Disallow: /a%3cd"), "/a%3Cd", false},
		{rules("Disallow: /a<d"), "/a%3Cd", true},
		{rules("Disallow: /%7Ejoe/"), "/~joe/x", false},
		{rules("Disallow: /价格"), "/%E4%BB%B7%E6%A0%BC/gpu", false},
		{"\xef\xbb\xbfUser-agent: *\rDisallow: /x", "/x", false},
		{"user-agent : *\ndisallow : /x", "/x", false},
	}
	for _, tt := range tests {
		u, err := url.Parse("https://h" + tt.path)
		fatal(t, err)
		if got := parseRobots([]byte(tt.robots)).allows(DefaultUserAgent, u); got != tt.want {
			t.Errorf("%q under %q: %t", tt.path, tt.robots, got)
		}
	}
}

// FuzzRobots: parsing ends, and what is allowed does not depend on how the
// address is encoded.
func FuzzRobots(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\nAllow: /%41"), "/aAb?q=1")
	f.Add([]byte("\r\n#\nuser-agent:gputide\ndisallow:*"), "/")
	f.Fuzz(func(t *testing.T, robots []byte, path string) {
		u, err := url.Parse("https://h/")
		fatal(t, err)
		u = u.JoinPath(path)
		rules := parseRobots(robots)
		plain := rules.allows(DefaultUserAgent, u)
		var enc strings.Builder
		for _, c := range []byte(u.EscapedPath()) {
			if isUnreserved(c) && c != '%' && !strings.Contains(u.EscapedPath(), "%") {
				fmt.Fprintf(&enc, "%%%02x", c)
			} else {
				enc.WriteByte(c)
			}
		}
		if v, err := url.Parse("https://h" + enc.String()); err == nil && normalPath(v.EscapedPath()) == normalPath(u.EscapedPath()) {
			if got := rules.allows(DefaultUserAgent, v); got != plain {
				t.Errorf("%s: %t, %s: %t", u, plain, v, got)
			}
		}
	})
}
