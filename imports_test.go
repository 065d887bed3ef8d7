package gputide_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/gputide/gputide"

// layers names, for each package or tree of packages, what of this module its
// non-test code may import. A trailing slash names a tree.
var layers = []struct {
	pkg     string
	imports []string
}{
	{"", nil},
	{"crawler/fetch", []string{""}},
	{"crawler", []string{"", "crawler/fetch", "normalize"}},
	{"fixtures", nil},
	{"normalize", []string{""}},
	{"normalize/importcsv", []string{"", "normalize"}},
	{"store", []string{""}},
	{"store/storetest", []string{""}},
	{"query", []string{""}},
	{"api", []string{"", "query"}},
	{"providers/all", []string{"", "crawler/fetch", "providers/"}},
	{"providers/providertest", []string{"", "crawler/fetch", "normalize"}},
	{"providers/", []string{"", "crawler/fetch"}}, // and its own sub-packages
	{"cmd/", []string{"", "api", "cmd/", "crawler", "crawler/fetch", "fixtures", "normalize", "normalize/importcsv", "providers/", "query", "store"}},
}

// outside names the packages that alone may import a module.
var outside = map[string][]string{
	"go.etcd.io/bbolt":                         {"store"},
	"github.com/gocolly/colly/v2":              {"crawler/fetch"},
	"github.com/aws/aws-sdk-go-v2":             {"providers/aws/"},
	"github.com/aws/aws-sdk-go-v2/service/ec2": {"providers/aws/"},
	"github.com/spf13/cobra":                   {"cmd/"},
	"net/http":                                 {"api", "crawler/fetch", "providers/aws/", "providers/providertest", "cmd/"},
	"github.com/RoaringBitmap/roaring/v2":      {"store"},
	"github.com/goccy/go-yaml":                 {"normalize", "normalize/importcsv", "cmd/"},
	"github.com/jedib0t/go-pretty/v6/table":    {"cmd/"},
	"github.com/robfig/cron/v3":                {"crawler"},
	"github.com/klauspost/compress/zstd":       {"crawler/fetch", "store"},
}

type listed struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	return pkgs
}

func inside(path string) (string, bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}

func matches(pattern, pkg string) bool {
	if strings.HasSuffix(pattern, "/") {
		return strings.HasPrefix(pkg+"/", pattern)
	}
	return pattern == pkg
}

func TestImportDirection(t *testing.T) {
	for _, p := range packages(t) {
		pkg, _ := inside(p.ImportPath)
		i := slices.IndexFunc(layers, func(l struct {
			pkg     string
			imports []string
		},
		) bool {
			return matches(l.pkg, pkg)
		})
		if i < 0 {
			t.Errorf("package %s has no layer: add it to the table or to an existing folder", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			dep, ok := inside(imp)
			if !ok || slices.ContainsFunc(layers[i].imports, func(a string) bool { return matches(a, dep) }) || ownTree(pkg, dep) {
				continue
			}
			t.Errorf("%s imports %s: outside its layer", pkg, dep)
		}
	}
}

// ownTree reports whether dep lies in the same provider's folder as pkg.
func ownTree(pkg, dep string) bool {
	parts := strings.SplitN(pkg, "/", 3)
	return len(parts) >= 2 && parts[0] == "providers" && strings.HasPrefix(dep+"/", "providers/"+parts[1]+"/")
}

func TestOutsideModulesStayInTheirPackage(t *testing.T) {
	importers := map[string][]string{}
	for _, p := range packages(t) {
		pkg, _ := inside(p.ImportPath)
		for _, imp := range p.Imports {
			importers[imp] = append(importers[imp], pkg)
			for root, allowed := range outside {
				if (imp == root || strings.HasPrefix(imp, root+"/")) && !slices.ContainsFunc(allowed, func(a string) bool { return matches(a, pkg) }) {
					t.Errorf("%s imports %s, which only %v may", pkg, imp, allowed)
				}
			}
			if first, _, _ := strings.Cut(imp, "/"); pkg == "" && strings.Contains(first, ".") {
				t.Errorf("the root package imports %s: it may use the standard library only", imp)
			}
		}
	}
	const ec2 = "github.com/aws/aws-sdk-go-v2/service/ec2"
	if n := len(importers[ec2]); n > 1 {
		t.Errorf("%d packages import %s (%v): one alone, for it takes a minute to compile", n, ec2, importers[ec2])
	}
}
