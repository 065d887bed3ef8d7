package ucloud

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	actionRegions = "GetRegion"
	actionTypes   = "DescribeAvailableInstanceTypes"
	actionPrice   = "GetUHostInstancePrice"
)

// signature signs parameters: SHA-1 of their names and values in the order of
// names, followed by the private key
// (https://docs.ucloud.cn/api/summary/signature).
func signature(params map[string]string, privateKey string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(params)) {
		b.WriteString(name + params[name])
	}
	sum := sha1.Sum([]byte(b.String() + privateKey))
	return hex.EncodeToString(sum[:])
}

// refusal is an answer that is none, which comes with status 200.
type refusal struct {
	source  string
	code    int
	message string
}

func (e *refusal) Error() string {
	return fmt.Sprintf("%s: RetCode %d: %.200q", e.source, e.code, e.message)
}

// Unwrap returns what the code means to us
// (https://docs.ucloud.cn/api/summary/errorcode).
func (e *refusal) Unwrap() error {
	switch e.code {
	case 160, 161: // an action that is missing or not known
		return gputide.ErrSchemaDrift
	case 170, 171, 172, 173, 174, 299: // a signature, a key or a permission
		return gputide.ErrAuth
	}
	return gputide.ErrUnavailable
}

// call asks for an action and decodes its answer. A refusal is a *refusal.
func (p *Provider) call(ctx context.Context, source, action string, params map[string]string, into any) (at string, err error) {
	if !p.http.Replaying() && (p.cfg.PublicKey == "" || p.cfg.PrivateKey == "") {
		return "", &gputide.HintError{Err: gputide.ErrNeedsKey, Hint: "set " + envPublic + " and " + envPrivate}
	}
	params = maps.Clone(params)
	params["Action"], params["PublicKey"] = action, p.cfg.PublicKey
	query := url.Values{}
	for name, v := range params {
		query.Set(name, v)
	}
	query.Set("Signature", signature(params, p.cfg.PrivateKey))
	var raw json.RawMessage
	at, err = p.http.JSON(ctx, fetch.Request{Source: source, URL: address + "?" + query.Encode()}, &raw)
	if err != nil {
		return at, err
	}
	var head struct {
		RetCode *int
		Message string
	}
	if err := fetch.Unmarshal(source, "$", raw, &head); err != nil {
		return at, err
	}
	switch {
	case head.RetCode == nil:
		return at, drift(source, "$.RetCode", "a code", "none")
	case *head.RetCode != 0:
		return at, &refusal{source, *head.RetCode, head.Message}
	}
	return at, fetch.Unmarshal(source, "$", raw, into)
}

// regions returns the regions that an account may use, sorted.
func (r *run) regions(ctx context.Context) ([]string, error) {
	var answer struct {
		Regions []struct{ Region string }
	}
	if _, err := r.call(ctx, sourceRegions, actionRegions, map[string]string{}, &answer); err != nil {
		return nil, err
	}
	switch {
	case answer.Regions == nil:
		return nil, drift(sourceRegions, "$.Regions", "a list", "none")
	case len(answer.Regions) == 0:
		return nil, fmt.Errorf("%s: %w: Regions", sourceRegions, gputide.ErrEmpty)
	}
	var regions []string // one row for each zone
	for _, row := range answer.Regions {
		if row.Region == "" {
			return nil, drift(sourceRegions, "$.Regions[].Region", "a region", "none")
		}
		regions = append(regions, row.Region)
	}
	slices.Sort(regions)
	return slices.Compact(regions), nil
}

// number is a decimal, printed bare or as text.
type number string

// UnmarshalJSON keeps the text of a number; anything else is kept as it is, and
// no amount.
func (n *number) UnmarshalJSON(b []byte) error {
	*n = number(strings.Trim(string(b), `"`))
	return nil
}

// prices asks for the price of every size. A size whose price is refused is
// counted; when all are, nothing is concluded.
func (r *run) prices(ctx context.Context, sizes []size) (urls []string, err error) {
	priced := 0
	var last error
	for i := range sizes {
		s := &sizes[i]
		var answer struct {
			PriceSet []struct {
				ChargeType       string
				Price, ListPrice number
			}
		}
		at, err := r.call(ctx, sourcePrices, actionPrice, s.params(), &answer)
		if no, ok := errors.AsType[*refusal](err); ok && errors.Is(err, gputide.ErrUnavailable) {
			last = err
			r.skip(s, "refused", no.Error())
			continue
		}
		switch {
		case err != nil:
			return nil, err
		case answer.PriceSet == nil:
			return nil, drift(sourcePrices, "$.PriceSet", "a list", "none")
		case len(answer.PriceSet) == 0:
			return nil, fmt.Errorf("%s: %w: PriceSet", sourcePrices, gputide.ErrEmpty)
		case len(answer.PriceSet) != 1 || answer.PriceSet[0].ChargeType != "Dynamic":
			return nil, drift(sourcePrices, "$.PriceSet[].ChargeType", "one, Dynamic", answer.PriceSet[0].ChargeType)
		}
		priced++
		urls = append(urls, at)
		set := answer.PriceSet[0]
		if set.ListPrice != "" { // optional
			r.add(s, gputide.StatList, set.ListPrice)
		} else {
			r.b.Skip(sourcePrices, s.key(gputide.StatList), "no_list_price", s.instanceType())
		}
		r.add(s, gputide.StatPayable, set.Price)
	}
	if priced == 0 && last != nil {
		return nil, last
	}
	return urls, nil
}

func (r *run) add(s *size, stat gputide.Stat, amount number) {
	v, err := gputide.ParseAmount(string(amount))
	if err != nil || v.Sign() <= 0 {
		r.b.Skip(sourcePrices, s.key(stat), "no_price", string(amount))
		return
	}
	r.b.Add(gputide.RawOffer{
		Source: sourcePrices, Key: s.key(stat), Spec: s.spec(),
		Price: gputide.Published{Amount: string(amount), Unit: gputide.PerHour, Basis: gputide.BasisInstance},
	})
}

func (r *run) skip(s *size, reason, detail string) {
	for _, stat := range []gputide.Stat{gputide.StatList, gputide.StatPayable} {
		r.b.Skip(sourcePrices, s.key(stat), reason, detail)
	}
}

// params are the parameters that the price of a size is asked with.
func (s *size) params() map[string]string {
	return map[string]string{
		"Region": s.region, "Zone": s.zone, "MachineType": "G", "GpuType": s.card, "GPU": strconv.Itoa(s.cards),
		"CPU": strconv.Itoa(s.cpu), "Memory": strconv.Itoa(s.memoryGB * 1024), "Count": "1", "ChargeType": "Dynamic",
		"Disks.0.IsBoot": "True", "Disks.0.Type": s.disk, "Disks.0.Size": strconv.Itoa(diskGB),
	}
}
