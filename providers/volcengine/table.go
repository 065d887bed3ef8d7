package volcengine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// priceRow is the prices of one configuration in one region.
type priceRow struct {
	Product           string
	ConfigurationCode string
	ChargeItemCode    string // ecs.g3i_large_cn-beijing
	PriceInfoList     []priceInfo
}

type priceInfo struct {
	Period string
	Times  int
	Price  json.RawMessage // a decimal in a text
}

// table reads the prices of every region.
func (p *Provider) table(ctx context.Context, b *gputide.Batch, known families) (string, error) {
	resp, err := p.http.Do(ctx, ask(sourceTable, tableURL, []byte(`{"TemplateCode":"`+templateCode+`"}`)))
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	t := &reader{b: b, known: known, priced: make(map[gputide.Key]string), unpriced: make(map[gputide.Key][2]string)}
	if err := t.read(fetch.NewDecoder(sourceTable, resp.Body)); err != nil {
		return "", err
	}
	t.add()
	return resp.URL, nil
}

// reader collects the rows of all tables.
type reader struct {
	b     *gputide.Batch
	known families

	listed      bool
	rows, named int
	twins       int64
	other       int64
	daily       int64
	priced      map[gputide.Key]string
	unpriced    map[gputide.Key][2]string // reason and detail
}

// read reads an answer to its end.
func (t *reader) read(d *fetch.Decoder) error {
	var head metadata
	err := d.Object(func(name string) error {
		switch name {
		case "ResponseMetadata":
			return d.Decode(&head)
		case "Result":
			var result struct {
				TableList []struct{ Rows []json.RawMessage }
			}
			if err := d.Decode(&result); err != nil {
				return err
			}
			t.listed = result.TableList != nil
			for _, table := range result.TableList {
				for _, raw := range table.Rows {
					t.row(raw)
				}
			}
			return nil
		}
		return d.Skip()
	})
	if err == nil {
		err = d.End()
	}
	if err == nil {
		err = head.check(sourceTable)
	}
	switch {
	case err != nil:
		return err
	case !t.listed:
		return drift(sourceTable, "$.Result.TableList", "a list", "none")
	case t.rows == 0:
		return fmt.Errorf("%s: %w: Rows", sourceTable, gputide.ErrEmpty)
	case t.named == 0:
		return drift(sourceTable, "$.Result.TableList[].Rows[]", "a configuration of ECS with its region in some row", fmt.Sprintf("none of %d", t.rows))
	}
	return nil
}

func (t *reader) unread(reason, detail string) {
	for _, m := range markets() {
		t.b.SkipUnknown(sourceTable, gputide.Scope{Market: m}, reason, detail)
	}
}

// row reads one row.
func (t *reader) row(raw json.RawMessage) {
	t.rows++
	var r priceRow
	if err := json.Unmarshal(raw, &r); err != nil || r.Product == "" {
		t.unread("bad_row", string(raw))
		return
	}
	if r.Product != "ECS" {
		t.other++
		return
	}
	instanceType, ok := typeOf(r.ConfigurationCode)
	region, inRegion := regionOf(r.ChargeItemCode, instanceType)
	if !ok || !inRegion || len(r.PriceInfoList) == 0 {
		t.unread("bad_row", string(raw))
		return
	}
	t.named++
	for _, info := range r.PriceInfoList {
		t.price(gputide.Key{Region: region, InstanceType: instanceType, Stat: gputide.StatList, Currency: currency}, info)
	}
}

// regionOf returns the region at the end of a charge item, which begins with the
// type, the points of its size replaced.
func regionOf(item, instanceType string) (string, bool) {
	name, ok := strings.CutPrefix(instanceType, "ecs.")
	if !ok {
		return "", false
	}
	region, ok := strings.CutPrefix(item, "ecs."+strings.ReplaceAll(name, ".", "_")+"_")
	return region, ok && region != "" && !strings.Contains(region, "_")
}

// price reads one price of a row.
func (t *reader) price(key gputide.Key, p priceInfo) {
	key.Market = gputide.Subscription
	switch {
	case p.Period == "hourly" && p.Times == 1:
		key.Market = gputide.OnDemand
	case p.Period == "monthly" && p.Times == 1:
		key.Term = "1mo"
	case p.Period == "monthly" && (p.Times == 12 || p.Times == 24 || p.Times == 36):
		key.Term = gputide.NewTerm(p.Times/12, "y")
	case p.Period == "monthly" && p.Times > 1: // what it is a total of is not said
		key.Term = gputide.NewTerm(p.Times, "mo")
		t.skip(key, "other_period", string(p.Price))
		return
	case p.Period == "daily":
		t.daily++
		return
	default:
		t.unread("other_period", fmt.Sprintf("%s: %d × %s", key.InstanceType, p.Times, p.Period))
		return
	}
	var amount string
	if json.Unmarshal(p.Price, &amount) != nil {
		amount = ""
	}
	v, err := gputide.ParseAmount(amount)
	before, twice := t.priced[key]
	switch {
	case err != nil || v.Sign() <= 0:
		t.skip(key, "no_price", string(p.Price))
	case twice && before == amount:
		t.twins++
	case twice: // which of the two holds is not known
		t.skip(key, "two_prices", before+" and "+amount)
	default:
		t.priced[key] = amount
	}
}

func (t *reader) skip(key gputide.Key, reason, detail string) {
	t.unpriced[key] = [2]string{reason, detail}
}

// add hands over what was read, in a fixed order. A key with a row that has no
// price, or another, has none.
func (t *reader) add() {
	byKey := func(x, y gputide.Key) int { return strings.Compare(x.Canonical(), y.Canonical()) }
	specs := make(map[string]*gputide.Spec)
	for _, key := range slices.SortedFunc(maps.Keys(t.priced), byKey) {
		if _, ok := t.unpriced[key]; ok {
			continue
		}
		unit := gputide.PerTerm
		if key.Market == gputide.OnDemand {
			unit = gputide.PerHour
		}
		if _, ok := specs[key.InstanceType]; !ok {
			specs[key.InstanceType] = t.known.spec(key.InstanceType)
		}
		t.b.Add(gputide.RawOffer{
			Source: sourceTable, Key: key, Spec: specs[key.InstanceType],
			Price: gputide.Published{Amount: t.priced[key], Unit: unit, Basis: gputide.BasisInstance},
		})
	}
	for _, key := range slices.SortedFunc(maps.Keys(t.unpriced), byKey) {
		t.b.Skip(sourceTable, key, t.unpriced[key][0], t.unpriced[key][1])
	}
	t.b.Omit(sourceTable, "twin", t.twins)
	t.b.Omit(sourceTable, "other_product", t.other)
	t.b.Omit(sourceTable, "daily", t.daily)
}
