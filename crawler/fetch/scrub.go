package fetch

import (
	"bytes"
	"regexp"
	"strings"
)

// scrubber replaces in bodies what tells who asked: known secrets by value, and
// by name the fields that identify accounts, persons and requests. What it puts
// in their place has the form of what was there.
type scrubber struct {
	redact    *Redactor
	json, xml *regexp.Regexp
	arn       *regexp.Regexp
	count     int
}

func newScrubber(redact *Redactor) *scrubber {
	names := strings.Join(identityFields(), "|")
	return &scrubber{
		redact: redact,
		json:   regexp.MustCompile(`(?i)"(` + names + `)"(\s*:\s*)("(?:[^"\\]|\\.)+"|[0-9]+)`),
		xml:    regexp.MustCompile(`(?i)<(` + names + `)>([^<]+)<`),
		arn:    regexp.MustCompile(`\b(arn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:)([0-9]{12}):`),
	}
}

// identityFields are the names of fields, as patterns without case, that say who
// asked or which request it was. They are no part of any price.
func identityFields() []string {
	return []string{
		`(?:x-?)?(?:amzn-?)?request-?_?ids?`, `trace-?_?ids?`, `correlation-?_?id`, `session-?_?id`, `log_?id`,
		`(?:aws)?(?:payer|owner|main|sub)?_?account-?_?(?:id|name|number)`, `owner-?_?(?:id|alias)`, `(?:owner|sub)?_?uin`, `caller_?uid`,
		`subscription_?id`, `tenant_?id`, `user-?_?(?:id|name)`, `customer_?id`, `domain_?id`, `project_?id`,
		`e-?mail(?:_?address)?`, `client_?token`,
		`(?:access|refresh|id|session|security)_?token`, `api_?key`, `access_?key(?:_?id)?`, `secret(?:_?(?:id|key|access_?key))?`, `password`,
	}
}

// text returns a body without identities.
func (s *scrubber) text(body []byte) []byte {
	for _, secret := range s.redact.known() {
		s.count += bytes.Count(body, []byte(secret))
		body = bytes.ReplaceAll(body, []byte(secret), []byte(redacted))
	}
	body = s.json.ReplaceAllFunc(body, func(m []byte) []byte {
		g := s.json.FindSubmatch(m)
		value := `"` + redacted + `"`
		if g[3][0] != '"' {
			value = "0"
		}
		return s.put(`"` + string(g[1]) + `"` + string(g[2]) + value)
	})
	body = s.xml.ReplaceAllFunc(body, func(m []byte) []byte {
		return s.put("<" + string(s.xml.FindSubmatch(m)[1]) + ">" + redacted + "<")
	})
	return s.arn.ReplaceAllFunc(body, func(m []byte) []byte {
		return s.put(string(s.arn.FindSubmatch(m)[1]) + "000000000000:")
	})
}

func (s *scrubber) put(text string) []byte {
	s.count++
	return []byte(text)
}
