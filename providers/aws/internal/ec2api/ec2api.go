// Package ec2api asks EC2 for its instance types. It is the only package that
// imports the EC2 client of the AWS SDK, which takes a minute to compile.
//
// The client gets everything from its caller: transport, key and logger. It
// reads no shared configuration and asks no metadata service.
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

const (
	// pageSize is the largest page EC2 gives.
	// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html, 2026-08.
	pageSize = 100

	// maxPages bounds an answer: EC2 had some 1,100 types in 2026.
	maxPages = 200
)

// Options say how EC2 is asked.
type Options struct {
	Source    string // source ID, for errors
	Partition string
	HTTP      *http.Client // retries by itself
	Logger    *slog.Logger // takes what the SDK has to say; nil discards it

	AccessKeyID, SecretAccessKey, SessionToken string
}

// URL returns the address at which EC2 of a region is asked.
func URL(region string) string { return "https://" + Host(region) + "/" }

// Host returns the host of EC2 in a region of the commercial partition.
func Host(region string) string { return "ec2." + region + ".amazonaws.com" }

// InstanceTypes hands every instance type of a region to each. A page that
// cannot be read ends it with an error; the types before it were read well.
func InstanceTypes(ctx context.Context, opt Options, region string, each func(gputide.Spec)) error {
	client := newClient(ctx, opt, region)
	seen := map[string]bool{}
	types := 0
	in := &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(pageSize)}
	for range maxPages {
		out, err := client.DescribeInstanceTypes(ctx, in)
		if err != nil {
			return explain(ctx, opt.Source, region, err)
		}
		for i := range out.InstanceTypes {
			t := &out.InstanceTypes[i]
			if t.InstanceType == "" {
				return &gputide.DriftError{Source: opt.Source, Path: "instanceTypeSet.item.instanceType", Want: "a name", Got: "nothing"}
			}
			types++
			s := specOf(t)
			s.Source, s.Partition = opt.Source, opt.Partition
			each(s)
		}
		token := aws.ToString(out.NextToken)
		switch {
		case token == "" && types == 0:
			return fmt.Errorf("%s: %w in %s", opt.Source, gputide.ErrEmpty, region)
		case token == "":
			return nil
		case seen[token]:
			return &gputide.DriftError{Source: opt.Source, Path: "nextToken", Want: "a new token", Got: "one given before"}
		}
		seen[token] = true
		in.NextToken = &token
	}
	return fmt.Errorf("%s: %w: more than %d pages in %s", opt.Source, gputide.ErrTooLarge, maxPages, region)
}

func newClient(ctx context.Context, opt Options, region string) *ec2.Client {
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
	return ec2.New(ec2.Options{
		Region:      region,
		HTTPClient:  checked{opt.HTTP, opt.Source},
		Credentials: credentials.NewStaticCredentialsProvider(opt.AccessKeyID, opt.SecretAccessKey, opt.SessionToken),
		Retryer:     aws.NopRetryer{},
		Logger:      logger,
	})
}

// explain gives an error of the SDK its meaning.
func explain(ctx context.Context, source, region string, err error) error {
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
			Source: source, URL: URL(region), Status: re.HTTPStatusCode(), Attempt: 1, Kind: fetch.StatusKind(re.HTTPStatusCode()),
		}
		if api, ok := errors.AsType[smithy.APIError](err); ok {
			fe.Err = fmt.Errorf("%s: %.200s", api.ErrorCode(), api.ErrorMessage())
		}
		if seconds, err := time.ParseDuration(re.Response.Header.Get("Retry-After") + "s"); err == nil {
			fe.RetryAfter = seconds
		}
		return fe
	}
	return &gputide.DriftError{Source: source, Path: "DescribeInstanceTypesResponse", Want: "an answer of EC2", Got: "something else", Err: err}
}

// checked refuses an answer that is none of EC2: the SDK takes an empty body and
// a web page for an answer without types.
type checked struct {
	http   *http.Client
	source string
}

// Do sends a request.
func (c checked) Do(req *http.Request) (*http.Response, error) {
	resp, err := c.http.Do(req)
	if err != nil || resp.StatusCode/100 != 2 {
		return resp, err
	}
	const want = "<DescribeInstanceTypesResponse"
	body := bufio.NewReader(resp.Body)
	head, err := body.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, resp.Body.Close())
	}
	if !bytes.Contains(head, []byte(want)) {
		err := &gputide.DriftError{Source: c.source, Path: "/", Want: want + ">", Got: fmt.Sprintf("%.60q", head)}
		return nil, errors.Join(err, resp.Body.Close())
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{body, resp.Body}
	return resp, nil
}
