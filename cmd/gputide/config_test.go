package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gputide/gputide"
)

func TestConfigIsStrict(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"empty":                   {"", ""},
		"only comments":           {"# nothing\n", ""},
		"everything":              {"db: x.db\narchive: off\nlog: debug\ncollect: all\nlisten: 127.0.0.1:8686\nproviders:\n  aws: {every: 6h, regions: [us-east-1], deadline: 1h}\n  ecb: {enabled: false}\n  runpod: {schedule: '*/10 * * * *'}\n", ""},
		"unknown key":             {"log: info\nlsten: 127.0.0.1:1\n", `:2:1: unknown key "lsten": did you mean listen?`},
		"unknown key of provider": {"providers:\n  aws:\n    evry: 6h\n", `:3:5: unknown key "evry": did you mean every?`},
		"far key":                 {"password: x\n", `:1:1: unknown key "password": there are db, archive`},
		"key twice":               {"log: info\nlog: warn\n", ":2:1: "},
		"unknown provider":        {"providers:\n  ecb: {}\n  runpot: {}\n", ":3:3: providers.runpot: unknown provider: did you mean runpod?"},
		"wrong type":              {"providers:\n  aws: {enabled: perhaps}\n", ":2:"},
		"list for text":           {"db: [a, b]\n", ":1:5: "},
		"not YAML":                {"providers: {aws: [\n", ":1:"},
		"two ways to say when":    {"providers:\n  aws:\n    every: 6h\n    schedule: '@daily'\n", ":4:5: providers.aws.schedule: every and schedule both"},
		"no span":                 {"providers:\n  aws:\n    every: often\n", `:3:5: providers.aws.every: "often" is no span`},
		"too often":               {"providers:\n  aws: {every: 0s}\n", ":2:9: providers.aws.every: "},
		"no cron":                 {"providers:\n  aws:\n    schedule: '61 * * * *'\n", ":3:5: providers.aws.schedule: "},
		"time zone":               {"providers:\n  aws:\n    schedule: 'TZ=Asia/Tokyo 0 3 * * *'\n", "times are UTC"},
		"never":                   {"providers:\n  aws:\n    schedule: '0 0 31 2 *'\n", "never comes true"},
		"no deadline":             {"providers:\n  aws:\n    deadline: soon\n", ":3:5: providers.aws.deadline"},
		"no pace":                 {"providers:\n  aws:\n    markets: {spot: often}\n", `:3:15: providers.aws.markets.spot: "often" is no span`},
		"market without a pace":   {"providers:\n  aws:\n    markets: {on_demand: 1h}\n", `"on_demand" is not crawled by itself: spot`},
		"provider without a pace": {"providers:\n  ecb:\n    markets: {spot: 1h}\n", "no market of this provider is"},
		"compacted by cron":       {"compact: '@monthly'\nkeep_changes: 365d\n", ""},
		"never compacted":         {"compact: off\n", ""},
		"no time to compact":      {"compact: sometimes\n", ":1:1: compact: "},
		"no span of changes":      {"keep_changes: much\n", `:1:1: keep_changes: "much" is no span`},
		"kept without compaction": {"compact: off\nkeep_changes: 365d\n", ":2:1: keep_changes: the change feed is cut when"},
		"bad level":               {"log: inf\n", `:1:1: log: unknown value "inf": did you mean info?`},
		"bad collect":             {"collect: everything\n", ":1:1: collect: "},
		"open to all":             {"listen: 0.0.0.0:80\n", ":1:1: listen: \"0.0.0.0:80\" can be reached from other machines"},
		"open on every interface": {"listen: ':80'\n", "can be reached"},
		"open to all, knowingly":  {"listen: 0.0.0.0:80\nlisten_public: true\n", ""},
		"loopback of IPv6":        {"listen: '[::1]:80'\n", ""},
		"no port":                 {"listen: 127.0.0.1\n", "is no address"},
		"disabled and wrong":      {"providers:\n  aws: {enabled: false, every: x}\n", "no span"},
		"an alias without end":    {"a: &a [*a]\n", ""}, // any error, no hang
	}
	infos := testMain(t).infos()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := parseConfig("gputide.yaml", []byte(tt.text))
			if err == nil {
				_, err = c.check(infos)
			}
			switch {
			case name == "an alias without end" && err != nil:
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || !errors.Is(err, gputide.ErrInvalid)):
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestConfigJobs(t *testing.T) {
	infos := testMain(t).infos()
	c, err := parseConfig("gputide.yaml", []byte("providers:\n  aws: {every: 6h, regions: [us-east-1], deadline: 20m}\n  ecb: {enabled: false}\n  runpod: {enabled: true}\n"))
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := c.check(infos)
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs) != len(infos)-1 {
		t.Errorf("%d jobs of %d providers, one of them off", len(jobs), len(infos))
	}
	for _, j := range jobs {
		switch j.info.Name {
		case "ecb":
			t.Error("ecb is off")
		case "aws":
			if j.table.Cadence() != 6*time.Hour || j.deadline != 20*time.Minute || len(j.regions) != 1 {
				t.Errorf("aws: %+v", j)
			}
		case "runpod":
			if j.table.Cadence() != j.info.Cadence {
				t.Errorf("runpod is crawled %s", j.table)
			}
		}
	}
}

// TestConfigPaces schedules the markets that a provider crawls by themselves
// apart from the others, each market once.
func TestConfigPaces(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "0 3 * * *: on_demand commitment capacity_block; every 10m: spot",
		"providers: {aws: {markets: {}}}": "0 3 * * *: on_demand commitment capacity_block; every 10m: spot",
		"providers: {aws: {every: 6h}}":   "every 6h: on_demand commitment capacity_block; every 10m: spot",
		"providers: {aws: {markets: {spot: 1h}}}":  "0 3 * * *: on_demand commitment capacity_block; every 1h: spot",
		"providers: {aws: {markets: {spot: off}}}": "0 3 * * *: ",
	} {
		c, err := parseConfig("gputide.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := c.check(testMain(t).infos())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range timesOf(jobs) {
			if r.job.info.Name == "aws" {
				got = append(got, r.table.String()+": "+strings.Trim(fmt.Sprint(r.markets), "[]"))
			}
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		entries := (&daemon{m: testMain(t).Main, jobs: jobs}).schedule().Entries
		if len(entries) != len(timesOf(jobs)) {
			t.Errorf("%q: %d entries of the schedule, want %d", text, len(entries), len(timesOf(jobs)))
		}
	}
}

// TestExampleConfig holds that the example changes nothing, and that each of its
// lines may be uncommented.
func TestExampleConfig(t *testing.T) {
	c := testMain(t)
	path := filepath.Join(t.TempDir(), "sub", "gputide.yaml")
	c.must(t, "config", "init", path)
	if code := c.run(t, "config", "init", path); code != exitError || !strings.Contains(c.err.String(), "exists") {
		t.Errorf("a file that exists: exit code %d, %s", code, c.err.String())
	}
	withFile := strings.Replace(c.must(t, "config", "check", path), path+" is good", "", 1)
	without := strings.Replace(c.must(t, "config", "check"), "no configuration file: everything has its default", "", 1)
	if withFile != without {
		t.Errorf("the example changes the defaults:\n%s\n%s", withFile, without)
	}
	var open strings.Builder
	for line := range strings.Lines(string(mustRead(t, path))) {
		if key, ok := strings.CutPrefix(line, "#"); ok && !strings.HasPrefix(key, " ") || strings.HasPrefix(line, "#  ") {
			line = key
		}
		open.WriteString(line)
	}
	if err := os.WriteFile(path, []byte(open.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.Replace(c.must(t, "config", "check", path), path+" is good", "", 1); got != without {
		t.Errorf("uncommented, the example changes the defaults:\n%s\nfile:\n%s", got, open.String())
	}
	for _, key := range append(configKeys(config{}), configKeys(providerConfig{})...) {
		if !strings.Contains(open.String(), "\n"+key+":") && !strings.Contains(open.String(), "    "+key+":") {
			t.Errorf("the example lacks the key %s", key)
		}
	}
	if code := c.run(t, "config", "check", filepath.Join(t.TempDir(), "none.yaml")); code != exitError || !strings.Contains(c.err.String(), "hint: ") {
		t.Errorf("a file that is not there: exit code %d, %s", code, c.err.String())
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("db: x\nproviders:\n  aws: {every: 6h}\n")
	f.Add("listen: '[::1]:80'\nproviders: {runpod: {schedule: '@daily'}}")
	f.Add("a: &a [*a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig("f", []byte(text))
		if err == nil {
			_, err = c.check(nil)
		}
		if err != nil && !errors.Is(err, gputide.ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
