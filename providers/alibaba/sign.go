package alibaba

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the digest that version 1 of the scheme is defined with
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Signatures of RPC requests, version 1:
// https://www.alibabacloud.com/help/en/sdk/product-overview/rpc-mechanism.

// canonical returns parameters in the order and the encoding that are signed.
func canonical(params map[string]string) string {
	pairs := make([]string, 0, len(params))
	for _, name := range slices.Sorted(maps.Keys(params)) {
		pairs = append(pairs, percent(name)+"="+percent(params[name]))
	}
	return strings.Join(pairs, "&")
}

// percent encodes a text as RFC 3986 has it: a space is %20, and * is encoded.
func percent(s string) string {
	return strings.NewReplacer("+", "%20", "*", "%2A", "%7E", "~").Replace(url.QueryEscape(s))
}

// stringToSign returns the text whose digest is the signature of a request.
func stringToSign(method, query string) string { return method + "&%2F&" + percent(query) }

// signature returns the signature of a request with the secret of its key.
func signature(secret, method, query string) string {
	h := hmac.New(sha1.New, []byte(secret+"&"))
	h.Write([]byte(stringToSign(method, query)))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}
