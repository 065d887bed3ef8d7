package huawei

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

// maxMenu bounds the nesting of the menu: products stand on its second level.
const maxMenu = 6

func calculatorURL(host, what string) string {
	return "https://" + host + "/api/calculator/rest/cbc/portalcalculatornodeservice/v4/api/" + what
}

// ask is a request to a calculator, with the headers of its page.
func (s *site) ask(source, what string, query url.Values) fetch.Request {
	return fetch.Request{
		Source: source, URL: calculatorURL(s.host, what) + "?" + query.Encode(), Accept: "application/json",
		Header: map[string][]string{"Origin": {"https://www.huaweicloud.com"}, "Referer": {s.page}},
	}
}

// menu is one entry of the calculator's menu.
type menu struct {
	URLPath      string `json:"urlPath"`
	RegionOnline *struct {
		RegionList []string `json:"regionList"`
	} `json:"regionOnline"`
	Sub []menu `json:"subCategoryLists"`
}

// find returns the entry of a product; nil when there is none.
func find(menus []menu, product string, depth int) *menu {
	for i := range menus {
		if menus[i].URLPath == product && menus[i].RegionOnline != nil {
			return &menus[i]
		}
		if depth > 0 {
			if m := find(menus[i].Sub, product, depth-1); m != nil {
				return m
			}
		}
	}
	return nil
}

// regions returns the regions that a calculator sells ECS in, sorted.
func (r *run) regions(ctx context.Context, s *site) ([]string, error) {
	var answer struct {
		MenuInfos []menu `json:"menuInfos"`
	}
	query := url.Values{"sign": {"common"}, "language": {s.language}}
	if _, err := r.http.JSON(ctx, s.ask(s.menu, "menuInfo", query), &answer); err != nil {
		return nil, err
	}
	if answer.MenuInfos == nil {
		return nil, drift(s.menu, "$.menuInfos", "a list", "none")
	}
	if len(answer.MenuInfos) == 0 {
		return nil, fmt.Errorf("%s: %w: menuInfos", s.menu, gputide.ErrEmpty)
	}
	m := find(answer.MenuInfos, "ecs", maxMenu)
	switch {
	case m == nil:
		return nil, drift(s.menu, "$.menuInfos", "an entry with urlPath ecs and regionOnline", "none")
	case m.RegionOnline.RegionList == nil:
		return nil, drift(s.menu, "$.menuInfos[].regionOnline.regionList", "a list", "none")
	case len(m.RegionOnline.RegionList) == 0:
		return nil, fmt.Errorf("%s: %w: regionList", s.menu, gputide.ErrEmpty)
	}
	regions := slices.Clone(m.RegionOnline.RegionList)
	slices.Sort(regions)
	for _, region := range regions {
		if region == "" {
			return nil, drift(s.menu, "$.menuInfos[].regionOnline.regionList", "region codes", "an empty one")
		}
	}
	return slices.Compact(regions), nil
}

// calculator reads the ECS offers of a region. Nothing is added unless every row
// was understood.
func (r *run) calculator(ctx context.Context, s *site, region string) (address string, err error) {
	resp, err := r.http.Do(ctx, s.ask(s.source, "productInfo", url.Values{
		"urlPath": {"ecs"}, "tag": {"general.online.portal"}, "region": {region}, "tab": {"calc"}, "sign": {"common"},
	}))
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	list := newList(s, region)
	if err := list.read(fetch.NewDecoder(s.source, resp.Body)); err != nil {
		return "", err
	}
	list.add(r.b)
	return resp.URL, nil
}

// read reads an answer to its end.
func (l *list) read(d *fetch.Decoder) error {
	var region *string
	err := d.Object(func(name string) error {
		switch name {
		case "region":
			return d.Decode(&region)
		case "product":
			return d.Object(func(name string) error {
				if name != "ec2_vm" {
					return d.Skip()
				}
				l.listed = true
				return d.Array(func() error {
					var row vm
					if err := d.Decode(&row); err != nil {
						return err
					}
					return l.row(&row)
				})
			})
		}
		return d.Skip()
	})
	if err == nil {
		err = d.End()
	}
	switch {
	case err != nil:
		return err
	case region == nil || *region != l.region:
		return drift(l.site.source, "$.region", l.region, text(region))
	case !l.listed:
		return drift(l.site.source, "$.product.ec2_vm", "a list", "none")
	case l.rows == 0:
		return fmt.Errorf("%s: %w: ec2_vm", l.site.source, gputide.ErrEmpty)
	case len(l.priced)+len(l.unpriced)+len(l.unread) == 0:
		return drift(l.site.source, "$.product.ec2_vm[].planList", "a plan in some row", fmt.Sprintf("none of %d", l.rows))
	}
	return nil
}

// vm is one row: a flavor with one kind of image, and part of its plans.
type vm struct {
	Code         *string `json:"resourceSpecCode"` // pi2.2xlarge.4.linux
	Spec         *string `json:"spec"`             // pi2.2xlarge.4
	ImageSpec    *string `json:"imageSpec"`        // linux, win
	CPU          *string `json:"cpu"`
	Mem          *string `json:"mem"`
	Arch         string  `json:"instanceArch"` // x86
	Cards        *string `json:"acceleratorCard"`
	LocalDisk    string  `json:"localDisk"`
	Description  string  `json:"productSpecSysDesc"`
	PlanList     []plan  `json:"planList"`
	BackPlanList []plan  `json:"bakPlanList"`
}

// plan is one amount of a row.
type plan struct {
	Mode        string          `json:"billingMode"`
	Periods     *int            `json:"periodNum"`
	Amount      json.RawMessage `json:"amount"`
	Origin      string          `json:"originType"` // of a reserved instance: price, perPrice, perEffectivePrice
	PlanID      json.RawMessage `json:"planId"`
	Payment     string          `json:"paymentTypeKey"`
	UsageFactor string          `json:"usageFactor"`
	Measure     *int            `json:"usageMeasureId"`
	SiteCode    string          `json:"siteCode"`
	ProductID   string          `json:"productId"`
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// identity returns the flavor and the operating system of a row.
func (v *vm) identity(source string) (flavor, os string, err error) {
	switch text(v.ImageSpec) {
	case "linux":
		os = "linux"
	case "win":
		os = "windows"
	default:
		return "", "", drift(source, "$.product.ec2_vm[].imageSpec", "linux or win", text(v.ImageSpec))
	}
	flavor = text(v.Spec)
	if flavor == "" {
		return "", "", drift(source, "$.product.ec2_vm[].spec", "a flavor", "none")
	}
	if code := text(v.Code); v.Code != nil && strings.TrimSuffix(code, "."+*v.ImageSpec) != flavor {
		return "", "", drift(source, "$.product.ec2_vm[].resourceSpecCode", flavor+"."+*v.ImageSpec, code)
	}
	return flavor, os, nil
}

// row reads one row.
func (l *list) row(v *vm) error {
	l.rows++
	flavor, os, err := v.identity(l.site.source)
	if err != nil {
		return err
	}
	if strings.Contains(v.Description, "Remark:hidden") {
		l.hidden++
		return nil
	}
	if v.PlanList == nil && v.BackPlanList == nil {
		return drift(l.site.source, "$.product.ec2_vm[].planList", "a list", "none of "+flavor)
	}
	spec, err := v.spec(flavor, l.site)
	if err != nil {
		return err
	}
	if l.specs[flavor] == nil {
		l.specs[flavor] = spec
	} else {
		l.specs[flavor].Fill(spec)
	}
	key := gputide.Key{
		Partition: l.site.partition, Region: l.region, InstanceType: flavor, OS: os,
		Stat: gputide.StatList, Currency: l.site.currency,
	}
	return l.plans(key, slices.Concat(v.PlanList, v.BackPlanList))
}
