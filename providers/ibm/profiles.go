package ibm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

const (
	profilesURL = "https://%s.iaas.cloud.ibm.com/v1/instance/profiles?version=2026-01-01&generation=2"
	tokenURL    = "https://iam.cloud.ibm.com/identity/token"
)

var _ gputide.SpecCrawler = (*Provider)(nil)

// profileRegions are asked for instance profiles and their answers united: a
// region names the profiles it sells, and these two sell every accelerated one
// that IBM documents
// (https://cloud.ibm.com/docs/vpc?topic=vpc-accelerated-profile-family, 2026-01).
func profileRegions() []string { return []string{"us-south", "us-east"} }

// field is one property of a profile. It has a value only where that is fixed.
type field struct {
	Type   string          `json:"type"` // fixed, range, enum, dependent
	Value  json.RawMessage `json:"value"`
	Values []string        `json:"values"`
}

// number returns the fixed value of a numeric property.
func (f *field) number() *float64 {
	var v float64
	if f == nil || f.Type != "fixed" || json.Unmarshal(f.Value, &v) != nil || v <= 0 {
		return nil
	}
	return &v
}

// word returns the fixed value of a property that is a text; some are a list of
// one.
func (f *field) word() string {
	var v string
	switch {
	case f == nil || f.Type != "fixed":
		return ""
	case len(f.Values) == 1:
		return f.Values[0]
	case json.Unmarshal(f.Value, &v) != nil:
		return ""
	}
	return v
}

type profileRow struct {
	Name         string `json:"name"`
	VCPU         *field `json:"vcpu_count"`
	Memory       *field `json:"memory"` // GiB
	Bandwidth    *field `json:"bandwidth"`
	Architecture *field `json:"vcpu_architecture"`
	GPUs         *field `json:"gpu_count"`
	GPUModel     *field `json:"gpu_model"` // NVIDIA_TESLA_V100
	GPUVendor    *field `json:"gpu_manufacturer"`
	Disks        []struct {
		Quantity *field `json:"quantity"`
		Size     *field `json:"size"` // GB
	} `json:"disks"`
}

// CrawlSpecs adds the instance profiles of the VPC API. Without a key it adds
// none: the names of profiles say what they can.
func (p *Provider) CrawlSpecs(ctx context.Context, b *gputide.Batch) error {
	c, err := loadCards()
	if err != nil {
		return err
	}
	token, err := p.token(ctx)
	if err != nil {
		return p.noProfiles(ctx, b, err)
	}
	seen := make(map[string]bool)
	var failed []error
	for _, region := range profileRegions() {
		err := p.profiles(ctx, region, token, func(row *profileRow) {
			if !seen[row.Name] {
				seen[row.Name] = true
				b.Spec(row.spec(c))
			}
		}, func() { b.Omit(sourceProfiles, "bad_row", 1) })
		if err == nil {
			continue
		}
		if err := p.noProfiles(ctx, b, err); err == nil || context.Cause(ctx) != nil {
			return err
		}
		failed = append(failed, err)
	}
	if len(failed) == 0 {
		b.Source(sourceProfiles, gputide.SourceOK, nil)
	}
	return errors.Join(failed...)
}

// noProfiles reports why profiles were not read. A key or a fixture that is not
// there is no error.
func (p *Provider) noProfiles(ctx context.Context, b *gputide.Batch, err error) error {
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case errors.Is(err, gputide.ErrNeedsKey), errors.Is(err, gputide.ErrNotInFixture):
		b.Source(sourceProfiles, gputide.SourceSkipped, err)
		return nil
	}
	b.Source(sourceProfiles, gputide.SourceFailed, err)
	return err
}

// token exchanges the key for a token
// (https://cloud.ibm.com/docs/account?topic=account-iamtoken_from_apikey).
func (p *Provider) token(ctx context.Context) (string, error) {
	switch {
	case p.http.Replaying():
		return "replay", nil
	case p.key == "":
		return "", &gputide.HintError{Err: gputide.ErrNeedsKey, Hint: "set " + envKey}
	}
	form := url.Values{"grant_type": {"urn:ibm:params:oauth:grant-type:apikey"}, "apikey": {p.key}}
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	_, err := p.http.JSON(ctx, fetch.Request{
		Source: sourceProfiles, URL: tokenURL, Body: []byte(form.Encode()), NoArchive: true,
		Header: map[string][]string{"Content-Type": {"application/x-www-form-urlencoded"}},
	}, &answer)
	switch {
	case errors.Is(err, gputide.ErrInvalid): // IAM answers 400 to a key it does not know
		return "", fmt.Errorf("%s: %w: %s", sourceProfiles, gputide.ErrAuth, envKey)
	case err != nil:
		return "", err
	case answer.AccessToken == "":
		return "", drift(sourceProfiles, "$.access_token", "a token", "none")
	}
	p.http.AddSecret(answer.AccessToken)
	return answer.AccessToken, nil
}

// profiles reads the profiles of one region.
func (p *Provider) profiles(ctx context.Context, region, token string, add func(*profileRow), bad func()) error {
	var answer struct {
		Profiles []json.RawMessage `json:"profiles"`
	}
	_, err := p.http.JSON(ctx, fetch.Request{
		Source: sourceProfiles, URL: fmt.Sprintf(profilesURL, region), Header: map[string][]string{"Authorization": {"Bearer " + token}},
	}, &answer)
	switch {
	case err != nil:
		return err
	case answer.Profiles == nil:
		return drift(sourceProfiles, "$.profiles", "a list", "none")
	case len(answer.Profiles) == 0:
		return fmt.Errorf("%s: %w: profiles", sourceProfiles, gputide.ErrEmpty)
	}
	var rows []profileRow
	sized := 0
	for _, raw := range answer.Profiles {
		var row profileRow
		if err := json.Unmarshal(raw, &row); err != nil || row.Name == "" {
			bad()
			continue
		}
		if row.VCPU.number() != nil && row.Memory.number() != nil {
			sized++
		}
		rows = append(rows, row)
	}
	if sized == 0 {
		return drift(sourceProfiles, "$.profiles[]", "name, vcpu_count and memory in some row", fmt.Sprintf("none of %d", len(answer.Profiles)))
	}
	for i := range rows {
		add(&rows[i])
	}
	return nil
}

// spec returns what the API says of a profile. It does not say what memory a
// card has; the name of the profile does.
func (row *profileRow) spec(c cards) gputide.Spec {
	s := gputide.Spec{
		Source: sourceProfiles, InstanceType: row.Name, VCPU: row.VCPU.number(), MemoryGiB: row.Memory.number(),
		CPUArch: map[string]string{"amd64": "x86_64", "arm64": "arm64"}[row.Architecture.word()], LocalDiskGB: row.disks(),
	}
	if mbps := row.Bandwidth.number(); mbps != nil {
		s.NetworkGbps = new(*mbps / 1000)
	}
	n := row.GPUs.number()
	if n == nil || *n > maxCards || *n != float64(uint32(*n)) {
		return s
	}
	s.Device = gputide.Device{
		Name: row.GPUModel.word(), Vendor: row.GPUVendor.word(), Count: gputide.NewCount(uint32(*n), 1), Share: gputide.ShareWhole,
	}
	if named := c.spec(row.Name); named != nil {
		s.Device.Other = []string{named.Device.Name}
		s.Device.MemoryGB = named.Device.MemoryGB
		if s.Device.Vendor == "" {
			s.Device.Vendor = named.Device.Vendor
		}
	}
	s.Device.Vendor = strings.TrimSpace(s.Device.Vendor)
	return s
}

// disks returns the size of all local disks; nil where one is not fixed.
func (row *profileRow) disks() *float64 {
	sum := 0.0
	for _, d := range row.Disks {
		n, gb := d.Quantity.number(), d.Size.number()
		if n == nil || gb == nil {
			return nil
		}
		sum += *n * *gb
	}
	if sum == 0 {
		return nil
	}
	return &sum
}
