package oci

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
	sourceCompute = "compute-shapes"

	envTenancy     = "GPUTIDE_OCI_TENANCY"
	envUser        = "GPUTIDE_OCI_USER"
	envFingerprint = "GPUTIDE_OCI_FINGERPRINT"
	envPrivateKey  = "GPUTIDE_OCI_PRIVATE_KEY"
	envRegion      = "GPUTIDE_OCI_REGION"

	computeHost = "iaas.%s.oraclecloud.com"
	computePath = "/20160918/shapes"

	// maxPages bounds ListShapes: a tenancy sees some 60 shapes, per
	// availability domain at most.
	maxPages = 50

	// rdmaKind is the RDMA of cluster networks
	// (https://docs.oracle.com/en-us/iaas/Content/Compute/Tasks/managingclusternetworks.htm).
	rdmaKind = "roce"
)

var _ gputide.SpecCrawler = (*Provider)(nil)

// computeShape is one shape of ListShapes. Most fields may be null.
type computeShape struct {
	Shape             string   `json:"shape"`
	IsFlexible        *bool    `json:"isFlexible"`
	OCPUs             *float64 `json:"ocpus"`
	MemoryInGBs       *float64 `json:"memoryInGBs"`
	GPUs              *float64 `json:"gpus"`
	GPUDescription    string   `json:"gpuDescription"` // "NVIDIA® A100": without memory
	Processor         string   `json:"processorDescription"`
	LocalDisks        string   `json:"localDiskDescription"` // "NVMe SSD Storage"
	LocalDisksGBs     *float64 `json:"localDisksTotalSizeInGBs"`
	NetworkGbps       *float64 `json:"networkingBandwidthInGbps"`
	RDMAPorts         *float64 `json:"rdmaPorts"`
	RDMAGbps          *float64 `json:"rdmaBandwidthInGbps"` // of one port
	BilledWhenStopped *bool    `json:"isBilledForStoppedInstance"`
}

// CrawlSpecs adds the shapes that the Compute API names to the tenancy of the
// key. Without a key it adds none: the sources of prices say what they know.
func (p *Provider) CrawlSpecs(ctx context.Context, b *gputide.Batch) error {
	specs, err := p.compute(ctx, b)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	switch {
	case errors.Is(err, gputide.ErrNeedsKey), errors.Is(err, gputide.ErrNotInFixture):
		b.Source(sourceCompute, gputide.SourceSkipped, err)
		return nil
	case err != nil:
		b.Source(sourceCompute, gputide.SourceFailed, err)
		return err
	}
	b.Source(sourceCompute, gputide.SourceOK, nil)
	seen := make(map[string]bool) // a shape is listed once for each availability domain
	for _, s := range specs {
		if !seen[s.InstanceType] {
			seen[s.InstanceType] = true
			b.Spec(s)
		}
	}
	return nil
}

// access returns whose shapes are asked for and the signer of requests, which a
// replay does not need.
func (p *Provider) access() (cfg Config, sign *signer, err error) {
	switch {
	case p.http.Replaying():
		return Config{Tenancy: "replay", Region: "us-ashburn-1"}, nil, nil
	case !p.cfg.complete():
		return cfg, nil, &gputide.HintError{Err: gputide.ErrNeedsKey, Hint: "set " + strings.Join(envs(), ", ")}
	}
	sign, err = p.cfg.signer()
	return p.cfg, sign, err
}

// compute reads every page of ListShapes.
func (p *Provider) compute(ctx context.Context, b *gputide.Batch) ([]gputide.Spec, error) {
	cfg, sign, err := p.access()
	if err != nil {
		return nil, err
	}
	t, err := loadTable()
	if err != nil {
		return nil, err
	}
	r := &computeReader{b: b, table: t}
	query := url.Values{"compartmentId": {cfg.Tenancy}}
	for page := 1; ; page++ {
		req := fetch.Request{
			Source: sourceCompute, URL: "https://" + fmt.Sprintf(computeHost, cfg.Region) + computePath + "?" + query.Encode(),
			Accept: "application/json",
		}
		if sign != nil {
			if req.Header, err = sign.header(req.URL, b.At()); err != nil {
				return nil, err
			}
		}
		next, err := p.computePage(ctx, req, r)
		switch {
		case err != nil:
			return nil, err
		case next == "":
			return r.specs, r.check()
		case next == query.Get("page") || page == maxPages:
			return nil, drift(sourceCompute, "opc-next-page", fmt.Sprintf("another page, %d at most", maxPages), next)
		}
		query.Set("page", next)
	}
}

// computePage reads one page and returns the token of the next, empty on the
// last. A page may be empty.
func (p *Provider) computePage(ctx context.Context, req fetch.Request, r *computeReader) (next string, err error) {
	resp, err := p.http.Do(ctx, req)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	d := fetch.NewDecoder(sourceCompute, resp.Body)
	err = d.Array(func() error {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		r.add(raw)
		return nil
	})
	if err == nil {
		err = d.End()
	}
	return resp.Header.Get("opc-next-page"), err
}

// computeReader collects the shapes of all pages.
type computeReader struct {
	b     *gputide.Batch
	table *table

	specs          []gputide.Spec
	rows           int
	named, counted int
}

// check returns what is wrong with the list as a whole.
func (r *computeReader) check() error {
	switch {
	case r.rows == 0:
		return fmt.Errorf("%s: %w: shapes", sourceCompute, gputide.ErrEmpty)
	case r.named == 0:
		return drift(sourceCompute, "$[].shape", "it in some row", fmt.Sprintf("none of %d", r.rows))
	case r.counted == 0:
		return drift(sourceCompute, "$[].gpus", "it in some row", fmt.Sprintf("none of %d", r.rows))
	}
	return nil
}

func (r *computeReader) add(raw json.RawMessage) {
	r.rows++
	var s computeShape
	if err := json.Unmarshal(raw, &s); err != nil || s.Shape == "" {
		r.b.Omit(sourceCompute, "bad_row", 1)
		return
	}
	r.named++
	if s.GPUs != nil {
		r.counted++
	}
	if s.IsFlexible != nil && *s.IsFlexible { // its sizes are defaults
		r.b.Omit(sourceCompute, "flexible_shape", 1)
		return
	}
	r.specs = append(r.specs, s.spec(r.table.byName[s.Shape]))
}

// spec returns what the API says of a shape. It says nothing of the memory of a
// card, which the table may.
func (s *computeShape) spec(k *known) gputide.Spec {
	spec := gputide.Spec{
		Source: sourceCompute, InstanceType: s.Shape, BareMetal: new(isBareMetal(s.Shape)), CPUModel: s.Processor,
		MemoryGiB: positive(s.MemoryInGBs), LocalDiskGB: positive(s.LocalDisksGBs), NetworkGbps: positive(s.NetworkGbps),
		BilledWhenStopped: s.BilledWhenStopped,
	}
	switch {
	case k != nil:
		spec.CPUArch = k.arch
	case strings.Contains(s.Processor, "AMD"), strings.Contains(s.Processor, "Intel"):
		spec.CPUArch = archX86
	}
	spec.VCPU = vcpus(s.OCPUs, spec.CPUArch)
	if spec.LocalDiskGB != nil && strings.Contains(s.LocalDisks, "NVMe") {
		spec.LocalDiskKind = "nvme"
	}
	if ports, each := positive(s.RDMAPorts), positive(s.RDMAGbps); ports != nil && each != nil {
		spec.RDMAKind, spec.RDMAGbps = rdmaKind, new(*ports**each)
	}
	if n := s.GPUs; n != nil && *n >= 1 && *n <= maxGPUs && *n == float64(uint32(*n)) {
		spec.Device = gputide.Device{Name: s.GPUDescription, Count: gputide.NewCount(uint32(*n), 1), Share: gputide.ShareWhole}
		if k != nil {
			spec.Device.MemoryGB = k.memoryGB
		}
	}
	return spec
}

// positive returns v unless it is zero or less: the API says 0 for "none".
func positive(v *float64) *float64 {
	if v == nil || *v <= 0 {
		return nil
	}
	return v
}

func envs() []string { return []string{envTenancy, envUser, envFingerprint, envPrivateKey, envRegion} }
