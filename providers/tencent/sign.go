package tencent

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strconv"
	"time"
)

const (
	algorithm = "TC3-HMAC-SHA256"
	jsonType  = "application/json; charset=utf-8"
)

// secret is a key pair of an account. The zero value has none.
type secret struct{ id, key string }

func (s secret) known() bool { return s.id != "" && s.key != "" }

// stringToSign returns what is signed of a POST request to the path /, and the
// date it is signed for. action is the value of X-TC-Action in lower case.
func stringToSign(service, host, action string, at time.Time, body []byte) (text, scope string) {
	canonical := "POST\n/\n\n" +
		"content-type:" + jsonType + "\nhost:" + host + "\nx-tc-action:" + action + "\n\n" +
		signedHeaders + "\n" + hash(body)
	scope = at.UTC().Format(time.DateOnly) + "/" + service + "/tc3_request"
	return algorithm + "\n" + strconv.FormatInt(at.Unix(), 10) + "\n" + scope + "\n" + hash([]byte(canonical)), scope
}

const signedHeaders = "content-type;host;x-tc-action"

// authorization signs a request, TC3-HMAC-SHA256
// (https://cloud.tencent.com/document/api/213/30654). The body must be sent as it
// is.
func (s secret) authorization(service, host, action string, at time.Time, body []byte) string {
	text, scope := stringToSign(service, host, action, at, body)
	key := mac([]byte("TC3"+s.key), at.UTC().Format(time.DateOnly))
	key = mac(mac(key, service), "tc3_request")
	return algorithm + " Credential=" + s.id + "/" + scope + ", SignedHeaders=" + signedHeaders +
		", Signature=" + hex.EncodeToString(mac(key, text))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func hash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// hostOf returns the host of an address of this package.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
