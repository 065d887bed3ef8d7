package alibaba

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	return query + "&Signature=" + percent(signature(key.AccessKeySecret, "GET", query))
}

// rpcTime is the form of moments in requests and answers.
const rpcTime = "2006-01-02T15:04:05Z"

func (p *Provider) send(ctx context.Context, source, address, signed string, into any) error {
	refused := func(fe *gputide.FetchError, body []byte) error {
		var e rpcError
		if err := fetch.Unmarshal(source, "$", body, &e); err != nil && bytes.HasPrefix(body, []byte("{")) {
			return err // a refusal that was cut; of another body the status says it
		}
		return p.refuse(fe, e)
	}
	resp, err := p.http.Do(ctx, fetch.Request{Source: source, URL: signed, Accept: "application/json", Explain: refused})
	if err != nil {
		if fe, ok := errors.AsType[*gputide.FetchError](err); ok {
			fe.URL = address // without what signs it
		}
		return err
	}
	defer func() { _ = resp.Body.Close() }()
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
		return p.refuse(&gputide.FetchError{Source: source, URL: address, Status: resp.Status, Attempt: 1, Kind: gputide.ErrInvalid}, e)
	}
	return fetch.Unmarshal(source, "$", raw, into)
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

// refuse adds what ECS says to the error of its status.
func (p *Provider) refuse(fe *gputide.FetchError, e rpcError) error {
	if e.Code != "" {
		fe.Kind = refusalKind(e.Code, fe.Kind)
		fe.Err = fmt.Errorf("%.80s: %.200s", e.Code, p.redact.Text(e.Message))
	}
	return &refusal{e.Code, fe}
}

// refusalKind returns what a code means; byStatus where it says no more.
func refusalKind(code string, byStatus error) error {
	family, _, _ := strings.Cut(code, ".")
	switch family {
	case "Throttling":
		return gputide.ErrRateLimited
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "IncompleteSignature", "InvalidSecurityToken", "InvalidTimeStamp", "Forbidden", "NoPermission":
		return gputide.ErrAuth
	case "ServiceUnavailable", "InternalError", "UnknownError", "SignatureNonceUsed":
		return gputide.ErrUnavailable
	}
	return byStatus
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
