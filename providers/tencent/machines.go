package tencent

import (
	"context"
	"errors"
	"fmt"

	"github.com/gputide/gputide"
)

const sourceTypes = "instance-types"

var _ gputide.SpecCrawler = (*Provider)(nil)

// CrawlSpecs adds the types that DescribeInstanceTypeConfigs lists, sold or not.
// Without a key it adds none: the answers with prices say what they know.
func (p *Provider) CrawlSpecs(ctx context.Context, b *gputide.Batch) error {
	table, err := loadFamilies()
	if err != nil {
		return err
	}
	r := &run{Provider: p, b: b, table: table}
	s := p.sites()[0]
	e := s.endpoint(sourceTypes)
	regions, err := r.apiRegions(ctx, &s)
	if err != nil {
		r.source(sourceTypes, err)
		return quiet(err)
	}
	seen := make(map[string]bool)
	var failed []error
	for _, region := range regions {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !r.wants(region) {
			continue
		}
		var list machineList
		_, err := r.call(ctx, &e, "DescribeInstanceTypeConfigs", region, struct{}{}, &list)
		if err == nil {
			err = list.check()
		}
		if err != nil {
			r.source(sourceTypes, err)
			if isAbsent(err) {
				return nil
			}
			failed = append(failed, err)
			continue
		}
		for i := range list.InstanceTypeConfigSet {
			r.machine(&s, &list.InstanceTypeConfigSet[i], seen)
		}
	}
	return errors.Join(failed...)
}

// quiet drops an error that says that a source cannot be asked.
func quiet(err error) error {
	if isAbsent(err) {
		return nil
	}
	return err
}

// machine adds a type once: it is the same in every zone.
func (r *run) machine(s *site, m *machine, seen map[string]bool) {
	if m.InstanceType == nil || *m.InstanceType == "" {
		r.b.Omit(sourceTypes, "bad_row", 1)
		return
	}
	if seen[*m.InstanceType] {
		return
	}
	seen[*m.InstanceType] = true
	spec := m.spec(s.partition, sourceTypes)
	spec.Device = r.table.device(m)
	r.b.Spec(spec)
}

// check returns what is wrong with the list as a whole.
func (l *machineList) check() error {
	switch {
	case l.InstanceTypeConfigSet == nil:
		return drift(sourceTypes, "Response.InstanceTypeConfigSet", "a list", "none")
	case len(l.InstanceTypeConfigSet) == 0:
		return fmt.Errorf("%s: %w: InstanceTypeConfigSet", sourceTypes, gputide.ErrEmpty)
	}
	named, counted := false, false
	for _, m := range l.InstanceTypeConfigSet {
		named = named || m.InstanceType != nil
		counted = counted || m.GPUCount != "" || m.GPU != nil
	}
	switch {
	case !named:
		return drift(sourceTypes, "Response.InstanceTypeConfigSet[].InstanceType", "it in some row", "none")
	case !counted:
		return drift(sourceTypes, "Response.InstanceTypeConfigSet[].GpuCount", "it or GPU in some row", "none")
	}
	return nil
}
