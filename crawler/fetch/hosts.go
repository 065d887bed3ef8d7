package fetch

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/gputide/gputide"
)

// hostList is the allow-list of one provider. An entry is a host name, a suffix
// with a leading dot, or a name in which a label is or contains *.
type hostList []string

// hostsOf collects the hosts of every source of a provider.
func hostsOf(info gputide.Info) hostList {
	var l hostList
	for _, s := range info.Sources {
		for _, h := range s.Hosts {
			l = append(l, strings.ToLower(h))
		}
		if h := hostOfPattern(s.URL); h != "" {
			l = append(l, h)
		}
	}
	return l
}

// hostOfPattern returns the host of an address pattern. A host whose last two
// labels are not literal is no host: it would allow everything.
func hostOfPattern(pattern string) string {
	_, rest, ok := strings.Cut(pattern, "://")
	if !ok {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	labels := strings.Split(host, ".")
	for i, l := range labels {
		if strings.Contains(l, "*") && i >= len(labels)-2 {
			return ""
		}
	}
	return host
}

func (l hostList) allows(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, entry := range l {
		switch {
		case entry == host:
			return true
		case strings.HasPrefix(entry, "."):
			if len(host) > len(entry) && strings.HasSuffix(host, entry) {
				return true
			}
		case strings.Contains(entry, "*"):
			if matchLabels(entry, host) {
				return true
			}
		}
	}
	return false
}

// matchLabels compares label by label: a * stands for part of one label.
func matchLabels(pattern, host string) bool {
	p, h := strings.Split(pattern, "."), strings.Split(host, ".")
	if len(p) != len(h) {
		return false
	}
	for i := range p {
		if h[i] == "" || !glob(p[i], h[i]) {
			return false
		}
	}
	return true
}

// glob matches s against a pattern in which * stands for any text.
func glob(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	if !strings.HasPrefix(s, parts[0]) {
		return false
	}
	s = s[len(parts[0]):]
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return strings.HasSuffix(s, parts[last])
}

// checkURL says why a request may not be sent at all; nil when it may.
func (c *Client) checkURL(u *url.URL) error {
	host := u.Hostname()
	switch {
	case host == "":
		return errNoHost
	case isMetadataHost(host):
		return errMetadata
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopbackHost(host)):
		return errScheme
	case !c.hosts.allows(host):
		return errHost
	}
	return nil
}

// isLoopbackHost reports whether a host name itself says loopback.
func isLoopbackHost(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// isMetadataHost reports whether a host is an instance-metadata service by name
// or literal address.
func isMetadataHost(host string) bool {
	switch strings.ToLower(strings.TrimSuffix(host, ".")) {
	case "metadata.google.internal", "metadata", "metadata.tencentyun.com", "instance-data", "instance-data.ec2.internal":
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && isMetadataAddr(ip)
}
