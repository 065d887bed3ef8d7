package alibaba

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
)

// network answers requests.
type answers func(*http.Request) (int, string)

// RoundTrip answers as n does.
func (n answers) RoundTrip(r *http.Request) (*http.Response, error) {
	status, text := n(r)
	kind := "application/json"
	if strings.HasPrefix(text, "<html>") {
		kind = "text/html"
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(text)), Request: r,
		ContentLength: int64(len(text)), ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

const (
	testKey    = "LTAI4GEXAMPLEKEYID"
	testSecret = "exampleSecretOfAlibabaCloud"
)

func live(n answers) *Provider {
	return New(fetch.New(fetch.Options{Transport: n}), Config{AccessKeyID: testKey, AccessKeySecret: testSecret})
}

// askOnce asks one action of a network that answers as told, and counts how often it
// was asked and with how many nonces.
func askOnce(ctx context.Context, texts ...string) (asked, nonces int, err error) {
	seen := map[string]bool{}
	var mu sync.Mutex
	p := live(func(r *http.Request) (int, string) {
		mu.Lock()
		defer mu.Unlock()
		text := texts[min(asked, len(texts)-1)]
		asked++
		seen[r.URL.Query().Get("SignatureNonce")] = true
		if strings.Contains(text, `"Code"`) {
			return 400, text
		}
		return 200, text
	})
	var into struct{ RequestId string }
	_, err = p.ask(ctx, sourceRegions, homeRegion, "DescribeRegions", nil, &into)
	if err == nil && into.RequestId != "1" {
		err = errors.New("another answer")
	}
	return asked, len(seen), err
}

// TestThrottling shows that a request that ECS puts off is signed and sent
// again, each time with another nonce, and not for ever; others are sent once.
func TestThrottling(t *testing.T) {
	const good = `{"RequestId":"1"}`
	refused := func(code string) string { return `{"Code":"` + code + `","Message":"no"}` }
	for name, tt := range map[string]struct {
		answers []string
		want    error
		asked   int
	}{
		"at once":          {[]string{good}, nil, 1},
		"put off":          {[]string{refused("Throttling.User"), refused("Throttling"), good}, nil, 3},
		"put off for ever": {[]string{refused("Throttling.User")}, gputide.ErrRateLimited, maxSigned},
		"known nonce":      {[]string{refused("SignatureNonceUsed"), good}, nil, 2},
		"refused":          {[]string{refused("InvalidParameter"), good}, gputide.ErrInvalid, 1},
		"another key":      {[]string{refused("InvalidAccessKeyId.NotFound"), good}, gputide.ErrAuth, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, nonces, err := askOnce(t.Context(), tt.answers...)
				if !errors.Is(err, tt.want) || asked != tt.asked || nonces != tt.asked {
					t.Errorf("%v after %d requests of %d nonces; want %v after %d", err, asked, nonces, tt.want, tt.asked)
				}
			})
		})
	}
}

// TestRefusal shows what codes mean in answers of any status, and that no text
// of ECS, which quotes what was signed, shows the key.
func TestRefusal(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		want   error
	}{
		{400, `{"Code":"Throttling.User","Message":"slow"}`, gputide.ErrRateLimited},
		{200, `{"Code":"Throttling","Message":"slow"}`, gputide.ErrRateLimited},
		{403, `{"Code":"Forbidden.RAM","Message":"not you"}`, gputide.ErrAuth},
		{404, `{"Code":"InvalidAccessKeyId.NotFound","Message":"none"}`, gputide.ErrAuth},
		{400, `{"Code":"SignatureDoesNotMatch","Message":"server string to sign is:GET&%2F&AccessKeyId%3D` + testKey + `%26Action"}`, gputide.ErrAuth},
		{400, `{"Code":"InvalidTimeStamp.Expired","Message":"late"}`, gputide.ErrAuth},
		{400, `{"Code":"InvalidParameter.X","Message":"what"}`, gputide.ErrInvalid},
		{200, `{"Code":"InvalidParameter.X","Message":"what"}`, gputide.ErrInvalid},
		{404, `{"Code":"InvalidRegionId.NotFound","Message":"where"}`, gputide.ErrNotFound},
		{400, "no", gputide.ErrInvalid},
		{400, `{"Code":"Inval`, gputide.ErrSchemaDrift},
		{200, `{"Regi`, gputide.ErrSchemaDrift},
		{200, `{} {}`, gputide.ErrSchemaDrift},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := live(func(*http.Request) (int, string) { return tt.status, tt.body })
			var into struct{}
			_, err := p.ask(t.Context(), sourceRegions, homeRegion, "DescribeRegions", nil, &into)
			if !errors.Is(err, tt.want) {
				t.Errorf("%d %s: %v, want %v", tt.status, tt.body, err, tt.want)
			}
			if err != nil && (strings.Contains(err.Error(), testKey) || strings.Contains(err.Error(), "Nonce")) {
				t.Errorf("the error shows the key: %v", err)
			}
		})
	}
}

// TestHosts shows that each region is asked at its own host, and what is the
// same everywhere at one.
func TestHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		asked := map[string]int{}
		p := live(func(r *http.Request) (int, string) {
			mu.Lock()
			defer mu.Unlock()
			q := r.URL.Query()
			if r.URL.Host == listHost || !strings.HasSuffix(r.URL.Host, ".aliyuncs.com") {
				return 404, ""
			}
			asked[r.URL.Host+" "+q.Get("Action")+" "+q.Get("RegionId")]++
			switch q.Get("Action") {
			case "DescribeRegions":
				return 200, `{"Regions":{"Region":[{"RegionId":"cn-wuhan-lr"},{"RegionId":"cn-hangzhou"},{"RegionId":"eu-central-1"}]}}`
			case "DescribeInstanceTypes":
				return 200, `{"InstanceTypes":{"InstanceType":[{"InstanceTypeId":"ecs.g6.large","GPUAmount":0}]}}`
			case "DescribeAvailableResource":
				return 200, `{"AvailableZones":{"AvailableZone":[{"ZoneId":"z","AvailableResources":{"AvailableResource":[{"SupportedResources":` +
					`{"SupportedResource":[{"Value":"ecs.g6.large","Status":"Available"}]}}]}}]}}`
			}
			return 200, `{"AvailableSpotZones":{"AvailableSpotZone":[{"ZoneId":"z","AvailableSpotResources":{"AvailableSpotResource":` +
				`[{"InstanceType":"ecs.g6.large","AverageSpotDiscount":"20","InterruptRateDesc":"0-3%"}]}}]}}`
		})
		p.cfg.Regions = []string{"cn-wuhan-lr", "eu-central-1"}
		_, err := providertest.Collect(t.Context(), p)
		if !errors.Is(err, gputide.ErrNotFound) { // the lists
			t.Errorf("error %v", err)
		}
		want := map[string]int{"ecs.cn-hangzhou.aliyuncs.com DescribeRegions ": 1, "ecs.cn-hangzhou.aliyuncs.com DescribeInstanceTypes ": 1}
		for _, region := range p.cfg.Regions {
			want["ecs."+region+".aliyuncs.com DescribeAvailableResource "+region] = 2
			want["ecs."+region+".aliyuncs.com DescribeSpotAdvice "+region] = 1
		}
		if d := cmp.Diff(want, asked); d != "" {
			t.Errorf("asked (-want +got):\n%s", d)
		}
	})
}

// TestNoKey shows that without a key the lists are read, and that every source
// of ECS says what it needs.
func TestNoKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(fetch.New(fetch.Options{Transport: answers(func(r *http.Request) (int, string) {
			if r.URL.Host != listHost {
				return 200, "<html>//g.alicdn.com/aliyun/ecs-price-info/2.0.9/x.js //g.alicdn.com/aliyun/ecs-price-info-intl/2.0.9/x.js</html>"
			}
			body := list(entry(goodKey, goodLists))
			if strings.Contains(r.URL.Path, "intl") {
				body = strings.Replace(body, "CNY", "USD", 1)
			}
			return 200, body
		})}), Config{AccessKeyID: testKey})
		c, err := providertest.Collect(t.Context(), p)
		if err != nil || len(c.Live()) != 2 {
			t.Errorf("%d offers, error %v", len(c.Live()), err)
		}
		for _, source := range append(accountSources(), sourceTypes, sourceRegions) {
			said := c.Errors(source)
			if len(said) != 1 || !errors.Is(said[0], gputide.ErrNeedsKey) || !strings.Contains(said[0].Error(), envSecret) {
				t.Errorf("%s: %v", source, said)
			}
		}
	})
}

// TestAskEnds shows that a wait between two signatures ends with its context.
func TestAskEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		asked, _, err := askOnce(ctx, `{"Code":"Throttling","Message":"no"}`)
		if !errors.Is(err, context.DeadlineExceeded) || asked == 0 {
			t.Errorf("%v after %d requests", err, asked)
		}
	})
}
