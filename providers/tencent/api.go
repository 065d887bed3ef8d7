package tencent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// endpoint is one service of API 3.0.
type endpoint struct {
	source, service, version, address string
	key                               secret
	envID, envKey                     string
}

// usable reports whether the endpoint can be asked: with a key, or in a replay.
func (p *Provider) usable(e *endpoint) error {
	if e.key.known() || p.http.Replaying() {
		return nil
	}
	return &gputide.HintError{Err: gputide.ErrNeedsKey, Hint: "set " + e.envID + " and " + e.envKey}
}

// call asks for one action of API 3.0 in a region, which is empty where it does
// not matter, and decodes the answer.
func (p *Provider) call(ctx context.Context, e *endpoint, action, region string, params, into any) (string, error) {
	if err := p.usable(e); err != nil {
		return "", err
	}
	body, err := json.Marshal(params)
	if err != nil {
		return "", fmt.Errorf("%s: parameters of %s: %w", e.source, action, err)
	}
	at := p.cfg.Now()
	header := map[string][]string{
		"Content-Type": {jsonType}, "X-TC-Action": {action}, "X-TC-Version": {e.version},
		"X-TC-Timestamp": {strconv.FormatInt(at.Unix(), 10)},
	}
	if region != "" {
		header["X-TC-Region"] = []string{region}
	}
	if e.key.known() {
		header["Authorization"] = []string{
			e.key.authorization(e.service, hostOf(e.address), strings.ToLower(action), at, body),
		}
	}
	return p.read(ctx, fetch.Request{
		Source: e.source, URL: e.address, Header: header, Body: body, Part: strings.TrimSpace(action + " " + region),
	}, into)
}

// read sends a request and decodes what API 3.0 answers, as it is or in the
// envelope of the gateway.
func (p *Provider) read(ctx context.Context, req fetch.Request, into any) (string, error) {
	var r reply
	address, err := p.http.JSON(ctx, req, &r)
	if err != nil {
		return address, err
	}
	if r.Code != "" && r.Code != "0" {
		return address, fmt.Errorf("%s: %w: code %.40s %.200q", req.Source, gputide.ErrUnavailable, r.Code, r.Msg)
	}
	response := r.Response
	if r.Data != nil {
		response = r.Data.Response
	}
	if response == nil || bytes.Equal(response, []byte("null")) {
		return address, drift(req.Source, "Response", "an object", "none")
	}
	var refused struct{ Error *replyError }
	if err := fetch.Unmarshal(req.Source, "$.Response", response, &refused); err != nil {
		return address, err
	}
	if refused.Error != nil {
		return address, &refusal{refused.Error.as(req.Source)}
	}
	return address, fetch.Unmarshal(req.Source, "$.Response", response, into)
}

// refusal is an error that stands in an answer of status 200.
type refusal struct{ err error }

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// as turns an error, which comes with status 200, into one of ours: a request
// that is no longer understood is drift, what is not known here an outage.
func (e *replyError) as(source string) error {
	kind, _, _ := strings.Cut(e.Code, ".")
	switch kind {
	case "AuthFailure", "UnauthorizedOperation":
		return fmt.Errorf("%s: %w: %s: %.200q", source, gputide.ErrAuth, e.Code, e.Message)
	case "RequestLimitExceeded", "LimitExceeded":
		return fmt.Errorf("%s: %w: %s: %.200q", source, gputide.ErrRateLimited, e.Code, e.Message)
	case "InvalidAction", "InvalidParameter", "InvalidParameterValue", "InvalidFilter", "MissingParameter", "NoSuchVersion",
		"UnknownParameter", "UnsupportedOperation", "UnsupportedProtocol":
		return drift(source, "Response.Error", "no refusal of the request", e.Code+": "+e.Message)
	}
	return fmt.Errorf("%s: %w: %.80s: %.200q", source, gputide.ErrUnavailable, e.Code, e.Message)
}

// filter limits an answer.
type filter struct {
	Name   string
	Values []string
}
