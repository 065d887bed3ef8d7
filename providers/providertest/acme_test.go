package providertest

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// secret is the credential of acme.
const secret = "acme-secret-0123456789"

// acme is a cloud with a well-made adapter, and with every mistake a bug names.
type acme struct {
	http *fetch.Client
	bug  string
}

type acmeRow struct {
	Name  string      `json:"name"`
	GPU   string      `json:"gpu"`
	Count *int        `json:"count"`
	USD   json.Number `json:"usd"`
}

func (a *acme) Info() gputide.Info {
	info := gputide.Info{
		Name: "acme", Title: "Acme", Home: "https://www.acme.example/prices",
		Sources: []gputide.Source{
			{
				ID: "api", Title: "Rows", URL: "https://api.acme.example/rows", Hosts: []string{"api.acme.example"},
				Auth: gputide.AuthNone, Prices: true,
			},
			{
				ID: "list", Title: "List", URL: "https://www.acme.example/list.csv", Hosts: []string{".acme.example"},
				Auth: gputide.AuthNone, Prices: true,
			},
		},
		Markets:    []gputide.Market{gputide.OnDemand},
		Currencies: []gputide.Currency{"USD"},
		Cadence:    time.Hour,
		Evidence:   gputide.EvidenceComposed,
	}
	switch a.bug {
	case "promises spot":
		info.Markets = append(info.Markets, gputide.Spot)
	case "sells in euro":
		info.Currencies = []gputide.Currency{"EUR"}
	case "hosts elsewhere":
		info.Sources[0].URL = "https://api.other.example/rows"
	case "claims a recording":
		info.Evidence = gputide.EvidenceRecorded
	}
	return info
}

func (a *acme) Crawl(ctx context.Context, b *gputide.Batch) error {
	scope := gputide.Scope{Market: gputide.OnDemand}
	var all []error
	for _, source := range []string{"api", "list"} {
		rows, url, err := a.rows(ctx, source)
		if a.bug == "swallows" && err != nil {
			b.Done(source, scope, url)
			return nil
		}
		if err == nil {
			err = a.offers(b, source, rows)
		}
		if err == nil {
			b.Done(source, scope, url)
			return nil
		}
		if a.bug == "tells the secret" {
			err = fmt.Errorf("with %s: %w", secret, err)
		}
		if a.bug == "forgets the sentinel" {
			err = errors.New(err.Error())
		}
		if a.bug != "fails in silence" {
			b.Fail(source, scope, err)
		}
		all = append(all, err)
		if errors.Is(err, context.Canceled) {
			break
		}
	}
	if a.bug == "fails in silence" {
		return nil
	}
	return errors.Join(all...)
}

func (a *acme) rows(ctx context.Context, source string) ([]acmeRow, string, error) {
	if source == "api" {
		var doc struct {
			Rows []acmeRow `json:"rows"`
		}
		url, err := a.http.JSON(ctx, fetch.Request{Source: source, URL: "https://api.acme.example/rows"}, &doc)
		if err == nil && doc.Rows == nil {
			err = &gputide.DriftError{Source: source, Path: "rows", Want: "a list", Got: "none"}
		}
		return doc.Rows, url, err
	}
	res, err := a.http.Do(ctx, fetch.Request{Source: source, URL: "https://www.acme.example/list.csv"})
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	r := csv.NewReader(res.Body)
	r.FieldsPerRecord = -1
	lines, err := r.ReadAll()
	if _, ok := errors.AsType[*gputide.FetchError](err); ok {
		return nil, res.URL, err
	}
	if err != nil || len(lines) < 2 || !slices.Equal(lines[1], []string{"name", "gpu", "count", "usd"}) {
		return nil, res.URL, &gputide.DriftError{Source: source, Path: "line 2", Want: "the headings", Got: "others", Err: err}
	}
	var rows []acmeRow
	for _, l := range lines[2:] {
		row := acmeRow{Name: l[0], GPU: l[1], USD: json.Number(l[3])}
		if n, err := gputide.ParseCount(l[2]); err == nil {
			count := int(n.Num)
			row.Count = &count
		}
		rows = append(rows, row)
	}
	return rows, res.URL, nil
}

// offers adds rows, and refuses a list of which a field is gone.
func (a *acme) offers(b *gputide.Batch, source string, rows []acmeRow) error {
	if len(rows) == 0 && a.bug != "sells nothing" {
		return fmt.Errorf("%s: %w", source, gputide.ErrEmpty)
	}
	lost := func(field string, has func(acmeRow) bool) error {
		if len(rows) == 0 || slices.ContainsFunc(rows, has) {
			return nil
		}
		return &gputide.DriftError{Source: source, Path: field, Want: "it in some row", Got: "none"}
	}
	err := errors.Join(
		lost("name", func(r acmeRow) bool { return r.Name != "" }), lost("gpu", func(r acmeRow) bool { return r.GPU != "" }),
		lost("count", func(r acmeRow) bool { return r.Count != nil }), lost("usd", func(r acmeRow) bool { return r.USD != "" }),
	)
	if err != nil && a.bug != "sees no drift" {
		return err
	}
	for i, r := range rows {
		a.offer(b, source, i, r)
	}
	return nil
}

func (a *acme) offer(b *gputide.Batch, source string, i int, r acmeRow) {
	key := gputide.Key{InstanceType: r.Name, Market: gputide.OnDemand, Stat: gputide.StatList, Currency: "USD"}
	switch v, err := gputide.ParseAmount(r.USD.String()); {
	case a.bug == "drops rows" && (err != nil || v.Sign() <= 0 || r.Name == ""):
		return
	case r.Name == "":
		b.SkipUnknown(source, gputide.Scope{Market: gputide.OnDemand}, "no_name", "")
		return
	case err != nil || v.Sign() <= 0:
		b.Skip(source, key, "no_price", r.USD.String())
		return
	}
	spec := &gputide.Spec{Source: source, InstanceType: r.Name, Device: gputide.Device{Name: r.GPU, Kind: gputide.DeviceGPU}}
	if r.Count != nil && *r.Count > 0 {
		spec.Device.Count = gputide.NewCount(uint32(*r.Count), 1)
	}
	amount := r.USD.String()
	if a.bug == "types a price" && i == 0 {
		amount = "2.5"
	}
	if a.bug == "one price a day" {
		amount = "1"
	}
	b.Add(gputide.RawOffer{
		Source: source, Key: key, Spec: spec,
		Price: gputide.Published{Amount: amount, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
	})
	if a.bug == "lists twice" && i == 0 {
		b.Add(gputide.RawOffer{
			Source: source, Key: key, Spec: spec,
			Price: gputide.Published{Amount: amount, Unit: gputide.PerHour, Basis: gputide.BasisInstance},
		})
	}
}
