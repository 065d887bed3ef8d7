package fetch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// maxExport bounds all bodies of an exported run together: a fixture is a small
// thing.
const maxExport = 64 << 20

// Exported is what [Archive.Export] wrote.
type Exported struct {
	Dir       string // of the provider
	Exchanges int
	Files     int
	Bytes     int64 // of the bodies
	Scrubbed  int   // values replaced in them
}

// Export writes an archived run as a fixture: out/<provider>/manifest.json and
// the bodies beside it, which [OpenFixtures] reads. What tells who asked is
// replaced: credentials, also those that redact knows by value, identities of
// accounts and of requests. Every exchange of the run stays; trimming rows is
// left to a person. A folder that is there already is ErrInvalid, a run larger
// than 64 MiB ErrTooLarge; nothing is then written.
func (a *Archive) Export(provider string, at time.Time, out string, redact *Redactor) (*Exported, error) {
	set, err := a.run(provider, at)
	if err != nil {
		return nil, err
	}
	e := &exporter{
		set: set, scrub: newScrubber(redact), names: map[string]string{}, bodies: map[string][]byte{},
		done: &Exported{Dir: filepath.Join(out, provider), Exchanges: len(set.exchanges)},
	}
	text, err := e.manifest()
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	if err := e.write(text); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return e.done, nil
}

// exporter turns one run into the files of a fixture.
type exporter struct {
	set    *fixtureSet
	scrub  *scrubber
	names  map[string]string // hash of a body → its file
	bodies map[string][]byte // file → scrubbed body
	done   *Exported
}

// manifest collects the bodies and returns the manifest that names them.
func (e *exporter) manifest() ([]byte, error) {
	m := manifest{
		Provider: e.set.Provider, Kind: string(e.set.Kind), CapturedAt: e.set.CapturedAt.Format(time.RFC3339),
		Note: "Recorded by a crawl. Credentials and the identities of accounts and requests were replaced.",
	}
	for _, x := range e.set.exchanges {
		if e.scrub.redact.values(x.BodyContains) != x.BodyContains {
			return nil, fmt.Errorf("%w: a request of source %s holds a credential, and its answer cannot be told from others without it", gputide.ErrInvalid, x.Source)
		}
		file, err := e.body(x)
		if err != nil {
			return nil, err
		}
		headers := map[string]string{}
		for name, value := range x.Headers {
			if isExportedHeader(name) {
				headers[name] = string(e.scrub.text([]byte(value)))
			}
		}
		m.Exchanges = append(m.Exchanges, exchange{
			Source: x.Source, Method: x.Method, URL: exportedURL(e.scrub.redact.URL(x.URL)), BodyContains: x.BodyContains,
			Exact: x.BodyContains != "" || x.Method != http.MethodGet, Status: x.Status, Headers: headers, File: file, Times: x.Times,
			Reduced: x.Reduced,
		})
	}
	text, err := json.MarshalIndent(&m, "", " ")
	if err != nil {
		return nil, err
	}
	_, err = parseManifest(text)
	return append(text, '\n'), err
}

// body returns the file of the body of an exchange, which several may share.
func (e *exporter) body(x *exchange) (string, error) {
	if name, ok := e.names[x.hash]; ok || x.hash == "" {
		return name, nil
	}
	r, err := e.set.open(x)
	if err != nil {
		return "", err
	}
	defer closeQuietly(r)
	text, err := io.ReadAll(io.LimitReader(r, maxExport-e.done.Bytes+1))
	if err != nil {
		return "", err
	}
	if e.done.Bytes+int64(len(text)) > maxExport {
		return "", &gputide.HintError{
			Err:  fmt.Errorf("%w: the bodies of the run are larger than %d MiB together", gputide.ErrTooLarge, maxExport>>20),
			Hint: "crawl less into an archive of its own: gputide crawl --provider NAME --region CODE --archive DIR",
		}
	}
	text = e.scrub.text(text)
	name := ""
	if len(text) > 0 {
		name = fmt.Sprintf("%03d-%s%s", len(e.bodies)+1, x.Source, bodyExt(x.Headers))
		e.bodies[name] = text
		e.done.Bytes += int64(len(text))
	}
	e.names[x.hash] = name
	return name, nil
}

func (e *exporter) write(manifest []byte) error {
	if err := os.MkdirAll(filepath.Dir(e.done.Dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(e.done.Dir, 0o755); err != nil {
		if errors.Is(err, os.ErrExist) {
			return &gputide.HintError{
				Err: fmt.Errorf("%w: %s is there already", gputide.ErrInvalid, e.done.Dir), Hint: "name another folder, or remove this one",
			}
		}
		return err
	}
	e.bodies[manifestName] = manifest
	for name, text := range e.bodies {
		if err := os.WriteFile(filepath.Join(e.done.Dir, name), text, 0o644); err != nil {
			return err
		}
	}
	e.done.Files, e.done.Scrubbed = len(e.bodies)-1, e.scrub.count
	return nil
}

// exportedURL returns the address of an exchange as a manifest has it: no
// parameter of a credential or of its signature, which no request is matched by,
// and a wildcard for what was redacted elsewhere.
func exportedURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	u.User = nil
	signed := false
	for name := range u.Query() {
		signed = signed || isCredentialParam(name)
	}
	var kept []string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if part != "" && !isCredentialParam(name) && (!signed || !isSignatureParam(name)) {
			kept = append(kept, part)
		}
	}
	u.RawQuery = strings.Join(kept, "&")
	return strings.ReplaceAll(u.String(), redacted, "*")
}

// isExportedHeader reports whether an adapter or fetch may read a header.
func isExportedHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Content-Type", "Etag", "Last-Modified", "Link", "Location", "Retry-After":
		return true
	}
	return strings.Contains(plainName(name), "nextpage")
}

// bodyExt returns how the file of a body ends.
func bodyExt(headers map[string]string) string {
	kind, _, err := mime.ParseMediaType(headers["Content-Type"])
	if err != nil {
		return ".txt"
	}
	for _, e := range [...]string{"json", "html", "xml", "csv", "javascript"} {
		if strings.Contains(kind, e) {
			return "." + strings.Replace(e, "javascript", "js", 1)
		}
	}
	return ".txt"
}
