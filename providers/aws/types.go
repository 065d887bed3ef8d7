package aws

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/aws/internal/ec2api"
)

// specRegions are asked for instance types and their answers united: a region
// names the types it sells, and these three sell every accelerated one seen in
// 2026 (p5e in us-west-2 only).
func specRegions() []string { return []string{"us-east-1", "us-east-2", "us-west-2"} }

// CrawlSpecs adds what EC2 says of instance types. Without a key, or where EC2
// does not answer at all, the table of accelerators stands in.
func (p *Provider) CrawlSpecs(ctx context.Context, b *gputide.Batch) error {
	described, err := p.describe(ctx, b)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if described > 0 {
		return err
	}
	return errors.Join(err, p.tableSpecs(b))
}

// describe asks EC2 and returns how many types it named.
func (p *Provider) describe(ctx context.Context, b *gputide.Batch) (int, error) {
	opt, ok := p.ec2(sourceTypes)
	if !ok {
		b.Source(sourceTypes, gputide.SourceSkipped, needsKey())
		return 0, nil
	}
	seen := map[string]bool{}
	var failed []error
	for _, region := range specRegions() {
		err := ec2api.InstanceTypes(ctx, opt, region, func(t ec2api.Type) {
			if !seen[t.Spec.InstanceType] {
				seen[t.Spec.InstanceType] = true
				p.described.learn(t)
				b.Spec(t.Spec)
			}
		})
		switch {
		case errors.Is(err, gputide.ErrNotInFixture):
			b.Source(sourceTypes, gputide.SourceSkipped, err)
			return 0, nil
		case err != nil:
			b.Source(sourceTypes, gputide.SourceFailed, err)
			failed = append(failed, err)
		}
	}
	return len(seen), errors.Join(failed...)
}

// tableSpecs adds the types of the table.
func (p *Provider) tableSpecs(b *gputide.Batch) error {
	table, err := loadFamilies()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if strings.Contains(name, ".") {
			b.Spec(gputide.Spec{Source: sourceFamilies, Partition: partitionCommercial, InstanceType: name, Device: table[name]})
		}
	}
	return nil
}
