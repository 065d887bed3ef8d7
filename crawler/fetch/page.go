package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"github.com/gocolly/colly/v2"
	"golang.org/x/net/html/charset"

	"github.com/gputide/gputide"
)

const acceptHTML = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"

// Page reads an HTML page and returns it parsed, with the redacted address it
// finally came from. Text in any declared character set arrives as UTF-8. The
// robots.txt of every host on the way is obeyed: what it disallows is
// ErrBlocked, as are bot and login walls; while it cannot be read the page is
// ErrUnavailable. A body that is no HTML is a *gputide.DriftError.
func (c *Client) Page(ctx context.Context, source, address string) (*goquery.Document, string, error) {
	shown := c.f.redact.URL(address)
	u, err := url.Parse(address)
	if err != nil {
		return nil, shown, c.newError(source, address, gputide.ErrInvalid, errors.New("malformed address"))
	}
	if err := c.robots(ctx, source, u); err != nil {
		return nil, shown, err
	}
	ca := &call{req: Request{Source: source}}
	col := c.collector(withCall(ctx, ca), source)
	var doc *goquery.Document
	contentType := "nothing"
	col.OnResponse(func(r *colly.Response) {
		contentType = r.Headers.Get("Content-Type")
		shown = c.f.redact.URL(r.Request.URL.String())
	})
	col.OnHTML("html", func(e *colly.HTMLElement) {
		if doc == nil && len(e.DOM.Nodes) > 0 && e.DOM.Nodes[0].Parent != nil {
			doc = goquery.NewDocumentFromNode(e.DOM.Nodes[0].Parent)
		}
	})
	if err := col.Visit(address); err != nil {
		return nil, shown, c.failure(ctx, source, address, err)
	}
	if doc == nil {
		return nil, shown, &gputide.DriftError{Source: source, Path: "page", Want: "HTML", Got: clip(contentType)}
	}
	if title := strings.ToLower(strings.TrimSpace(doc.Find("title").First().Text())); isWallTitle(title) {
		return nil, shown, c.newError(source, address, gputide.ErrBlocked, fmt.Errorf("a bot wall answered (%s)", title))
	}
	return doc, shown, nil
}

// collector returns a colly collector on the transport of a source. It is built
// by hand because colly's constructor reads settings from the environment.
func (c *Client) collector(ctx context.Context, source string) *colly.Collector {
	src, _ := c.source(source)
	col := &colly.Collector{}
	col.Init()
	col.Context = ctx
	col.UserAgent = c.f.opt.UserAgent
	col.MaxBodySize = int(src.MaxBytes) + 1 // colly cuts silently: the transport must object first
	col.AllowURLRevisit = true
	col.IgnoreRobotsTxt = true // obeyed by Page and by the redirect check
	col.SetClient(&http.Client{
		Transport: &pageTransport{next: &transport{c: c, source: source}},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if err := c.checkRedirect(source, req, via); err != nil {
				return err
			}
			return c.robots(ctx, source, req.URL)
		},
	})
	return col
}

// pageTransport hands colly what it can use: whole bodies in UTF-8, and refusals
// as errors with their meaning.
type pageTransport struct{ next *transport }

func (t *pageTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if a := req.Header.Get("Accept"); a == "" || a == "*/*" {
		req = req.Clone(req.Context())
		req.Header.Set("Accept", acceptHTML)
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil || isRedirect(resp) {
		return resp, err
	}
	defer closeQuietly(resp.Body)
	if resp.StatusCode/100 != 2 {
		return nil, t.next.c.statusError(t.next.source, resp, callOf(req.Context()))
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	text, err := utf8Text(data, resp.Header.Get("Content-Type"))
	if err != nil {
		return nil, t.next.c.newError(t.next.source, req.URL.String(), gputide.ErrSchemaDrift, err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	resp.Header.Set("Content-Type", withoutCharset(resp.Header.Get("Content-Type"), text))
	return resp, nil
}

func isRedirect(resp *http.Response) bool {
	return resp.StatusCode/100 == 3 && resp.Header.Get("Location") != ""
}

// utf8Text converts a page to UTF-8. The declared character set holds; without
// one, text that is UTF-8 is taken as that, and the rest as the web's default.
func utf8Text(data []byte, contentType string) ([]byte, error) {
	enc, name, certain := charset.DetermineEncoding(data, contentType)
	if name == "utf-8" || (!certain && utf8.Valid(data)) {
		return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), nil
	}
	return enc.NewDecoder().Bytes(data)
}

// withoutCharset returns the media type of a text that is UTF-8 now.
func withoutCharset(contentType string, text []byte) string {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.TrimSpace(media)
	if media == "" && looksLikeHTML("", text) {
		media = "text/html"
	}
	return media + "; charset=utf-8"
}

// isWallTitle reports whether the title of a page with status 200 is that of a
// challenge.
func isWallTitle(title string) bool {
	switch title {
	case "just a moment...", "attention required! | cloudflare", "access denied", "are you a robot?", "captcha",
		"security check", "please verify you are a human", "人机验证", "安全验证":
		return true
	}
	return false
}
