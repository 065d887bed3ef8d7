package providertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/gputide/gputide/crawler/fetch"
)

// fixture is a manifest with its bodies, held in memory to be spoiled.
type fixture struct {
	Provider   string     `json:"provider"`
	Kind       string     `json:"kind"`
	CapturedAt time.Time  `json:"captured_at"`
	Note       string     `json:"note"`
	Exchanges  []exchange `json:"exchanges"`

	bodies map[string][]byte // by file name
}

// exchange is one request and its answer.
type exchange struct {
	Source       string            `json:"source"`
	Method       string            `json:"method,omitempty"`
	URL          string            `json:"url"`
	BodyContains string            `json:"body_contains,omitempty"`
	Status       int               `json:"status,omitempty"`
	Headers      map[string]string `json:"headers,omitempty"`
	File         string            `json:"file,omitempty"`
	Times        int               `json:"times,omitempty"`
}

// robots reports whether e answers for robots.txt and not for the source.
func (e *exchange) robots() bool {
	u, err := url.Parse(e.URL)
	return err == nil && u.Path == "/robots.txt"
}

// readFixture reads the manifest of a folder and every body it names.
func readFixture(dir string) (*fixture, error) {
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return nil, err
	}
	f := &fixture{bodies: map[string][]byte{}}
	if err := json.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("manifest of %s: %w", dir, err)
	}
	for _, e := range f.Exchanges {
		if e.File == "" || f.bodies[e.File] != nil {
			continue
		}
		body, err := os.ReadFile(filepath.Join(dir, e.File))
		if err != nil {
			return nil, err
		}
		f.bodies[e.File] = body
	}
	return f, nil
}

// open returns the fixture as the program would read it from a folder.
func (f *fixture) open() (*fetch.Fixtures, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	files := make(fstest.MapFS, len(f.bodies)+1)
	for name, body := range f.bodies {
		files[path.Join(f.Provider, name)] = &fstest.MapFile{Data: body}
	}
	files[path.Join(f.Provider, "manifest.json")] = &fstest.MapFile{Data: text}
	return fetch.FixturesFS(files)
}

// clone returns a copy that can be changed; bodies are replaced, never edited.
func (f *fixture) clone() *fixture {
	c := *f
	c.Exchanges = slices.Clone(f.Exchanges)
	c.bodies = maps.Clone(f.bodies)
	for i := range c.Exchanges {
		c.Exchanges[i].Headers = maps.Clone(f.Exchanges[i].Headers)
	}
	return &c
}

// answer returns f with exchange i answering something else. A body of nil keeps
// the body.
func (f *fixture) answer(i, status int, headers map[string]string, body []byte) *fixture {
	c := f.clone()
	e := &c.Exchanges[i]
	e.Status = status
	if e.Headers == nil {
		e.Headers = map[string]string{}
	}
	for name, v := range headers {
		e.Headers[name] = v
	}
	if body != nil {
		name := fmt.Sprintf("spoilt-%d", i)
		e.File = name
		c.bodies[name] = body
	}
	return c
}

// edit returns f with every body of a source edited, and how many the edit
// changed.
func (f *fixture) edit(source string, change func([]byte) ([]byte, error)) (*fixture, int) {
	c, n := f.clone(), 0
	for i := range c.Exchanges {
		e := &c.Exchanges[i]
		if e.Source != source || e.File == "" || e.robots() {
			continue
		}
		body, err := repack(f.bodies[e.File], change)
		if err != nil || body == nil {
			continue
		}
		n++
		e.File = fmt.Sprintf("edited-%d", i)
		c.bodies[e.File] = body
		dropHeader(e.Headers, "Content-Length")
	}
	return c, n
}

func dropHeader(h map[string]string, name string) {
	for n := range h {
		if strings.EqualFold(n, name) {
			delete(h, n)
		}
	}
}
