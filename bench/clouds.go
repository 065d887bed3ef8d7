package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// memoryLimit is what a crawl may take, the whole process.
const memoryLimit = 200 << 20

// manifest is the index of a fixture folder.
type manifest struct {
	Provider   string     `json:"provider"`
	Kind       string     `json:"kind"`
	CapturedAt string     `json:"captured_at"`
	Note       string     `json:"note"`
	Exchanges  []exchange `json:"exchanges"`
}

type exchange struct {
	Source       string            `json:"source"`
	Method       string            `json:"method,omitempty"`
	URL          string            `json:"url"`
	BodyContains string            `json:"body_contains,omitempty"`
	Status       int               `json:"status"`
	Headers      map[string]string `json:"headers,omitempty"`
	File         string            `json:"file"`
}

// cloud is a provider whose bodies are made large: real rows repeated.
type cloud struct {
	name, what string
	grow       func(dir string, m *manifest, sz sizes) error
}

var clouds = []cloud{
	{"aws", "price lists", growAWS},
	{"azure", "pages of 1,000 rows", growAzure},
	{"gcp", "pages of 5,000 SKUs", growGCP},
}

// benchClouds crawls large bodies with the shipped command and prints the most
// memory each process ever had resident.
func benchClouds(ctx context.Context, out, progress io.Writer, dir string, sz sizes) error {
	command, err := buildCommand(ctx, dir)
	if err != nil {
		return err
	}
	var rows []row
	for _, c := range clouds {
		fmt.Fprintln(progress, "crawl:", c.name)
		r, err := crawlLarge(ctx, command, dir, c, sz)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		rows = append(rows, r)
	}
	printTable(out, "Crawls of large bodies, the whole process with archive and store", []string{"bodies", "VmHWM", "offers kept", "aim"}, rows)
	return nil
}

func crawlLarge(ctx context.Context, command, dir string, c cloud, sz sizes) (row, error) {
	fixtures := filepath.Join(dir, "fixtures-"+c.name)
	total, files, err := largeFixture(filepath.Join(fixtures, c.name), c, sz)
	if err != nil {
		return row{}, err
	}
	defer os.RemoveAll(fixtures)
	db := filepath.Join(dir, c.name+".db")
	var stderr bytes.Buffer
	crawl := exec.CommandContext(ctx, command, "crawl", "--fixtures", fixtures, "--provider", c.name, "--db", db, "--archive", filepath.Join(dir, "archive"))
	crawl.Stderr = &stderr
	if err := crawl.Run(); err != nil {
		return row{}, fmt.Errorf("%w: %s", err, stderr.String())
	}
	usage, ok := crawl.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return row{}, errors.New("the system reports no resource usage")
	}
	hwm := usage.Maxrss << 10
	offers, err := exec.CommandContext(ctx, command, "query", "offers", "--all", "--provider", c.name, "--db", db, "-o", "ndjson").Output()
	if err != nil {
		return row{}, err
	}
	return row{c.name, []string{
		fmt.Sprintf("%d %s, %.0f MB", files, c.what, float64(total)/1e6), fmt.Sprintf("%.0f MiB", float64(hwm)/(1<<20)),
		strconv.Itoa(bytes.Count(offers, []byte("\n"))), aim{text: "< 200 MiB", limit: memoryLimit}.cell([]float64{float64(hwm)}),
	}}, nil
}

// largeFixture writes the project's fixture of a provider with grown bodies, and
// returns the bytes and number of those.
func largeFixture(dir string, c cloud, sz sizes) (total int64, files int, err error) {
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "fixtures", c.name))); err != nil {
		return 0, 0, err
	}
	var m manifest
	path := filepath.Join(dir, "manifest.json")
	if err := readJSON(path, &m); err != nil {
		return 0, 0, err
	}
	if err := c.grow(dir, &m, sz); err != nil {
		return 0, 0, err
	}
	if err := writeJSON(path, &m); err != nil {
		return 0, 0, err
	}
	grown, err := filepath.Glob(filepath.Join(dir, "large-*"))
	if err != nil {
		return 0, 0, err
	}
	for _, g := range grown {
		st, err := os.Stat(g)
		if err != nil {
			return 0, 0, err
		}
		total += st.Size()
	}
	return total, len(grown), nil
}

// growAWS repeats the rows of each region's price list.
func growAWS(dir string, m *manifest, sz sizes) error {
	for i := range m.Exchanges {
		x := &m.Exchanges[i]
		if !strings.HasPrefix(x.Source, "bulk-csv") {
			continue
		}
		large := "large-" + x.File
		if err := writeList(filepath.Join(dir, x.File), filepath.Join(dir, large), sz.listBytes); err != nil {
			return err
		}
		x.File = large
	}
	return nil
}

// azureRegions are where growAzure says that Azure sells: a region's list is
// never as long as all the pages together.
var azureRegions = []string{
	"australiaeast", "brazilsouth", "canadacentral", "centralindia", "eastus", "eastus2", "francecentral", "germanywestcentral",
	"japaneast", "koreacentral", "northeurope", "southcentralus", "swedencentral", "switzerlandnorth", "uksouth", "westeurope",
}

// growAzure makes as many pages as asked, in equal parts for each region, each a
// thousand rows of one region's list with meters of their own.
func growAzure(dir string, m *manifest, sz sizes) error {
	const prices, index, from, perPage = "retail-prices", "retail-regions", "eastus", 1000
	var pages []exchange
	rest := slices.DeleteFunc(slices.Clone(m.Exchanges), func(x exchange) bool { return x.Source == prices })
	for _, x := range m.Exchanges {
		if x.Source == prices && strings.Contains(x.URL, "%27"+from+"%27") {
			pages = append(pages, x) // the first page last
		}
	}
	first := pages[len(pages)-1]
	rows, page, err := azureRows(dir, pages)
	if err != nil {
		return err
	}
	each := max(1, sz.azurePages/len(azureRegions))
	for n, region := range azureRegions {
		for p := range each {
			url := func(p int) string {
				u := strings.ReplaceAll(first.URL, "%27"+from+"%27", "%27"+region+"%27")
				if p > 0 {
					u += fmt.Sprintf("&$skip=%d", p*perPage)
				}
				return u
			}
			page["NextPageLink"], page["Count"] = any(nil), perPage
			if p+1 < each {
				page["NextPageLink"] = url(p + 1)
			}
			items := make([]map[string]any, perPage)
			for i := range items {
				items[i] = maps.Clone(rows[i%len(rows)])
				items[i]["armRegionName"] = region
				items[i]["meterId"] = fmt.Sprintf("%08d-%04d-4000-8000-%012d", n, p, i)
			}
			page["Items"] = items
			x := first
			x.URL, x.File = url(p), fmt.Sprintf("large-%s-%d.json", region, p)
			if err := writeJSON(filepath.Join(dir, x.File), page); err != nil {
				return err
			}
			rest = append(rest, x)
		}
	}
	m.Exchanges = rest
	return growAzureIndex(dir, m, index)
}

// growAzureIndex lists azureRegions and no other in the index of regions.
func growAzureIndex(dir string, m *manifest, source string) error {
	i := slices.IndexFunc(m.Exchanges, func(x exchange) bool { return x.Source == source })
	if i < 0 {
		return errors.New("the fixture has no index of regions")
	}
	rows, page, err := azureRows(dir, m.Exchanges[i:i+1])
	if err != nil {
		return err
	}
	var items []map[string]any
	for _, region := range azureRegions {
		row := maps.Clone(rows[0])
		row["armRegionName"] = region
		items = append(items, row)
	}
	page["Items"], page["Count"] = items, len(items)
	m.Exchanges[i].File = "regions-large.json"
	return writeJSON(filepath.Join(dir, m.Exchanges[i].File), page)
}

// azureRows returns the rows of a region's pages and the envelope of its first.
func azureRows(dir string, pages []exchange) (rows []map[string]any, page map[string]any, err error) {
	for _, x := range pages {
		page = map[string]any{}
		if err := readJSON(filepath.Join(dir, x.File), &page); err != nil {
			return nil, nil, err
		}
		items, ok := page["Items"].([]any)
		if !ok {
			return nil, nil, fmt.Errorf("%s has no rows", x.File)
		}
		for _, item := range items {
			rows = append(rows, item.(map[string]any)) //nolint:forcetypeassert // our own fixture
		}
	}
	return rows, page, nil
}

// growGCP makes as many pages as asked of the SKUs of the fixture.
func growGCP(dir string, m *manifest, sz sizes) error {
	const source, perPage = "skus", 5000
	var first *exchange
	var skus []map[string]any
	rest := slices.DeleteFunc(slices.Clone(m.Exchanges), func(x exchange) bool { return x.Source == source })
	for i := range m.Exchanges {
		x := &m.Exchanges[i]
		if x.Source != source {
			continue
		}
		if first == nil {
			first = x
		}
		var page struct {
			SKUs []map[string]any `json:"skus"`
		}
		if err := readJSON(filepath.Join(dir, x.File), &page); err != nil {
			return err
		}
		skus = append(skus, page.SKUs...)
	}
	for p := range sz.gcpPages {
		page := map[string]any{"nextPageToken": ""}
		if p+1 < sz.gcpPages {
			page["nextPageToken"] = fmt.Sprintf("P%d", p+1)
		}
		items := make([]map[string]any, perPage)
		for i := range items {
			n := p*perPage + i
			items[i] = maps.Clone(skus[n%len(skus)])
			id := fmt.Sprintf("%04X-%04X-%04X", n>>16, n&0xffff, n%len(skus))
			items[i]["skuId"], items[i]["name"] = id, "services/6F81-5844-456A/skus/"+id
		}
		page["skus"] = items
		x := *first
		if p > 0 {
			x.URL += fmt.Sprintf("&pageToken=P%d", p)
		}
		x.File = fmt.Sprintf("large-%d.json", p)
		if err := writeJSON(filepath.Join(dir, x.File), page); err != nil {
			return err
		}
		rest = append(rest, x)
	}
	m.Exchanges = rest
	return nil
}

// readJSON keeps numbers as they are written.
func readJSON(path string, into any) error {
	body, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	return dec.Decode(into)
}

func writeJSON(path string, v any) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(json.NewEncoder(w).Encode(v), w.Flush(), f.Close())
}
