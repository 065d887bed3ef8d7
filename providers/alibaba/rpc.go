package alibaba

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// IDs of the sources that ECS answers to the holder of a key.
const (
	sourceTypes   = "instance-types"
	sourcePrice   = "price"
	sourceSpot    = "spot-history"
	sourceStock   = "stock"
	sourceAdvice  = "spot-advice"
	sourceRegions = "regions"
)

// Environment variables of the key.
const (
	envKeyID  = "GPUTIDE_ALIBABA_ACCESS_KEY_ID"
	envSecret = "GPUTIDE_ALIBABA_ACCESS_KEY_SECRET"
)

const (
	rpcVersion = "2014-05-26"

	// homeRegion is asked for what is the same everywhere.
	homeRegion = "cn-hangzhou"

	// maxSigned is how often a request is signed and sent when ECS asks for less
	// or knows its nonce. fetch repeats a request as it is; these need another.
	maxSigned = 4
	signPause = 2 * time.Second

	maxRefusal = 64 << 10
)

// host returns the host of ECS in a region. Hosts of other regions answer for
// some regions with an error, for some without any row.
func host(region string) string { return "ecs." + region + ".aliyuncs.com" }

// rpcSource is a source that ECS answers in each region.
func rpcSource(id, action, gives string, prices bool) gputide.Source {
	return gputide.Source{
		ID: id, Title: "ECS " + action, URL: "https://" + host("*") + "/",
		Doc:   "https://www.alibabacloud.com/help/en/ecs/developer-reference/api-ecs-2014-05-26-" + strings.ToLower(action),
		Hosts: []string{host("*")}, Auth: gputide.AuthKey, Env: []string{envKeyID, envSecret}, Gives: gives, Prices: prices, MaxBytes: 32 << 20,
	}
}

// needsKey returns why ECS cannot be asked, nil when it can.
func (p *Provider) needsKey() error {
	if p.http.Replaying() || p.cfg.AccessKeyID != "" && p.cfg.AccessKeySecret != "" {
		return nil
	}
	return &gputide.HintError{Err: gputide.ErrNeedsKey, Hint: "set " + envKeyID + " and " + envSecret}
}

// ask sends an action to the host of a region, decodes the answer and returns
// the address without what signs it. The error of a request that ECS itself
// refuses is a *refusal.
func (p *Provider) ask(ctx context.Context, source, region, action string, params map[string]string, into any) (string, error) {
	address := "https://" + host(region) + "/?Action=" + action
	if name := params["InstanceType"]; name != "" {
		address += "&InstanceType=" + percent(name)
	}
	for n := 1; ; n++ {
		err := p.send(ctx, source, address, "https://"+host(region)+"/?"+p.signed(action, params), into)
		if err == nil || n == maxSigned || p.http.Replaying() || !signAgain(err) {
			return address, err
		}
		select {
		case <-ctx.Done():
			return address, context.Cause(ctx)
		case <-time.After(signPause << n):
		}
	}
}

// signed returns the query of a request with its signature.
func (p *Provider) signed(action string, params map[string]string) string {
	key, nonce, at := p.cfg, rand.Text(), p.cfg.Now()
	if captured, ok := p.http.CapturedAt(); ok {
		key.AccessKeyID, nonce, at = "replay", "replay", captured
	}
	all := map[string]string{
		"Action": action, "Version": rpcVersion, "Format": "JSON", "AccessKeyId": key.AccessKeyID, "SignatureMethod": "HMAC-SHA1",
		"SignatureVersion": "1.0", "SignatureNonce": nonce, "Timestamp": at.UTC().Format(rpcTime),
	}
	maps.Copy(all, params)
	query := canonical(all)
	return query + "&Signature=" + percent(signature(key.AccessKeySecret, http.MethodGet, query))
}

// rpcTime is the form of moments in requests and answers.
const rpcTime = "2006-01-02T15:04:05Z"

func (p *Provider) send(ctx context.Context, source, address, signed string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, signed, nil)
	if err != nil {
		return fmt.Errorf("%s: %w: malformed address %s", source, gputide.ErrInvalid, address)
	}
	resp, err := p.http.HTTPClient(source).Do(req)
	if err != nil {
		return cause(ctx, source, address, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 != 2 {
		var e rpcError
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
		if err := fetch.Unmarshal(source, "$", text, &e); err != nil && bytes.HasPrefix(text, []byte("{")) {
			return err // a refusal that was cut; of another body the status says it
		}
		return p.refuse(source, address, resp, e)
	}
	var raw json.RawMessage
	d := fetch.NewDecoder(source, resp.Body)
	if err := d.Decode(&raw); err != nil {
		return err
	}
	if err := d.End(); err != nil {
		return err
	}
	var e rpcError
	if err := fetch.Unmarshal(source, "$", raw, &e); err != nil {
		return err
	}
	if e.Code != "" {
		return p.refuse(source, address, resp, e)
	}
	return fetch.Unmarshal(source, "$", raw, into)
}

// cause returns why a request got no answer, without its address, which shows
// the key.
func cause(ctx context.Context, source, address string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if fe, ok := errors.AsType[*gputide.FetchError](err); ok {
		named := *fe
		named.URL = address
		return &named
	}
	return &gputide.FetchError{Source: source, URL: address, Attempt: 1, Kind: gputide.ErrUnavailable}
}

// rpcError is the answer to a request that is refused, of whatever status.
type rpcError struct{ Code, Message string }

// refusal is an error that ECS states.
type refusal struct {
	code string // "Throttling.User"; empty when only the status says it
	err  *gputide.FetchError
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

func (p *Provider) refuse(source, address string, resp *http.Response, e rpcError) error {
	fe := &gputide.FetchError{Source: source, URL: address, Status: resp.StatusCode, Attempt: 1, Kind: refusalKind(e.Code, resp.StatusCode)}
	if e.Code != "" {
		fe.Err = fmt.Errorf("%.80s: %.200s", e.Code, p.redact.Text(e.Message))
	}
	if wait, err := time.ParseDuration(resp.Header.Get("Retry-After") + "s"); err == nil {
		fe.RetryAfter = wait
	}
	return &refusal{e.Code, fe}
}

// refusalKind returns what a code means, and the status where there is none.
func refusalKind(code string, status int) error {
	family, _, _ := strings.Cut(code, ".")
	switch family {
	case "Throttling":
		return gputide.ErrRateLimited
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "IncompleteSignature", "InvalidSecurityToken", "InvalidTimeStamp", "Forbidden", "NoPermission":
		return gputide.ErrAuth
	case "ServiceUnavailable", "InternalError", "UnknownError", "SignatureNonceUsed":
		return gputide.ErrUnavailable
	}
	if status/100 == 2 {
		return gputide.ErrInvalid
	}
	return fetch.StatusKind(status)
}

// signAgain reports whether a request may succeed when it is signed anew.
func signAgain(err error) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && (strings.HasPrefix(r.code, "Throttling") || r.code == "SignatureNonceUsed")
}

// notSold reports whether ECS says that a type is not sold as asked.
func notSold(err error) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && (strings.HasPrefix(r.code, "InvalidInstanceType") || strings.HasPrefix(r.code, "PriceNotFound"))
}
