package providertest

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// maxCadence bounds how rarely a provider is crawled.
const maxCadence = 31 * 24 * time.Hour

// checkInfo proves that the static facts are sound: the docs page, the host
// allow-list and the help are made from them.
func (s *suite) checkInfo(*testing.T) []error {
	i := &s.info
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	p, _, err := s.replay(s.fixture)
	if err != nil {
		return []error{err}
	}
	bad(cmp.Equal(p.Info(), s.info), "Info is not the same each time")
	bad(regexp.MustCompile(`^[a-z][a-z0-9]*$`).MatchString(i.Name), "name %q is no one-word slug", i.Name)
	bad(i.Title != "", "no title")
	bad(isHTTPS(i.Home), "home %q is no https address", i.Home)
	bad(len(i.Sources) > 0, "no source")
	bad(i.Cadence >= time.Minute && i.Cadence <= maxCadence, "cadence %s", i.Cadence)
	bad(i.Deadline >= 0 && i.RequestsPerSecond >= 0, "negative deadline or rate")
	bad(slices.Contains([]gputide.Evidence{
		gputide.EvidenceRecorded, gputide.EvidenceDocumented, gputide.EvidenceComposed,
	}, i.Evidence), "evidence %q", i.Evidence)
	for _, m := range i.Markets {
		bad(m.Valid() && m != gputide.MarketUnknown, "market %q", m)
	}
	for _, p := range i.Paces {
		bad(slices.Contains(i.Markets, p.Market) && len(i.Markets) > 1, "a pace of market %q", p.Market)
		bad(p.Cadence >= time.Minute && p.Cadence < i.Cadence, "market %s every %s", p.Market, p.Cadence)
	}
	for _, c := range i.Currencies {
		bad(c.Valid(), "currency %q", c)
	}
	_, rates := p.(gputide.RateCrawler)
	bad(rates || len(i.Markets) > 0 && len(i.Currencies) > 0, "neither markets with currencies nor rates")
	bad(unique(i.Markets) && unique(i.Currencies) && unique(i.Partitions), "a market, currency or partition twice")
	seen := make(map[string]bool)
	for n := range i.Sources {
		src := &i.Sources[n]
		bad(!seen[src.ID], "source %s twice", src.ID)
		seen[src.ID] = true
		errs = append(errs, checkSource(i.Name, src)...)
	}
	return errs
}

func unique[T comparable](list []T) bool {
	seen := make(map[T]bool)
	for _, v := range list {
		if seen[v] {
			return false
		}
		seen[v] = true
	}
	return true
}

func isHTTPS(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.Scheme == "https" && u.Host != ""
}

func checkSource(provider string, src *gputide.Source) []error {
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("source %s: "+format, append([]any{src.ID}, args...)...))
		}
	}
	bad(regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(src.ID), "the id is no slug")
	bad(src.Title != "", "no title")
	bad(src.Doc == "" || isHTTPS(src.Doc), "doc %q is no https address", src.Doc)
	bad(src.MaxBytes >= 0 && src.Timeout >= 0, "negative cap or timeout")
	if src.URL == "" {
		bad(src.Doc != "", "a built-in table without doc")
		return errs
	}
	bad(hosted(src), "hosts %v do not cover %q", src.Hosts, src.URL)
	switch src.Auth {
	case gputide.AuthNone:
		bad(len(src.Env) == 0, "no auth, but variables %v", src.Env)
	case gputide.AuthKey:
		bad(len(src.Env) > 0 && src.Gives != "", "a key without its variables or what it gives")
		prefix := "GPUTIDE_" + strings.ToUpper(provider) + "_"
		for _, v := range src.Env {
			bad(strings.HasPrefix(v, prefix) && len(v) > len(prefix), "variable %s does not start with %s", v, prefix)
		}
	default:
		errs = append(errs, errors.New("source "+src.ID+": auth "+string(src.Auth)))
	}
	return errs
}

// hosted reports whether a source's address, in which the host may begin with *,
// is https and lies on one of its hosts.
func hosted(src *gputide.Source) bool {
	rest, ok := strings.CutPrefix(src.URL, "https://")
	host, _, _ := strings.Cut(rest, "/")
	if !ok || host == "" {
		return false
	}
	return slices.ContainsFunc(src.Hosts, func(h string) bool {
		return h == host || (strings.HasPrefix(h, ".") && strings.HasSuffix(host, h))
	})
}
