package tencent

import (
	"testing"
	"time"
)

// TestSignature signs the published example of TC3-HMAC-SHA256
// (https://cloud.tencent.com/document/api/213/30654).
func TestSignature(t *testing.T) {
	body := []byte(`{"Limit": 1, "Filters": [{"Values": ["\u672a\u547d\u540d"], "Name": "instance-name"}]}`)
	if got, want := hash(body), "35e9c5b0e3ae67532d3c9f17ead6c90222632e5b1ff7f6e89887f1398934f064"; got != want {
		t.Errorf("hash of the body %s, want %s", got, want)
	}
	at := time.Unix(1551113065, 0)
	got, scope := stringToSign("cvm", "cvm.tencentcloudapi.com", "describeinstances", at, body)
	want := "TC3-HMAC-SHA256\n1551113065\n2019-02-25/cvm/tc3_request\n7019a55be8395899b900fb5564e4200d984910f34794a27cb3fb7d10ff6a1e84"
	if got != want || scope != "2019-02-25/cvm/tc3_request" {
		t.Errorf("string to sign %q of %q, want %q", got, scope, want)
	}
	s := secret{"AKIDexample", "Gu5t9xGARNpq86cd98joQYCN3Cozk1qA"}
	const signature = "TC3-HMAC-SHA256 Credential=AKIDexample/2019-02-25/cvm/tc3_request, SignedHeaders=content-type;host;x-tc-action, Signature="
	if got := s.authorization("cvm", "cvm.tencentcloudapi.com", "describeinstances", at, body); got != signature+wantSignature {
		t.Errorf("authorization %s, want %s", got, signature+wantSignature)
	}
}

// wantSignature was made with openssl from the chain of keys of the description.
const wantSignature = "2220c8c846efab6e5158c3ae545e315ad80a246c20d35d53b8723eee82f2601d"
