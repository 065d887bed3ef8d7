package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler"
)

// maxConfig bounds the size of a configuration file.
const maxConfig = 256 << 10

// config is gputide.yaml: what `gputide serve` needs to know. What is absent has
// its default; there are no secrets in it.
type config struct {
	DB           string                    `yaml:"db"`
	Archive      string                    `yaml:"archive"`
	Log          string                    `yaml:"log"`
	Collect      string                    `yaml:"collect"`
	Listen       string                    `yaml:"listen"`
	ListenPublic bool                      `yaml:"listen_public"`
	Compact      string                    `yaml:"compact"`
	KeepChanges  string                    `yaml:"keep_changes"`
	Providers    map[string]providerConfig `yaml:"providers"`

	path string    // the file, empty when there is none
	tree *ast.File // for the places of its values
}

// providerConfig is how one provider is crawled.
type providerConfig struct {
	Enabled  *bool    `yaml:"enabled"`
	Every    string   `yaml:"every"`
	Schedule string   `yaml:"schedule"`
	Regions  []string `yaml:"regions"`
	Deadline string   `yaml:"deadline"`

	// Markets says how often the markets are crawled that are crawled by
	// themselves; "off" crawls one with the others.
	Markets map[string]string `yaml:"markets"`
}

// job is one provider of a daemon, its configuration understood.
type job struct {
	info     gputide.Info
	table    crawler.Timetable
	paces    []pace // markets crawled by themselves, in the order of the schema
	regions  []string
	deadline time.Duration // 0 is that of the provider
	busy     chan struct{} // full while the provider is crawled
}

// pace is a market of a provider that is crawled by itself.
type pace struct {
	market gputide.Market
	table  crawler.Timetable
}

// rest returns the markets that are crawled with the provider; none is all.
func (j *job) rest() []gputide.Market {
	if len(j.paces) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(j.info.Markets), func(m gputide.Market) bool {
		return slices.ContainsFunc(j.paces, func(p pace) bool { return p.market == m })
	})
}

// configError is a value of a configuration file that cannot be, with its place.
type configError struct {
	path         string
	line, column int
	text         string
}

// Error names the file, the line and the column.
func (e *configError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.path, e.line, e.column, e.text)
}

// Unwrap returns [gputide.ErrInvalid].
func (e *configError) Unwrap() error { return gputide.ErrInvalid }

// configPath returns the configuration file: the one named, else gputide.yaml in
// the configuration directory.
func (m *Main) configPath(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	dir, err := m.xdg("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "gputide", "gputide.yaml"), nil
}

// loadConfig reads the configuration file. Where none is named and there is none
// at its place, everything has its default.
func (m *Main) loadConfig(named string) (*config, error) {
	path, err := m.configPath(named)
	if err != nil {
		if named == "" {
			return &config{}, nil // without a home there is no default file
		}
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && named == "" {
		return &config{}, nil
	}
	if err != nil {
		return nil, &gputide.HintError{Err: fmt.Errorf("config: %w", err), Hint: "gputide config init writes an example"}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	if len(text) > maxConfig {
		return nil, fmt.Errorf("config: %w: %s is larger than %d bytes", gputide.ErrTooLarge, path, maxConfig)
	}
	return parseConfig(path, text)
}

// parseConfig reads the text of a configuration file: no unknown key, no key
// twice, no value of another type.
func parseConfig(path string, text []byte) (*config, error) {
	c := &config{}
	if err := yaml.UnmarshalWithOptions(text, c, yaml.Strict()); err != nil && !errors.Is(err, io.EOF) {
		return nil, yamlError(path, err)
	}
	tree, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, yamlError(path, err)
	}
	c.path, c.tree = path, tree // not before: a document without a key resets the whole
	return c, nil
}

// yamlError words an error of the parser with its place, and the near keys of an
// unknown one.
func yamlError(path string, err error) error {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil || at.GetToken().Position == nil {
		return fmt.Errorf("config: %w: %s: %w", gputide.ErrInvalid, path, err)
	}
	pos := at.GetToken().Position
	out := &configError{path: path, line: pos.Line, column: pos.Column, text: at.GetMessage()}
	if errors.As(err, new(*yaml.UnknownFieldError)) {
		key := at.GetToken().Value
		known := configKeys(config{})
		if pos.Column > 1 {
			known = configKeys(providerConfig{})
		}
		out.text = fmt.Sprintf("unknown key %q", clip(key))
		if hint := didYouMean(near(key, known)); hint != "" {
			out.text += hint
		} else {
			out.text += ": there are " + strings.Join(known, ", ")
		}
	}
	return out
}

// configKeys returns the keys of a struct of the configuration.
func configKeys(v any) []string {
	var keys []string
	t := reflect.TypeOf(v)
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("yaml"); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// wrong returns an error about the value at a path of keys.
func (c *config) wrong(err error, keys ...string) error {
	text := strings.TrimPrefix(err.Error(), gputide.ErrInvalid.Error()+": ")
	out := &configError{path: c.path, line: 1, column: 1, text: strings.Join(keys, ".") + ": " + text}
	node := ast.Node(nil)
	if c.tree != nil && len(c.tree.Docs) > 0 {
		node = c.tree.Docs[0].Body
	}
	for _, key := range keys {
		mapping, ok := node.(*ast.MappingNode)
		if !ok {
			break
		}
		i := slices.IndexFunc(mapping.Values, func(v *ast.MappingValueNode) bool { return v.Key.GetToken().Value == key })
		if i < 0 {
			break
		}
		pos := mapping.Values[i].Key.GetToken().Position
		out.line, out.column = pos.Line, pos.Column
		node = mapping.Values[i].Value
	}
	return out
}

// beside resolves a path of the file: a relative one is beside the file.
func (c *config) beside(path string) string {
	if path == "" || filepath.IsAbs(path) || c.path == "" {
		return path
	}
	return filepath.Join(filepath.Dir(c.path), path)
}

// check understands every value and returns the providers to crawl, in the order
// of infos.
func (c *config) check(infos []gputide.Info) ([]job, error) {
	if c.Log != "" {
		if _, err := oneOf("log-level", c.Log, logLevels()); err != nil {
			return nil, c.wrong(plain(err), "log")
		}
	}
	if c.Collect != "" {
		if _, err := oneOf("collect", c.Collect, []crawler.Collect{crawler.CollectAccelerated, crawler.CollectAll}); err != nil {
			return nil, c.wrong(plain(err), "collect")
		}
	}
	if err := c.checkListen(); err != nil {
		return nil, c.wrong(err, "listen")
	}
	if _, err := c.upkeep(); err != nil {
		return nil, err
	}
	if err := c.checkNames(infos); err != nil {
		return nil, err
	}
	var jobs []job
	for i := range infos {
		p := c.Providers[infos[i].Name]
		j, err := c.job(infos[i], &p)
		if err != nil {
			return nil, err
		}
		if p.Enabled == nil || *p.Enabled {
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// checkNames refuses a provider that is none of infos.
func (c *config) checkNames(infos []gputide.Info) error {
	known := make([]string, len(infos))
	for i := range infos {
		known[i] = infos[i].Name
	}
	for name := range c.Providers {
		if !slices.Contains(known, name) {
			hint := didYouMean(near(name, known))
			if hint == "" {
				hint = ": there are " + strings.Join(known, ", ")
			}
			return c.wrong(fmt.Errorf("unknown provider%s", hint), "providers", name)
		}
	}
	return nil
}

// plain takes the name of a flag out of an error about its value.
func plain(err error) error {
	text, _, ok := strings.Cut(err.Error(), " for --")
	_, rest, _ := strings.Cut(err.Error(), ": ")
	if !ok {
		return err
	}
	return fmt.Errorf("%s: %s", text, rest)
}

// job understands how one provider is crawled.
func (c *config) job(info gputide.Info, p *providerConfig) (job, error) {
	j := job{info: info, regions: p.Regions, busy: make(chan struct{}, 1)}
	where := func(key string) []string { return []string{"providers", info.Name, key} }
	var err error
	switch {
	case p.Every != "" && p.Schedule != "":
		return j, c.wrong(errors.New("every and schedule both say when: give one"), where("schedule")...)
	case p.Every != "":
		d, err := configSpan(p.Every)
		if err == nil {
			j.table, err = crawler.Every(d)
		}
		if err != nil {
			return j, c.wrong(err, where("every")...)
		}
	case p.Schedule != "":
		if j.table, err = crawler.Cron(p.Schedule); err != nil {
			return j, c.wrong(err, where("schedule")...)
		}
	default:
		if j.table, err = crawler.Default(info.Cadence); err != nil {
			return j, fmt.Errorf("provider %s: %w", info.Name, err)
		}
	}
	if p.Deadline != "" {
		if j.deadline, err = configSpan(p.Deadline); err != nil {
			return j, c.wrong(err, where("deadline")...)
		}
	}
	j.paces, err = c.paces(&info, p)
	return j, err
}

// paces understands how often markets of a provider are crawled by themselves.
func (c *config) paces(info *gputide.Info, p *providerConfig) ([]pace, error) {
	var out []pace
	var known []string
	for _, own := range info.Paces {
		known = append(known, string(own.Market))
		cadence := own.Cadence
		switch text, ok := p.Markets[string(own.Market)]; {
		case text == "off":
			continue
		case ok:
			d, err := configSpan(text)
			if err != nil {
				return nil, c.wrong(err, "providers", info.Name, "markets", string(own.Market))
			}
			cadence = d
		}
		table, err := crawler.Every(cadence)
		if err != nil {
			return nil, c.wrong(err, "providers", info.Name, "markets", string(own.Market))
		}
		out = append(out, pace{own.Market, table})
	}
	for _, market := range slices.Sorted(maps.Keys(p.Markets)) {
		if !slices.Contains(known, market) {
			err := fmt.Errorf("%q is not crawled by itself: %s", clip(market), cmp.Or(strings.Join(known, ", "), "no market of this provider is"))
			return nil, c.wrong(err, "providers", info.Name, "markets", market)
		}
	}
	return out, nil
}

// configSpan reads a duration of the configuration.
func configSpan(text string) (time.Duration, error) {
	d, err := parseSpan("", text)
	if err != nil {
		return 0, fmt.Errorf("%q is no span: write 30s, 10m, 6h or 1d", clip(text))
	}
	return d, nil
}

// checkListen refuses an address others could reach unless the file says so.
func (c *config) checkListen() error {
	if c.Listen == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil || port == "" {
		return fmt.Errorf("%q is no address: write 127.0.0.1:8686", clip(c.Listen))
	}
	ip := net.ParseIP(host)
	if host == "localhost" || (ip != nil && ip.IsLoopback()) || c.ListenPublic {
		return nil
	}
	return fmt.Errorf("%q can be reached from other machines and nothing asks them who they are: use 127.0.0.1, or set listen_public: true", clip(c.Listen))
}
