package all_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/all"
	"github.com/gputide/gputide/providers/providertest"
)

const docsDir = "../../docs/providers"

func infos(t *testing.T, secret func(string) string) []gputide.Info {
	t.Helper()
	var list []gputide.Info
	for _, p := range all.Providers(fetch.New(fetch.Options{}), secret, nil) {
		list = append(list, p.Info())
	}
	return list
}

func none(string) string { return "" }

func names(list []gputide.Info) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].Name
	}
	return out
}

// entries lists the names in dir, without the suffix ext and the exceptions.
func entries(t *testing.T, dir, ext string, except ...string) []string {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range found {
		if name, ok := strings.CutSuffix(e.Name(), ext); ok && e.IsDir() == (ext == "") && !slices.Contains(except, name) {
			out = append(out, name)
		}
	}
	return out
}

// TestKit proves that no part of a provider is forgotten.
func TestKit(t *testing.T) {
	registry := names(infos(t, none))
	if !slices.IsSorted(registry) || len(slices.Compact(slices.Clone(registry))) != len(registry) {
		t.Errorf("registry is not sorted, or names a provider twice: %v", registry)
	}
	for what, got := range map[string][]string{
		"providers/":     entries(t, "..", "", "all", "providertest"),
		"fixtures/":      entries(t, "../../fixtures", "", "history"),
		"docs/providers": entries(t, docsDir, ".md"),
	} {
		if d := cmp.Diff(registry, got); d != "" && !(providertest.Updating() && what == "docs/providers") {
			t.Errorf("registry and %s differ (-registry +found):\n%s", what, d)
		}
	}
	for _, name := range registry {
		for _, file := range []string{name + ".go", name + "_test.go"} {
			if _, err := os.Stat(filepath.Join("..", name, file)); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestSecrets proves that the credentials asked for are those that Info declares.
func TestSecrets(t *testing.T) {
	asked := make(map[string]bool)
	declared := make(map[string]bool)
	for _, info := range infos(t, func(env string) string { asked[env] = true; return "" }) {
		for _, s := range info.Sources {
			for _, env := range s.Env {
				declared[env] = true
			}
		}
	}
	if d := cmp.Diff(declared, asked); d != "" {
		t.Errorf("variables (-declared +asked):\n%s", d)
	}
}

// TestDocs proves that the pages say what Info says; -update writes them.
func TestDocs(t *testing.T) {
	for _, info := range infos(t, none) {
		file := filepath.Join(docsDir, info.Name+".md")
		page := docPage(&info)
		if providertest.Updating() {
			if err := os.WriteFile(file, page, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%v: run with -update", err)
			continue
		}
		if d := cmp.Diff(string(page), string(got)); d != "" {
			t.Errorf("%s is out of date, run with -update (-want +got):\n%s", file, d)
		}
	}
}

func docPage(info *gputide.Info) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- Made from Info by `go test ./providers/all -update`. Do not edit. -->\n# %s\n\n", info.Title)
	fmt.Fprintf(&b, "`gputide crawl --provider %s` reads what %s publishes: <%s>\n\n", info.Name, info.Title, info.Home)
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "- %s: %s\n", name, value)
		}
	}
	fact("Markets", list(info.Markets))
	fact("Currencies", list(info.Currencies))
	fact("Price books", list(info.Partitions))
	cadence := "every " + hours(info.Cadence)
	for _, p := range info.Paces {
		cadence += fmt.Sprintf("; %s by itself every %s", p.Market, hours(p.Cadence))
	}
	fact("Cadence", cadence)
	fact("Evidence", evidence(info.Evidence))
	fact("Not given", info.Note)
	b.WriteString("\n## Sources\n\nIn order of authority: a scope is fed by the first that answers.\n\n" +
		"| source | gives | address | key |\n| --- | --- | --- | --- |\n")
	for _, s := range info.Sources {
		address := "built in"
		if s.URL != "" {
			address = "`" + s.URL + "`"
		}
		if s.Doc != "" {
			address += " ([documentation](" + s.Doc + "))"
		}
		key := "none"
		if s.Auth == gputide.AuthKey {
			key = "`" + strings.Join(s.Env, "` `") + "`: " + s.Gives
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.ID, s.Title, address, key)
	}
	return b.Bytes()
}

func list[T ~string](values []T) string {
	var out []string
	for _, v := range values {
		out = append(out, "`"+string(v)+"`")
	}
	return strings.Join(out, ", ")
}

func hours(d time.Duration) string {
	switch {
	case d == time.Hour:
		return "hour"
	case d == 24*time.Hour:
		return "day"
	case d%time.Hour == 0:
		return fmt.Sprintf("%d hours", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return d.String()
}

func evidence(e gputide.Evidence) string {
	if e == gputide.EvidenceRecorded {
		return "proven on recorded answers of the live source"
	}
	return "not yet verified live: proven on " + string(e) + " answers"
}
