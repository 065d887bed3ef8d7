package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"time"
)

// Reasons to refuse an address.
var (
	errNoHost    = errors.New("the address has no host")
	errScheme    = errors.New("only https is asked (http on loopback hosts)")
	errHost      = errors.New("the host is not declared by any source of the provider")
	errMetadata  = errors.New("instance-metadata services are never asked")
	errNotPublic = errors.New("the host resolves to a private address")
	errLoopback  = errors.New("only loopback addresses may be dialled")
)

type dialFunc = func(ctx context.Context, network, addr string) (net.Conn, error)

// dialer refuses every address that is not public, after resolution, so that no
// name can lead a request to a metadata service or into a private network.
type dialer struct {
	dial    dialFunc // nil: a net.Dialer
	proxies sync.Map // host:port of proxies in use, which may be private
}

// newTransport returns the transport of live requests.
func newTransport(dial dialFunc, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	d := &dialer{dial: dial}
	return &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) {
			u, err := proxy(r)
			if u != nil {
				d.proxies.Store(proxyAddr(u), true)
			}
			return u, err
		},
		DialContext:            d.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // bodies are decoded here, zstd included
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        60 * time.Second,
		TLSHandshakeTimeout:    15 * time.Second,
		ResponseHeaderTimeout:  60 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

func proxyAddr(u *url.URL) string {
	port := u.Port()
	if port == "" {
		switch u.Scheme {
		case "https":
			port = "443"
		case "socks5", "socks5h":
			port = "1080"
		default:
			port = "80"
		}
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// DialContext dials addr unless it is, or resolves to, an address that must not
// be asked.
func (d *dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if isMetadataHost(host) {
		return nil, errMetadata
	}
	_, proxy := d.proxies.Load(addr)
	allow := func(ip netip.Addr) error {
		switch {
		case isMetadataAddr(ip):
			return errMetadata
		case proxy || isPublic(ip) || (isLoopbackHost(host) && ip.IsLoopback()):
			return nil
		}
		return errNotPublic
	}
	if d.dial != nil {
		if ip, err := netip.ParseAddr(host); err == nil {
			if err := allow(ip.Unmap()); err != nil {
				return nil, err
			}
		}
		return d.dial(ctx, network, addr)
	}
	nd := net.Dialer{Timeout: 20 * time.Second, KeepAlive: 30 * time.Second, Control: control(allow)}
	return nd.DialContext(ctx, network, addr)
}

// control makes a net.Dialer ask allow about each resolved address.
func control(allow func(netip.Addr) error) func(string, string, syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return allow(ap.Addr().WithZone("").Unmap())
	}
}

// DialLoopback dials loopback addresses and refuses all others. It is the
// [Options.Dial] of tests that serve their own answers.
func DialLoopback(ctx context.Context, network, addr string) (net.Conn, error) {
	nd := net.Dialer{Timeout: 5 * time.Second, Control: control(func(ip netip.Addr) error {
		if !ip.IsLoopback() {
			return errLoopback
		}
		return nil
	})}
	return nd.DialContext(ctx, network, addr)
}

// isMetadataAddr reports whether ip is an instance-metadata service of a cloud.
func isMetadataAddr(ip netip.Addr) bool {
	ip = ip.WithZone("").Unmap()
	switch ip.String() {
	case "169.254.169.254", // AWS, GCP, Azure and most others
		"169.254.170.2",   // AWS container credentials
		"169.254.0.23",    // Tencent
		"100.100.100.200", // Alibaba
		"168.63.129.16",   // Azure wire server
		"fd00:ec2::254",   // AWS over IPv6
		"fd20:ce::254":    // GCP over IPv6
		return true
	}
	return ip.IsLinkLocalUnicast()
}

// isPublic reports whether ip is a unicast address of the public internet.
func isPublic(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, p := range notPublic() {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}

// notPublic lists what IsPrivate does not know: shared, protocol, documentation,
// benchmark and reserved space, and the IPv6 ranges that carry an IPv4 address.
func notPublic() []netip.Prefix {
	return []netip.Prefix{
		netip.PrefixFrom(netip.AddrFrom4([4]byte{0, 0, 0, 0}), 8),
		netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64, 0, 0}), 10),
		netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 0, 0}), 24),
		netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, 0}), 24),
		netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, 0, 0}), 15),
		netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, 100, 0}), 24),
		netip.PrefixFrom(netip.AddrFrom4([4]byte{203, 0, 113, 0}), 24),
		netip.PrefixFrom(netip.AddrFrom4([4]byte{240, 0, 0, 0}), 4),
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0x00, 0x64, 0xff, 0x9b}), 32),
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8}), 32),
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 0x02}), 16),
		netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 0x01}), 32),
	}
}
