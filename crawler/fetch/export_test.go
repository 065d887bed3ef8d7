package fetch

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

// TestExportScrubs holds that an exported fixture tells nothing of who asked and
// keeps everything else to the byte.
func TestExportScrubs(t *testing.T) {
	const answer = `{"RequestId":"6c1f-77", "x-amzn-RequestId": "u", "ownerId" : "123456789012","Uin":700001, "uinCode":"kept",
"arn":"arn:aws:ec2:us-east-1:123456789012:instance/x","AccessKeyId":"AKIA\"1","price":"34.5","total":700001,"NextToken":"page2",
"name":"阿里云","echo":"topsecret"}`
	const want = `{"RequestId":"REDACTED", "x-amzn-RequestId": "REDACTED", "ownerId" : "REDACTED","Uin":0, "uinCode":"kept",
"arn":"arn:aws:ec2:us-east-1:000000000000:instance/x","AccessKeyId":"REDACTED","price":"34.5","total":700001,"NextToken":"page2",
"name":"阿里云","echo":"REDACTED"}`
	mux := http.NewServeMux()
	mux.HandleFunc("/json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("X-Request-Id", "6c1f-77")
		w.Header().Set("Opc-Next-Page", "p2")
		_, _ = w.Write([]byte(answer))
	})
	mux.HandleFunc("/xml", text("<r><requestId>6c1f</requestId><price>1</price><ownerId>123456789012</ownerId></r>"))
	mux.HandleFunc("/subscriptions/topsecret/skus", text("kept"))
	mux.HandleFunc("/again", text("kept"))
	synctest.Test(t, func(t *testing.T) {
		a := openArchive(t, ArchiveOptions{})
		at := time.Date(2026, 8, 22, 0, 0, 0, 0, time.UTC)
		w, stop := newWorld(mux, Options{Archive: a}, testInfo())
		ctx := WithRun(t.Context(), at)
		for _, url := range []string{
			"/json?region=a&AccessKeyId=AKIA1&Signature=abc&Timestamp=1", "/xml", "/subscriptions/topsecret/skus", "/again",
		} {
			_, err := w.get(ctx, Request{URL: "http://localhost" + url})
			fatal(t, err)
		}
		stop()

		out := t.TempDir()
		done, err := a.Export("acme", at, out, NewRedactor("topsecret"))
		fatal(t, err)
		dir := filepath.Join(out, "acme")
		if diff := cmp.Diff(&Exported{Dir: dir, Exchanges: 4, Files: 3, Bytes: done.Bytes, Scrubbed: 9}, done); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for name, text := range map[string]string{
			"001-list.json": want, "002-list.txt": "<r><requestId>REDACTED</requestId><price>1</price><ownerId>REDACTED</ownerId></r>",
			"003-list.txt": "kept",
		} {
			got, err := os.ReadFile(filepath.Join(dir, name))
			fatal(t, err)
			if diff := cmp.Diff(text, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		head, err := os.ReadFile(filepath.Join(dir, manifestName))
		fatal(t, err)
		for _, no := range []string{"topsecret", "AKIA", "Signature", "Timestamp", "6c1f", "X-Request-Id"} {
			if strings.Contains(string(head), no) {
				t.Errorf("the manifest holds %s:\n%s", no, head)
			}
		}

		fix, err := OpenFixtures(out)
		fatal(t, err)
		w, stop = newWorld(text("the network"), Options{Fixtures: fix, Secrets: []string{"topsecret"}}, testInfo())
		defer stop()
		for _, url := range []string{
			"/json?region=a&AccessKeyId=AKIA2&Signature=xyz&Timestamp=2", "/xml", "/subscriptions/topsecret/skus", "/again",
		} {
			if _, err := w.get(WithRun(t.Context(), at), Request{URL: "http://localhost" + url}); err != nil {
				t.Errorf("%s: %v", url, err)
			}
		}
		if _, err := w.get(t.Context(), Request{URL: "http://localhost/json?region=b"}); !errors.Is(err, gputide.ErrUnavailable) {
			t.Errorf("another region is answered: %v", err)
		}

		_, err = a.Export("acme", at, out, NewRedactor())
		if he, ok := errors.AsType[*gputide.HintError](err); !ok || !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("over a folder: %v, hint %v", err, he)
		}
		if _, err := a.Export("acme", at.Add(time.Second), t.TempDir(), NewRedactor()); !errors.Is(err, gputide.ErrNotFound) {
			t.Errorf("another moment: %v", err)
		}
	})
}

// FuzzScrub holds that scrubbing ends, leaves no known secret and is done after
// one time.
func FuzzScrub(f *testing.F) {
	f.Add([]byte(`{"requestId":"a\"b","uin":12}`))
	f.Add([]byte(`<ownerId>1</ownerId> s3cr3t arn:aws:iam::123456789012:user`))
	s := newScrubber(NewRedactor("s3cr3t"))
	f.Fuzz(func(t *testing.T, body []byte) {
		once := s.text(body)
		if strings.Contains(string(once), "s3cr3t") {
			t.Errorf("the secret stays: %q", once)
		}
		if twice := s.text(once); string(twice) != string(once) {
			t.Errorf("%q becomes %q", once, twice)
		}
	})
}
