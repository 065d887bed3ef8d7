package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// specIndex reads the specs of one moment by instance type.
type specIndex struct {
	specs map[specKey]*gputide.Spec
	views *specViews
}

// of returns the spec of a key. A key that does not say its partition, as of a
// signal, has the spec of the first partition that sells the type.
func (x *specIndex) of(k *gputide.Key) *specView { return x.views.of(k, x.specs[keySpec(k)]) }

// matches judges the type of a key by everything t asks.
func (x *specIndex) matches(t *specTest, k *gputide.Key) bool {
	v := x.of(k)
	return t.matches(v) && t.resolves(v)
}

// specsFor reads the specs of the selected instance types; nil when they are
// not needed.
func (e *Engine) specsFor(ctx context.Context, r *scene, needed bool) (*specIndex, error) {
	if !needed {
		return nil, nil
	}
	specs, err := e.specs(ctx, r)
	if err != nil {
		return nil, err
	}
	x := &specIndex{specs: make(map[specKey]*gputide.Spec, len(specs)), views: newSpecViews(e.Catalogue)}
	for i := range specs {
		s := &specs[i]
		x.specs[specKey{s.Provider, s.Partition, s.InstanceType}] = s
		anywhere := specKey{provider: s.Provider, instanceType: s.InstanceType}
		if first, ok := x.specs[anywhere]; !ok || s.Partition < first.Partition {
			x.specs[anywhere] = s
		}
	}
	return x, nil
}

func (e *Engine) specs(ctx context.Context, r *scene) ([]gputide.Spec, error) {
	sel := gputide.Selection{Matches: r.plan.keyOnly(gputide.FieldProvider, gputide.FieldPartition, gputide.FieldInstanceType)}
	specs, err := e.Reader.Specs(ctx, sel, r.at)
	if err != nil {
		return nil, fmt.Errorf("instance types: %w", err)
	}
	return specs, nil
}

// Types returns instance types, priced or not, by provider, partition and name.
// It returns [gputide.ErrInvalid] for a request it does not understand.
func (e *Engine) Types(ctx context.Context, req TypesRequest) (TypesAnswer, error) {
	rows, at, err := e.types(ctx, &req)
	if err != nil {
		return TypesAnswer{}, err
	}
	ans := TypesAnswer{At: at, Rows: rows, Total: len(rows)}
	if len(rows) == 0 {
		cs := filterConstraints(func(r *TypesRequest) *Filter { return &r.Filter }, req)
		cs = append(cs, momentConstraint(req, func(r *TypesRequest) *time.Time { return &r.At })...)
		ans.Empty, err = whyEmpty(req, cs, "instance types", func(less TypesRequest) (int, error) {
			rows, _, err := e.types(ctx, &less)
			return len(rows), err
		})
		return ans, err
	}
	if req.Limit > 0 && len(rows) > req.Limit {
		ans.Rows = rows[:req.Limit]
	}
	return ans, nil
}

func (e *Engine) types(ctx context.Context, req *TypesRequest) ([]TypeRow, time.Time, error) {
	if req.Limit < 0 {
		return nil, time.Time{}, fmt.Errorf("%w: limit %d", gputide.ErrInvalid, req.Limit)
	}
	r, err := e.plain(ctx, &req.Filter, askTypes)
	if err != nil {
		return nil, time.Time{}, err
	}
	r.at = e.moment(req.At)
	specs, err := e.specs(ctx, r)
	if err != nil {
		return nil, time.Time{}, err
	}
	var rows []TypeRow
	for i := range specs {
		s := &specs[i]
		key := gputide.Key{Provider: s.Provider, Partition: s.Partition, InstanceType: s.InstanceType}
		v := readSpec(e.Catalogue, s.Provider, s)
		if r.plan.matches(&key) && r.plan.spec.matches(v) && r.plan.spec.resolves(v) {
			rows = append(rows, typeRow(v))
		}
	}
	slices.SortFunc(rows, func(a, b TypeRow) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Partition, b.Partition),
			cmp.Compare(a.InstanceType, b.InstanceType))
	})
	return rows, r.at, nil
}

func typeRow(v *specView) TypeRow {
	s := v.spec
	row := TypeRow{
		Provider: Text(s.Provider), Partition: Text(s.Partition), InstanceType: Text(s.InstanceType),
		Accelerator: v.row, Passthrough: s.Device.Passthrough,
		VCPU: s.VCPU, CPUArch: Text(s.CPUArch), CPUModel: Text(s.CPUModel), MemoryGiB: s.MemoryGiB,
		LocalDiskGB: s.LocalDiskGB, LocalDiskKind: Text(s.LocalDiskKind),
		NetworkGbps: s.NetworkGbps, RDMA: rdmaRow(s), BareMetal: s.BareMetal,
		OnDemand: s.OnDemand, MaxInstances: s.MaxInstances,
		BillingIncrementS: s.BillingIncrementS, MinimumS: s.MinimumS, BilledWhenStopped: s.BilledWhenStopped,
		IncludedDiskGB: s.IncludedDiskGB, EgressPricePerGB: Text(s.EgressPricePerGB),
		Use: s.Use, Flags: []gputide.Flag{}, Source: Text(s.Source),
	}
	if v.unknown {
		row.Flags = append(row.Flags, gputide.FlagUnknownAccelerator)
	}
	return row
}

func joined(values []string) string { return strings.Join(values, ",") }

func stampText(t time.Time) string { return t.UTC().Format(time.RFC3339) }
