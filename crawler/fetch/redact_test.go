package fetch

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gputide/gputide"
)

func TestRedactURL(t *testing.T) {
	tests := []struct{ in, want string }{
		{"https://a.b/c?x=1", "https://a.b/c?x=1"},
		{"https://a.b/c?key=AIza&x=1", "https://a.b/c?key=REDACTED&x=1"},
		{"https://a.b/c?x=1&api_key=A&API-Key=B&apikey=C", "https://a.b/c?x=1&api_key=REDACTED&API-Key=REDACTED&apikey=REDACTED"},
		{"https://user:pass@a.b/c", "https://REDACTED@a.b/c"},
		{"https://tok@a.b/c", "https://REDACTED@a.b/c"},
		{"https://a.b/?AccessKeyId=1&Signature=2%2B&SignatureNonce=3", "https://a.b/?AccessKeyId=REDACTED&Signature=REDACTED&SignatureNonce=3"},
		{"https://a.b/?X-Amz-Credential=1&X-Amz-Date=2&x-amz-signature=3", "https://a.b/?X-Amz-Credential=REDACTED&X-Amz-Date=REDACTED&x-amz-signature=REDACTED"},
		{"https://a.b/?pageToken=abc&NextToken=d", "https://a.b/?pageToken=abc&NextToken=d"},
		{"https://a.b/?access%5Ftoken=abc", "https://a.b/?access%5Ftoken=REDACTED"},
		{"https://a.b/c#access_token=abc", "https://a.b/c"},
		{"https://a.b/" + url.PathEscape(testSecret) + "/x", "https://a.b/REDACTED/x"},
		{"https://a.b/?q=" + url.QueryEscape(testSecret), "https://a.b/?q=REDACTED"},
		{"::bad key=x token=?token=abc", "::bad key=x token=?token=REDACTED"},
	}
	r := NewRedactor(testSecret)
	for _, tt := range tests {
		if got := r.URL(tt.in); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

func TestRedactText(t *testing.T) {
	r := NewRedactor(testSecret, "abc", " ")
	tests := []struct{ in, want string }{
		{"nothing here: 1=2, abc", "nothing here: 1=2, abc"},
		{"series key=aws:p5 refused", "series key=aws:p5 refused"},
		{"Get \"https://u:p@h/x?token=t1&n=2\": EOF", "Get \"https://REDACTED@h/x?token=REDACTED&n=2\": EOF"},
		{"form client_secret=abc&grant=x", "form client_secret=REDACTED&grant=x"},
		{"Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.x.y", "Authorization: Bearer REDACTED"},
		{"a bearer of news", "a bearer of news"},
		{"header Basic " + base64.StdEncoding.EncodeToString([]byte("user:password")), "header Basic REDACTED"},
		{"value " + testSecret + "!", "value REDACTED!"},
		{"in base64 " + base64.StdEncoding.EncodeToString([]byte(testSecret)), "in base64 REDACTED"},
	}
	for _, tt := range tests {
		if got := r.Text(tt.in); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.in, got, tt.want)
		}
	}
}

type secretive struct{ s string }

func (s secretive) String() string       { return "value " + s.s }
func (s secretive) LogValue() slog.Value { return slog.GroupValue(slog.String("inner", s.s)) }

func TestHandler(t *testing.T) {
	var out bytes.Buffer
	r := NewRedactor(testSecret)
	log := slog.New(r.Handler(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	log = log.With("url", "https://h/?key=k1&secret="+testSecret).WithGroup("g").With("n", 1)
	log.InfoContext(t.Context(), "message "+testSecret,
		"err", fmt.Errorf("wrapped: %w", errors.New("bad "+testSecret)),
		"api_key", "something",
		"any", struct{ A string }{testSecret},
		"stringer", &secretive{testSecret},
		slog.Group("sub", "x", testSecret, "ok", true),
		"dur", 5, "key", "aws|p5")
	got := out.String()
	for _, leak := range []string{testSecret, "k1", "something"} {
		if strings.Contains(got, leak) {
			t.Errorf("%q shown in %s", leak, got)
		}
	}
	for _, kept := range []string{"message REDACTED", `g.err="wrapped: bad REDACTED"`, "g.n=1", "g.sub.ok=true", "g.dur=5", "g.key=aws|p5", "https://h/?key=REDACTED&secret=REDACTED"} {
		if !strings.Contains(got, kept) {
			t.Errorf("%q missing in %s", kept, got)
		}
	}
	if log.Handler().Enabled(t.Context(), slog.LevelDebug-1) {
		t.Error("the level of the next handler does not hold")
	}
}

// TestNoLeak sends a request whose every part holds the credential, to servers
// that echo it, and searches everything that is left behind.
func TestNoLeak(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Echo", r.Header.Get("X-Api-Key"))
		w.Header().Set("X-Auth-Token", "other-"+testSecret)
		w.Header().Set("Set-Cookie", "session="+testSecret)
		w.Header().Set("Etag", `"1"`)
		if r.URL.Query().Get("fail") != "" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		if r.URL.Query().Get("echo") != "" {
			_, _ = w.Write([]byte("your key " + testSecret + " is wrong"))
		}
	}
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		a, err := OpenArchive(dir, ArchiveOptions{})
		fatal(t, err)
		w, stop := newWorld(http.HandlerFunc(echo), Options{Archive: a}, testInfo())
		defer stop()
		ctx := WithRun(t.Context(), w.fetcher.opt.Now())
		q := url.QueryEscape(testSecret)
		var errs strings.Builder
		for _, u := range []string{
			"http://localhost/list?key=" + q, "http://user:" + q + "@localhost/list?other=" + q,
			"http://localhost/list?fail=1&token=" + q, "http://localhost/list?fail=1&echo=1", "http://localhost/list?echo=1",
			"http://elsewhere.example/?signature=" + q, "http://localhost/" + url.PathEscape(testSecret) + "?fail=1",
		} {
			r := Request{URL: u, Header: http.Header{"X-Api-Key": {testSecret}, "Authorization": {"Bearer " + testSecret}}}
			if _, err := w.get(ctx, r); err != nil {
				fmt.Fprintln(&errs, err)
			}
			r.Body = []byte("client_secret=" + q)
			if _, err := w.get(ctx, r); err != nil {
				fmt.Fprintln(&errs, err)
			}
		}
		found := map[string]string{"errors": errs.String(), "log": w.log.String(), "bodies": fmt.Sprint(w.bodies)}
		fatal(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			found[path] = string(data)
			if hash, ok := strings.CutSuffix(d.Name(), ".zst"); ok {
				body, _ := readObject(a, hash)
				found[path] = body
			}
			return err
		}))
		for where, text := range found {
			for _, leak := range []string{testSecret, q, "s3cr3t"} {
				if strings.Contains(text, leak) {
					t.Errorf("%s shows the credential: %s", where, text)
				}
			}
		}
		if !strings.Contains(w.log.String(), "body not archived") {
			t.Error("nothing says that a body was left out of the archive")
		}
		if errs.Len() == 0 || len(w.bodies) != 12 {
			t.Errorf("%d bodies, errors %s", len(w.bodies), &errs)
		}
	})
}

// TestSDKErrors: errors that pass through http.Client carry their sentinel.
func TestSDKErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := newWorld(raw(""), Options{}, testInfo())
		defer stop()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/", strings.NewReader("Action=X"))
		fatal(t, err)
		resp, err := w.HTTPClient("list").Do(req)
		if err == nil {
			resp.Body.Close()
		}
		fe, ok := errors.AsType[*gputide.FetchError](err)
		if !ok || !errors.Is(err, gputide.ErrUnavailable) || fe.Attempt != 4 {
			t.Errorf("error %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		resp, err = w.HTTPClient("list").Do(req.Clone(ctx))
		if err == nil {
			resp.Body.Close()
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}
