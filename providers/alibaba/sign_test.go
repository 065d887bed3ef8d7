package alibaba

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide/crawler/fetch"
)

// vector is the signing example of the provider's documentation.
type vector struct {
	Method    string            `json:"method"`
	Secret    string            `json:"access_key_secret"`
	Params    map[string]string `json:"params"`
	Text      string            `json:"string_to_sign"`
	Signature string            `json:"signature"`
}

// TestSignature signs the published example.
func TestSignature(t *testing.T) {
	v := vector{
		Method: "GET", Secret: "testsecret", Signature: "OLeaidS1JvxuMvnyHOwuJ+uX5qY=",
		Params: map[string]string{
			"AccessKeyId": "testid", "Action": "DescribeRegions", "Format": "XML", "SignatureMethod": "HMAC-SHA1",
			"SignatureNonce": "3ee8c1b8-83d3-44af-a94f-4e0ad82fd6cf", "SignatureVersion": "1.0", "Timestamp": "2016-02-23T12:46:24Z",
			"Version": "2014-05-26",
		},
		Text: "GET&%2F&AccessKeyId%3Dtestid%26Action%3DDescribeRegions%26Format%3DXML%26SignatureMethod%3DHMAC-SHA1%26" +
			"SignatureNonce%3D3ee8c1b8-83d3-44af-a94f-4e0ad82fd6cf%26SignatureVersion%3D1.0%26" +
			"Timestamp%3D2016-02-23T12%253A46%253A24Z%26Version%3D2014-05-26",
	}
	checkVector(t, &v)
}

// TestSignatureVector does so with the stored one, byte for byte.
func TestSignatureVector(t *testing.T) {
	shared := os.Getenv("GPUTIDE_SHARED")
	if shared == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	text, err := os.ReadFile(filepath.Join(shared, "payloads/alibaba/signature_rpc_v1_vector.json"))
	if err != nil {
		t.Fatal(err)
	}
	var v vector
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	checkVector(t, &v)
}

func checkVector(t *testing.T, v *vector) {
	t.Helper()
	query := canonical(v.Params)
	if got := stringToSign(v.Method, query); got != v.Text {
		t.Errorf("text to sign\n%s, want\n%s", got, v.Text)
	}
	if got := signature(v.Secret, v.Method, query); got != v.Signature {
		t.Errorf("signature %s, want %s", got, v.Signature)
	}
}

func TestPercent(t *testing.T) {
	for in, want := range map[string]string{
		"a b": "a%20b", "*": "%2A", "~-_.": "~-_.", "+": "%2B", "%7E": "%257E", "/": "%2F", "广州": "%E5%B9%BF%E5%B7%9E", "=&": "%3D%26",
	} {
		if got := percent(in); got != want {
			t.Errorf("%q is %s, want %s", in, got, want)
		}
	}
}

// FuzzPercent shows that every text comes back as it was, and that no character
// but the unreserved ones stays.
func FuzzPercent(f *testing.F) {
	f.Add("a b*~+%7E/")
	f.Fuzz(func(t *testing.T, text string) {
		got := percent(text)
		if back, err := url.PathUnescape(got); err != nil || back != text {
			t.Errorf("%q is %q and back %q, %v", text, got, back, err)
		}
		if i := strings.IndexFunc(got, func(r rune) bool {
			return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~%", r)
		}); i >= 0 {
			t.Errorf("%q keeps %q", text, got[i:])
		}
	})
}

// TestSigned shows that a live request is signed with its own nonce and moment.
func TestSigned(t *testing.T) {
	p := New(fetch.New(fetch.Options{}), Config{AccessKeyID: "testid", AccessKeySecret: "testsecret"})
	var nonces []string
	for range 2 {
		v, err := url.ParseQuery(p.signed("DescribeRegions", map[string]string{"RegionId": "cn-hangzhou"}))
		if err != nil {
			t.Fatal(err)
		}
		given := v.Get("Signature")
		v.Del("Signature")
		params := map[string]string{}
		for name := range v {
			params[name] = v.Get(name)
		}
		if d := cmp.Diff(signature("testsecret", http.MethodGet, canonical(params)), given); d != "" {
			t.Errorf("signature (-want +got):\n%s", d)
		}
		nonces = append(nonces, v.Get("SignatureNonce"))
	}
	if nonces[0] == nonces[1] || len(nonces[0]) < 16 {
		t.Errorf("nonces %q", nonces)
	}
}
