package azure

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// arm is a signed-in caller of Azure Resource Manager.
type arm struct {
	*Provider
	subscription string
	header       map[string][]string
}

// signIn returns a caller with an access token. Without a service principal it
// is ErrNeedsKey.
func (p *Provider) signIn(ctx context.Context) (*arm, error) {
	a := &arm{Provider: p, subscription: p.cfg.SubscriptionID}
	if p.http.Replaying() {
		if a.subscription == "" {
			a.subscription = "replay"
		}
		a.header = map[string][]string{"Authorization": {"Bearer replay"}}
		return a, nil
	}
	if p.cfg.TenantID == "" || p.cfg.ClientID == "" || p.cfg.ClientSecret == "" || p.cfg.SubscriptionID == "" {
		return nil, &gputide.HintError{
			Err:  gputide.ErrNeedsKey,
			Hint: "set " + envTenant + ", " + envClient + ", " + envSecret + " and " + envSubscription,
		}
	}
	token, err := p.token(ctx)
	if err != nil {
		return nil, err
	}
	a.header = map[string][]string{"Authorization": {"Bearer " + token}}
	return a, nil
}

// token asks for an access token by the client credentials grant.
func (p *Provider) token(ctx context.Context) (string, error) {
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {p.cfg.ClientID}, "client_secret": {p.cfg.ClientSecret},
		"scope": {armURL + "/.default"},
	}
	var answer struct {
		Token string `json:"access_token"`
	}
	_, err := p.http.JSON(ctx, fetch.Request{
		Source: sourceToken, URL: "https://" + loginHost + "/" + url.PathEscape(p.cfg.TenantID) + "/oauth2/v2.0/token",
		Header: map[string][]string{"Content-Type": {"application/x-www-form-urlencoded"}}, Body: []byte(form.Encode()), NoArchive: true,
	}, &answer)
	switch {
	case err != nil:
		return "", err
	case answer.Token == "":
		return "", drift(sourceToken, "access_token", "a token", "none")
	}
	p.http.AddSecret(answer.Token)
	return answer.Token, nil
}

// values reads a list of Azure Resource Manager to its end, hands each row to row,
// and returns the address of the first page.
func (a *arm) values(ctx context.Context, source, path string, q url.Values, row func(json.RawMessage) error) (string, error) {
	address := armURL + "/subscriptions/" + url.PathEscape(a.subscription) + path + "?" + q.Encode()
	first, rows := "", 0
	followed := map[string]bool{}
	for address != "" {
		switch {
		case followed[address]:
			return first, drift(source, "nextLink", "a page not read before", address)
		case len(followed) == maxPages:
			return first, fmt.Errorf("%s: %w: more than %d pages", source, gputide.ErrTooLarge, maxPages)
		}
		followed[address] = true
		got, link, n, err := a.valuePage(ctx, source, address, row)
		if err != nil {
			return first, err
		}
		if first == "" {
			first = got
		}
		rows += n
		if address, err = next(source, "nextLink", address, link); err != nil {
			return first, err
		}
	}
	if rows == 0 {
		return first, fmt.Errorf("%s: %w: %s", source, gputide.ErrEmpty, first)
	}
	return first, nil
}

func (a *arm) valuePage(ctx context.Context, source, address string, row func(json.RawMessage) error) (got, link string, rows int, err error) {
	resp, err := a.http.Do(ctx, fetch.Request{Source: source, URL: address, Header: a.header, Accept: "application/json"})
	if err != nil {
		return "", "", 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	d := fetch.NewDecoder(source, resp.Body)
	listed := false
	err = d.Object(func(name string) error {
		switch name {
		case "value":
			listed = true
			return d.Array(func() error {
				var raw json.RawMessage
				if err := d.Decode(&raw); err != nil {
					return err
				}
				rows++
				return row(raw)
			})
		case "nextLink":
			return d.Decode(&link)
		}
		return d.Skip()
	})
	if err == nil {
		err = d.End()
	}
	if err == nil && !listed {
		err = drift(source, "value", "a list", "none")
	}
	return resp.URL, link, rows, err
}

// sameName reports whether two names of Azure Resource Manager are one: their
// letter case differs from answer to answer.
func sameName(a, b string) bool { return strings.EqualFold(a, b) }
