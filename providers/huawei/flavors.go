package huawei

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
)

func flavorsURL(region, project string) string {
	return "https://ecs." + region + domain + "/v1/" + project + "/cloudservers/flavors"
}

func modelArtsURL(region, project string) string {
	return "https://modelarts." + region + domain + "/v1/" + project + "/notebooks/flavors"
}

// flavor is one ECS flavor.
type flavor struct {
	ID    string            `json:"id"`
	VCPUs json.RawMessage   `json:"vcpus"` // text
	RAM   json.RawMessage   `json:"ram"`   // MB, a number or text
	Extra map[string]string `json:"os_extra_specs"`
}

// notebook is one ModelArts flavor.
type notebook struct {
	ID      string   `json:"id"`
	Arch    string   `json:"arch"`   // aarch64, x86_64
	VCPUs   *float64 `json:"vcpus"`  //
	Memory  *float64 `json:"memory"` // of the host, KiB
	SoldOut *bool    `json:"sold_out"`
	Ascend  *struct {
		Count *int   `json:"npu"`
		Type  string `json:"type"` // ascend-snt9
	} `json:"ascend"`
	GPU *struct {
		Count *int   `json:"gpu"`
		Type  string `json:"type"`
	} `json:"gpu"`
	Billing *struct {
		Code  string `json:"code"` // modelarts.kat1.xlarge
		Units *int   `json:"unit_num"`
	} `json:"billing"`
}

// keyed reads what the key and its project are asked for.
func (r *run) keyed(ctx context.Context) {
	if r.cfg.Region != "" && !r.wants(r.cfg.Region) {
		return
	}
	if err := r.readFlavors(ctx); err != nil && ctx.Err() == nil {
		r.lost(sourceFlavors, partECS, err)
	}
	notebooks, err := r.notebooks(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		r.lost(sourceModelArts, partModelArts, err)
		if errors.Is(err, gputide.ErrNeedsKey) {
			r.fail(sourceOnDemand, err)
			r.fail(sourcePeriod, err)
		}
	default:
		r.rateNotebooks(ctx, notebooks)
	}
}

// lost reports flavors that were not read, and what depends on them.
func (r *run) lost(source, part string, err error) {
	r.fail(source, err)
	if isAbsent(err) {
		return
	}
	r.b.Report(gputide.ScopeRun{Scope: r.stock(part), Status: gputide.ScopeFailed, Source: source, Reason: err.Error()})
	if part == partModelArts {
		r.b.Report(gputide.ScopeRun{
			Scope: r.notebookScope(), Status: gputide.ScopeFailed, Source: sourceOnDemand, Reason: err.Error(),
		})
	}
}

// stock is the scope of what is available of a part of the region.
func (r *run) stock(part string) gputide.Scope {
	return gputide.Scope{Partition: china().partition, Region: r.cfg.Region, Part: part, Signal: gputide.SignalAvailability}
}

// flavorRows reads the list named flavors of a signed answer.
func (r *run) flavorRows(ctx context.Context, source, address string) ([]json.RawMessage, string, error) {
	header, err := r.header("GET", address, nil)
	if err != nil {
		return nil, "", err
	}
	var answer struct {
		Flavors []json.RawMessage `json:"flavors"`
		refusal
	}
	at, err := r.http.JSON(ctx, fetch.Request{Source: source, URL: address, Header: header}, &answer)
	switch {
	case err != nil:
		return nil, at, err
	case answer.ErrorCode != "":
		return nil, at, answer.as(source)
	case answer.Flavors == nil:
		return nil, at, drift(source, "$.flavors", "a list", "none")
	case len(answer.Flavors) == 0:
		return nil, at, fmt.Errorf("%s: %w: flavors", source, gputide.ErrEmpty)
	}
	return answer.Flavors, at, nil
}

// readFlavors adds the ECS flavors of the region and what of them is on sale.
func (r *run) readFlavors(ctx context.Context) error {
	rows, at, err := r.flavorRows(ctx, sourceFlavors, flavorsURL(r.cfg.Region, url.PathEscape(r.cfg.ProjectID)))
	if err != nil {
		return err
	}
	var list []flavor
	sized := 0
	for _, raw := range rows {
		var f flavor
		if err := json.Unmarshal(raw, &f); err != nil || f.ID == "" {
			r.b.SkipUnknown(sourceFlavors, r.stock(partECS), "bad_row", string(raw))
			continue
		}
		if decimal(f.VCPUs) != nil && decimal(f.RAM) != nil {
			sized++
		}
		list = append(list, f)
	}
	if len(list) == 0 || sized == 0 {
		return drift(sourceFlavors, "$.flavors[]", "id, vcpus and ram in some row", fmt.Sprintf("none of %d", len(rows)))
	}
	for i := range list {
		f := &list[i]
		r.b.Spec(f.spec())
		r.flavors = append(r.flavors, f.ID)
		r.onSale(f)
	}
	slices.Sort(r.flavors)
	r.flavors = slices.Compact(r.flavors)
	r.b.Source(sourceFlavors, gputide.SourceOK, nil)
	r.b.Done(sourceFlavors, r.stock(partECS), at)
	return nil
}

// spec returns what a flavor says. Its architecture is wrong in a documented
// row, and left out.
func (f *flavor) spec() gputide.Spec {
	s := gputide.Spec{
		Source: sourceFlavors, Partition: china().partition, InstanceType: f.ID, VCPU: decimal(f.VCPUs), Device: f.device(),
	}
	if mb := decimal(f.RAM); mb != nil {
		s.MemoryGiB = new(*mb / 1024)
	}
	return s
}

// device reads "nvidia-t4:1", "m60:direct_graphics:1" and "m60_1q:virt:1".
func (f *flavor) device() gputide.Device {
	said := f.Extra["pci_passthrough:gpu_specs"]
	if said == "" {
		said, _, _ = strings.Cut(f.Extra["pci_passthrough:alias"], ",")
	}
	parts := strings.Split(strings.TrimSpace(said), ":")
	if len(parts) < 2 || len(parts) > 3 || parts[0] == "" {
		return gputide.Device{}
	}
	d := gputide.Device{Name: parts[0], Vendor: vendorOf(parts[0]), Share: gputide.ShareWhole}
	if len(parts) == 3 && parts[1] == "virt" { // which part of a card it is, is not said
		d.Share = gputide.ShareVGPU
		return d
	}
	if n, err := strconv.ParseUint(parts[len(parts)-1], 10, 32); err == nil && n <= maxCards {
		d.Count = gputide.NewCount(uint32(n), 1)
	}
	return d
}

// onSale adds whether a flavor can be bought, by zone where the row says so.
func (r *run) onSale(f *flavor) {
	zones := f.Extra["cond:operation:az"]
	if zones == "" {
		r.available(sourceFlavors, partECS, f.ID, "", f.Extra["cond:operation:status"])
		return
	}
	for zone := range strings.SplitSeq(zones, ",") {
		name, status, _ := strings.Cut(strings.TrimSpace(zone), "(")
		if status, ok := strings.CutSuffix(status, ")"); ok && name != "" {
			r.available(sourceFlavors, partECS, f.ID, name, status)
		}
	}
}

// available adds what a status says; one that is not known says nothing.
func (r *run) available(source, part, instanceType, zone, status string) {
	level := gputide.AvailabilityYes
	switch status {
	case "normal", "promotion", "obt":
	case "sellout", "obt_sellout", "abandon":
		level = gputide.AvailabilityNone
	case "":
		return
	default:
		r.b.Omit(source, "other_status", 1)
		return
	}
	r.b.Signal(gputide.Signal{
		Source: source, Part: part, Name: gputide.SignalAvailability, Value: level,
		Key: gputide.Key{Partition: china().partition, Region: r.cfg.Region, Zone: zone, InstanceType: instanceType},
	})
}

// notebooks adds the ModelArts flavors of the region and returns them.
func (r *run) notebooks(ctx context.Context) ([]notebook, error) {
	rows, at, err := r.flavorRows(ctx, sourceModelArts, modelArtsURL(r.cfg.Region, url.PathEscape(r.cfg.ProjectID)))
	if err != nil {
		return nil, err
	}
	var list []notebook
	for _, raw := range rows {
		var n notebook
		if err := json.Unmarshal(raw, &n); err != nil || n.ID == "" {
			r.b.SkipUnknown(sourceOnDemand, r.notebookScope(), "bad_row", string(raw))
			r.b.SkipUnknown(sourceModelArts, r.stock(partModelArts), "bad_row", string(raw))
			continue
		}
		list = append(list, n)
	}
	if len(list) == 0 {
		return nil, drift(sourceModelArts, "$.flavors[].id", "it in some row", fmt.Sprintf("none of %d", len(rows)))
	}
	for i := range list {
		n := &list[i]
		r.b.Spec(n.spec())
		if n.SoldOut != nil {
			status := map[bool]string{true: "sellout", false: "normal"}[*n.SoldOut]
			r.available(sourceModelArts, partModelArts, n.ID, "", status)
		}
	}
	r.b.Source(sourceModelArts, gputide.SourceOK, nil)
	r.b.Done(sourceModelArts, r.stock(partModelArts), at)
	return list, nil
}

// spec returns what a notebook flavor says. Its npu_memory is of one card in one
// row and of all in another, and left out.
func (n *notebook) spec() gputide.Spec {
	s := gputide.Spec{Source: sourceModelArts, Partition: china().partition, InstanceType: n.ID}
	if n.VCPUs != nil && *n.VCPUs > 0 {
		s.VCPU = n.VCPUs
	}
	if n.Memory != nil && *n.Memory > 0 {
		s.MemoryGiB = new(*n.Memory / (1 << 20))
	}
	switch strings.ToLower(n.Arch) {
	case "aarch64":
		s.CPUArch = "arm64"
	case "x86_64":
		s.CPUArch = "x86_64"
	}
	var count *int
	switch {
	case n.Ascend != nil:
		s.Device, count = gputide.Device{Name: n.Ascend.Type, Vendor: "Huawei", Kind: gputide.DeviceASIC}, n.Ascend.Count
	case n.GPU != nil:
		s.Device, count = gputide.Device{Name: n.GPU.Type, Kind: gputide.DeviceGPU}, n.GPU.Count
	default:
		return s
	}
	if count != nil && *count > 0 && *count <= maxCards {
		s.Device.Count, s.Device.Share = gputide.NewCount(uint32(*count), 1), gputide.ShareWhole
	}
	return s
}

// decimal reads a positive number that is printed bare or as text.
func decimal(raw json.RawMessage) *float64 {
	v, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || v <= 0 || v > 1e9 {
		return nil
	}
	return &v
}
