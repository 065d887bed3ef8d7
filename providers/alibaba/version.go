package alibaba

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pages are the pricing pages by their sources.
type pages map[string]pricingPage

// pricingPage is the text of a page, or why there is none.
type pricingPage struct {
	text string
	err  error
}

// pages reads the page of each site.
func (p *Provider) pages(ctx context.Context) pages {
	out := make(pages)
	for _, s := range sites() {
		var page pricingPage
		doc, _, err := p.http.Page(ctx, s.page, s.pageURL)
		if err == nil {
			page.text, err = doc.Html()
		}
		page.err = err
		out[s.page] = page
	}
	return out
}

// version returns the version of the list of a site, which stands in the
// addresses of the files that a pricing page loads: in its own page, or in that
// of the other site.
func (p pages) version(s *site) (string, error) {
	own := p[s.page]
	if v := newest(own.text, s.folder); v != "" {
		return v, nil
	}
	for _, other := range sites() {
		if v := newest(p[other.page].text, s.folder); v != "" {
			return v, nil
		}
	}
	if own.err != nil {
		return "", own.err
	}
	return "", drift(s.page, listHost+"/aliyun/"+s.folder, "a version", "none")
}

// slash is a slash as it stands in markup and in scripts.
const slash = `(?:\\?/|\\u002[Ff])`

// newest returns the highest version of a folder of lists that a text names, ""
// when it names none. Old lists stay where they are, so that a page may still
// load a file of one.
func newest(text, folder string) string {
	address := regexp.MustCompile(regexp.QuoteMeta(listHost) + slash + "aliyun" + slash + regexp.QuoteMeta(folder) + slash +
		`(\d{1,4}(?:\.\d{1,6}){1,3})(?:\\|[/"'?&\s])`)
	best := ""
	for _, m := range address.FindAllStringSubmatch(text, -1) {
		if best == "" || compareVersions(m[1], best) > 0 {
			best = m[1]
		}
	}
	return best
}

// compareVersions compares versions of digits and points by their numbers.
func compareVersions(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		n, _ := strconv.Atoi(x) // digits, by the pattern
		m, _ := strconv.Atoi(y)
		return cmp.Compare(n, m)
	})
}
