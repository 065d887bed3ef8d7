package ec2api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// maxPages bounds an answer. The longest is 90 days of spot prices of one
// region: some 400 pages of a thousand rows.
const maxPages = 4000

// call is one action of EC2 in one region.
type call struct {
	ec2                    *ec2.Client
	source, region, action string
}

func newCall(ctx context.Context, opt Options, region, action string) *call {
	var logger logging.Logger = logging.Nop{}
	if opt.Logger != nil {
		logger = logging.LoggerFunc(func(c logging.Classification, format string, args ...any) {
			level := slog.LevelDebug
			if c == logging.Warn {
				level = slog.LevelWarn
			}
			opt.Logger.Log(ctx, level, "aws sdk", "source", opt.Source, "region", region, "err", fmt.Sprintf(format, args...))
		})
	}
	client := ec2.New(ec2.Options{
		Region:      region,
		HTTPClient:  checked{opt.HTTP, opt.Source, "<" + action + "Response"},
		Credentials: credentials.NewStaticCredentialsProvider(opt.AccessKeyID, opt.SecretAccessKey, opt.SessionToken),
		Retryer:     aws.NopRetryer{},
		Logger:      logger,
	})
	return &call{ec2: client, source: opt.Source, region: region, action: action}
}

// pages asks for page after page until one names no next, and hands every item
// to each. An empty page in the middle is none to stop at; a token that was
// given before, and more pages than any answer has, are errors. An answer
// without any item is ErrEmpty where some is required.
func pages[T any](
	ctx context.Context, c *call, some bool, ask func(token *string) ([]T, *string, error), each func(*T) error,
) error {
	seen := map[string]bool{}
	items := 0
	var token *string
	for range maxPages {
		page, next, err := ask(token)
		if err != nil {
			return c.explain(ctx, err)
		}
		for i := range page {
			if err := each(&page[i]); err != nil {
				return err
			}
		}
		items += len(page)
		switch {
		case aws.ToString(next) == "" && items == 0 && some:
			return fmt.Errorf("%s: %w in %s", c.source, gputide.ErrEmpty, c.region)
		case aws.ToString(next) == "":
			return nil
		case seen[*next]:
			return &gputide.DriftError{Source: c.source, Path: "nextToken", Want: "a new token", Got: "one given before"}
		}
		seen[*next] = true
		token = next
	}
	return fmt.Errorf("%s: %w: more than %d pages in %s", c.source, gputide.ErrTooLarge, maxPages, c.region)
}

// drift is the error of an item without a field it must have.
func (c *call) drift(path, want string) error {
	return &gputide.DriftError{Source: c.source, Path: path, Want: want, Got: "nothing"}
}

// explain gives an error of the SDK its meaning.
func (c *call) explain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if fe, ok := errors.AsType[*gputide.FetchError](err); ok {
		return fe
	}
	if de, ok := errors.AsType[*gputide.DriftError](err); ok {
		return de
	}
	if re, ok := errors.AsType[*awshttp.ResponseError](err); ok && re.HTTPStatusCode()/100 != 2 {
		fe := &gputide.FetchError{
			Source: c.source, URL: URL(c.region), Status: re.HTTPStatusCode(), Attempt: 1, Kind: fetch.StatusKind(re.HTTPStatusCode()),
		}
		if api, ok := errors.AsType[smithy.APIError](err); ok {
			fe.Err = fmt.Errorf("%s: %.200s", api.ErrorCode(), api.ErrorMessage())
		}
		if seconds, err := time.ParseDuration(re.Response.Header.Get("Retry-After") + "s"); err == nil {
			fe.RetryAfter = seconds
		}
		return fe
	}
	return &gputide.DriftError{Source: c.source, Path: c.action + "Response", Want: "an answer of EC2", Got: "something else", Err: err}
}

// checked refuses an answer that is none of EC2: the SDK takes an empty body and
// a web page for an answer without rows.
type checked struct {
	http         *http.Client
	source, want string
}

// Do sends a request.
func (c checked) Do(req *http.Request) (*http.Response, error) {
	resp, err := c.http.Do(req)
	if err != nil || resp.StatusCode/100 != 2 {
		return resp, err
	}
	body := bufio.NewReader(resp.Body)
	head, err := body.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, resp.Body.Close())
	}
	if !bytes.Contains(head, []byte(c.want)) {
		err := &gputide.DriftError{Source: c.source, Path: "/", Want: c.want + ">", Got: fmt.Sprintf("%.60q", head)}
		return nil, errors.Join(err, resp.Body.Close())
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{body, resp.Body}
	return resp, nil
}
