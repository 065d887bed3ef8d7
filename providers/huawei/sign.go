package huawei

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/gputide/gputide"
)

const (
	algorithm = "SDK-HMAC-SHA256"
	sdkDate   = "20060102T150405Z"
)

// header returns the headers of a signed request
// (https://support.huaweicloud.com/devg-apisign/api-sign-algorithm.html). A replay
// needs no key.
func (p *Provider) header(method, address string, body []byte) (map[string][]string, error) {
	h := map[string][]string{"Content-Type": {"application/json"}}
	if p.http.Replaying() {
		return h, nil
	}
	if p.cfg.AccessKey == "" || p.cfg.SecretKey == "" || p.cfg.ProjectID == "" || p.cfg.Region == "" {
		return nil, &gputide.HintError{
			Err: gputide.ErrNeedsKey, Hint: "set " + strings.Join([]string{envAccessKey, envSecretKey, envProject, envRegion}, ", "),
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, gputide.ErrInvalid
	}
	at := p.cfg.Now().UTC().Format(sdkDate)
	h["X-Sdk-Date"] = []string{at}
	h["Authorization"] = []string{
		algorithm + " Access=" + p.cfg.AccessKey + ", SignedHeaders=" + signedHeaders +
			", Signature=" + signature(p.cfg.SecretKey, method, u, at, body),
	}
	return h, nil
}

const signedHeaders = "host;x-sdk-date"

// signature signs a request whose path ends with a slash for the purpose. Its
// query must be in order.
func signature(key, method string, u *url.URL, at string, body []byte) string {
	path := u.EscapedPath()
	if !strings.HasSuffix(path, "/") {
		path += "/"
	}
	canonical := strings.Join([]string{
		method, path, u.RawQuery, "host:" + u.Host + "\nx-sdk-date:" + at + "\n", signedHeaders, hash(body),
	}, "\n")
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(algorithm + "\n" + at + "\n" + hash([]byte(canonical))))
	return hex.EncodeToString(mac.Sum(nil))
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
