package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/normalize"
	"github.com/gputide/gputide/providers/all"
	"github.com/gputide/gputide/query"
	"github.com/gputide/gputide/store"
)

// loadNormalizer loads the tables of meaning.
func loadNormalizer() (*normalize.Normalizer, error) {
	cat, err := normalize.LoadCatalogue()
	if err != nil {
		return nil, err
	}
	regions, err := normalize.LoadRegions()
	if err != nil {
		return nil, err
	}
	return &normalize.Normalizer{Catalogue: cat, Regions: regions}, nil
}

// openRead opens the database for reading.
func (m *Main) openRead() (*store.DB, error) {
	norm, err := loadNormalizer()
	if err != nil {
		return nil, err
	}
	return m.openReadWith(norm)
}

func (m *Main) openReadWith(norm *normalize.Normalizer) (*store.DB, error) {
	path, err := m.dbPath()
	if err != nil {
		return nil, err
	}
	return store.Open(path, store.Options{ReadOnly: true, Deriver: norm, Now: m.Now, ToolVersion: version()})
}

// openWrite opens the database for writing and makes it, with its folder, when
// there is none.
func (m *Main) openWrite(norm *normalize.Normalizer) (*store.DB, error) {
	path, err := m.dbPath()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	return store.Open(path, store.Options{Deriver: norm, Now: m.Now, ToolVersion: version()})
}

// newEngine returns what answers queries about an open database.
func (m *Main) newEngine(norm *normalize.Normalizer, db *store.DB) *query.Engine {
	infos := m.infos()
	names := make([]string, len(infos))
	called := map[string]string{}
	for i := range infos {
		names[i] = infos[i].Name
		if zh := infos[i].TitleZH; zh != "" {
			called[strings.ToLower(zh)] = infos[i].Name
		}
	}
	return &query.Engine{
		Reader: db, Catalogue: norm.Catalogue, Regions: norm.Regions, Now: m.Now, Providers: names, Called: called, Arithmetic: arithmetic,
	}
}

// arithmetic words how the hourly price follows from what was published.
func arithmetic(q *gputide.Quote) ([]string, error) {
	return normalize.Explain(q.Published, q.Key.Term, q.Key.Currency)
}

// fetcher makes the HTTP client of the process: opt with what the program has.
func (m *Main) fetcher(opt fetch.Options) *fetch.Fetcher {
	opt.Logger, opt.Now, opt.Dial, opt.Transport, opt.Redactor = m.log, m.Now, m.Dial, m.Transport, m.redact
	return fetch.New(opt)
}

// registry returns the providers of this build on a fetcher. Their credentials
// become known to the redactor.
func (m *Main) registry(f *fetch.Fetcher, regions []string) ([]gputide.Provider, error) {
	s, err := m.loadSecrets()
	if err != nil {
		return nil, err
	}
	secret := func(name string) string {
		v := s.get(name)
		m.redact.Add(v)
		return v
	}
	return all.Providers(f, secret, regions), nil
}

// infos returns the facts of every provider.
func (m *Main) infos() []gputide.Info {
	none := func(string) string { return "" }
	list := all.Providers(m.fetcher(fetch.Options{}), none, nil)
	infos := make([]gputide.Info, len(list))
	for i, p := range list {
		infos[i] = p.Info()
	}
	return infos
}

// checkProvider refuses a provider this build does not know; empty is any.
func (m *Main) checkProvider(name string) error {
	if name == "" {
		return nil
	}
	return m.checkProviders([]string{name})
}

func (m *Main) checkProviders(names []string) error {
	infos := m.infos()
	known := make([]string, len(infos))
	for i := range infos {
		known[i] = infos[i].Name
	}
	for _, n := range names {
		if slices.Contains(known, n) {
			continue
		}
		if _, err := oneOf("provider", n, known); err != nil {
			return err
		}
	}
	return nil
}
