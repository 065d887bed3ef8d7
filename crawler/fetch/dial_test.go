package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gputide/gputide"
)

func TestIsPublic(t *testing.T) {
	for addr, want := range map[string]bool{
		"8.8.8.8": true, "52.94.236.248": true, "2600:1f18::1": true, "47.88.0.1": true,
		"127.0.0.1": false, "10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "0.0.0.0": false,
		"100.64.0.1": false, "100.100.100.200": false, "192.0.0.192": false, "198.18.0.1": false, "224.0.0.1": false, "255.255.255.255": false, "240.1.1.1": false,
		"::1": false, "::": false, "fe80::1": false, "fd00:ec2::254": false, "fc00::1": false, "ff02::1": false,
		"64:ff9b::a9fe:a9fe": false, "2002:a9fe:a9fe::1": false, "2001:db8::1": false, "203.0.113.9": false,
	} {
		if got := isPublic(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %t", addr, got)
		}
	}
}

// TestDialRefuses: whatever a name resolves to, private and metadata addresses
// are not connected to.
func TestDialRefuses(t *testing.T) {
	d := &dialer{}
	tests := []struct {
		addr string
		want error
	}{
		{"169.254.169.254:80", errMetadata},
		{"[fd00:ec2::254]:80", errMetadata},
		{"[::ffff:169.254.169.254]:80", errMetadata},
		{"100.100.100.200:80", errMetadata},
		{"168.63.129.16:80", errMetadata},
		{"metadata.google.internal:80", errMetadata},
		{"METADATA.google.internal.:80", errMetadata},
		{"10.1.2.3:443", errNotPublic},
		{"[::ffff:10.1.2.3]:443", errNotPublic},
		{"0.0.0.0:443", errNotPublic},
		{"192.168.0.1:443", errNotPublic},
	}
	for _, tt := range tests {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		conn, err := d.DialContext(ctx, "tcp", tt.addr)
		cancel()
		if conn != nil {
			_ = conn.Close()
		}
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.addr, err, tt.want)
		}
	}
	// A name that is not a loopback name must not lead to loopback.
	allow := 0
	err := control(func(ip netip.Addr) error {
		allow++
		if ip != netip.MustParseAddr("127.0.0.1") {
			t.Errorf("asked about %s", ip)
		}
		return errNotPublic
	})("tcp4", "127.0.0.1:80", nil)
	if !errors.Is(err, errNotPublic) || allow != 1 {
		t.Errorf("control: %v", err)
	}
}

// TestInjectedDial: an own dialler sees names, never refused literals.
func TestInjectedDial(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	hole := func(_ context.Context, _, addr string) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, addr)
		return nil, errors.New("no route")
	}
	info := gputide.Info{Name: "acme", Sources: []gputide.Source{{ID: "list", Hosts: []string{"prices.example", "169.254.169.254", "10.0.0.1"}}}}
	c := New(Options{Dial: hole, Attempts: 1, Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }}).Client(info)
	for addr, want := range map[string]error{
		"https://prices.example/x":         gputide.ErrUnavailable,
		"https://169.254.169.254/latest":   gputide.ErrInvalid,
		"https://10.0.0.1/x":               gputide.ErrInvalid,
		"http://prices.example/x":          gputide.ErrInvalid,
		"https://user@other.example/x":     gputide.ErrInvalid,
		"https://metadata.google.internal": gputide.ErrInvalid,
		"ftp://prices.example/x":           gputide.ErrInvalid,
		"https:///x":                       gputide.ErrInvalid,
		"%":                                gputide.ErrInvalid,
	} {
		if _, err := c.Do(t.Context(), Request{Source: "list", URL: addr}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", addr, err, want)
		}
	}
	if len(seen) != 1 || seen[0] != "prices.example:443" {
		t.Errorf("dialled %v", seen)
	}
	if _, err := c.Do(t.Context(), Request{Source: "nope", URL: "https://prices.example"}); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("undeclared source: %v", err)
	}
}

func TestProxy(t *testing.T) {
	var seen []string
	d := New(Options{
		Attempts: 1,
		Proxy:    func(*http.Request) (*url.URL, error) { return url.Parse("http://10.9.9.9:3128") },
		Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
			seen = append(seen, addr)
			return nil, errors.New("no route")
		},
	})
	c := d.Client(gputide.Info{Name: "acme", Sources: []gputide.Source{{ID: "list", Hosts: []string{"prices.example"}}}})
	if _, err := c.Do(t.Context(), Request{Source: "list", URL: "https://prices.example/x"}); !errors.Is(err, gputide.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	if len(seen) != 1 || seen[0] != "10.9.9.9:3128" {
		t.Errorf("dialled %v", seen)
	}
	for in, want := range map[string]string{"http://p": "p:80", "https://p": "p:443", "socks5://p": "p:1080", "http://[::1]:9": "[::1]:9"} {
		u, err := url.Parse(in)
		fatal(t, err)
		if got := proxyAddr(u); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// TestRealSockets: the own transport over loopback, and the refusal to leave it.
func TestRealSockets(t *testing.T) {
	srv := httptest.NewServer(sequence(text("fine"), func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.(*net.TCPConn).SetLinger(0) // an RST
		_ = conn.Close()
	}))
	defer srv.Close()
	for _, dial := range []dialFunc{nil, DialLoopback} {
		f := New(Options{Dial: dial, Attempts: 1})
		defer f.Close()
		info := gputide.Info{Name: "acme", RequestsPerSecond: 1000, Sources: []gputide.Source{{ID: "list", URL: srv.URL, Hosts: []string{"192.0.2.1"}}}}
		c := f.Client(info)
		resp, err := c.Do(t.Context(), Request{Source: "list", URL: srv.URL})
		if dial == nil {
			fatal(t, err)
			fatal(t, resp.Body.Close())
			continue
		}
		if !errors.Is(err, gputide.ErrUnavailable) {
			t.Errorf("reset: %v", err)
		}
	}
	if _, err := DialLoopback(t.Context(), "tcp", "192.0.2.1:80"); !errors.Is(err, errLoopback) {
		t.Errorf("left loopback: %v", err)
	}
}

func TestHosts(t *testing.T) {
	info := gputide.Info{Sources: []gputide.Source{
		{URL: "https://Api.Example.com:8443/v1/*/x", Hosts: []string{".amazonaws.com", "cdn.example.net"}},
		{URL: "https://ec2.*.cloud.example.cn/?Action=*"},
		{URL: "https://*/everything"},
		{URL: "https://*.com/everything"},
		{URL: ""},
		{URL: "http://[::1]:80/x"},
	}}
	l := hostsOf(info)
	for host, want := range map[string]bool{
		"api.example.com": true, "API.example.com": true, "api.example.com.": true, "x.api.example.com": false, "example.com": false,
		"ec2.us-east-1.amazonaws.com": true, "amazonaws.com": false, "evilamazonaws.com": false, "amazonaws.com.evil.net": false,
		"cdn.example.net": true, "ec2.cn-north-1.cloud.example.cn": true, "ec2.a.b.cloud.example.cn": false, "ec2..cloud.example.cn": false,
		"anything.net": false, "anything.com": false, "": false, "::1": true,
	} {
		if got := l.allows(host); got != want {
			t.Errorf("%q: %t (%s)", host, got, strings.Join(l, " "))
		}
	}
}

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "abc", true},
		{"a*", "abc", true},
		{"*c", "abc", true},
		{"a*c", "abc", true},
		{"a*c", "ac", true},
		{"a*c", "ab", false},
		{"ab*bc", "abc", false},
		{"a*b*c", "a-b-c", true},
		{"a*b*c", "a-c-b", false},
		{"**", "x", true},
		{"a*a", "a", false},
		{"*a*a*", "aa", true},
	} {
		if got := glob(tt.pattern, tt.s); got != tt.want {
			t.Errorf("%q, %q: %t", tt.pattern, tt.s, got)
		}
	}
}
