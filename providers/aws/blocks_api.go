package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/aws/internal/ec2api"
)

// blockAhead is how far ahead a block may start to be the cheapest of its kind.
const blockAhead = 14 * 24 * time.Hour

// blockHours are the lengths that are asked for: a day, a week, two weeks. An
// answer also names shorter and longer blocks that start at once.
func blockHours() []int32 { return []int32{24, 7 * 24, 14 * 24} }

// blocks reads the capacity blocks on offer in a region: of the types that are
// sold so and offered there, or of all that are sold so when that is not known.
func (r *run) blocks(ctx context.Context, z *zones, offered map[string]bool) {
	scope := gputide.Scope{Partition: partitionCommercial, Region: z.region, Market: gputide.CapacityBlock, Part: partOfferings}
	cheapest := map[gputide.Key]gputide.RawOffer{}
	asked, none := 0, int64(0)
	for _, name := range r.described.names(func(t *ec2api.Type) bool { return t.Blocks }) {
		if offered != nil && !offered[name] {
			continue
		}
		for _, hours := range blockHours() {
			asked++
			rows, err := r.blockRows(ctx, z, name, hours, cheapest)
			if errors.Is(err, gputide.ErrNotInFixture) {
				r.b.Source(sourceBlocks, gputide.SourceSkipped, err)
				return
			}
			if err != nil {
				r.fail(sourceBlocks, err, scope)
				return
			}
			if rows == 0 {
				none++
			}
		}
	}
	if asked == 0 {
		return // no type is sold so here, or none is known
	}
	for _, key := range slices.SortedFunc(maps.Keys(cheapest), func(a, b gputide.Key) int { return cmp.Compare(a.Canonical(), b.Canonical()) }) {
		r.b.Add(cheapest[key])
	}
	r.b.Omit(sourceBlocks, "no_block_on_offer", none)
	r.b.Done(sourceBlocks, scope, ec2api.URL(z.region))
	r.count(nil)
}

// blockRows keeps the cheapest block of each kind in an answer and returns how
// many rows it had.
func (r *run) blockRows(ctx context.Context, z *zones, name string, hours int32, cheapest map[gputide.Key]gputide.RawOffer) (rows int, err error) {
	opt, _ := r.ec2(sourceBlocks)
	at := r.b.At()
	err = ec2api.Blocks(ctx, opt, z.region, name, hours, at, at.Add(blockAhead), func(b ec2api.Block) error {
		rows++
		return r.block(ctx, z, &b, cheapest)
	})
	return rows, err
}

// block takes one block.
func (r *run) block(ctx context.Context, z *zones, b *ec2api.Block, cheapest map[gputide.Key]gputide.RawOffer) error {
	scope := gputide.Scope{Partition: partitionCommercial, Region: z.region, Market: gputide.CapacityBlock, Part: partOfferings}
	switch {
	case b.InstanceType == "" || b.Hours <= 0 || b.Start.IsZero() || b.Currency == "" || b.Zone == "":
		r.b.SkipUnknown(sourceBlocks, scope, "bad_row", fmt.Sprintf("%+v", *b))
		return nil
	case b.Instances != 1:
		r.b.Omit(sourceBlocks, "other_instance_count", 1)
		return nil
	case b.Minutes != 0:
		r.b.Omit(sourceBlocks, "part_of_an_hour", 1)
		return nil
	case b.Start.After(r.b.At().Add(blockAhead)):
		r.b.Omit(sourceBlocks, "starts_later", 1)
		return nil
	}
	zone, flags, err := z.id(ctx, b.Zone, "")
	if err != nil {
		return err
	}
	tenancy := "shared"
	if b.Tenancy != "" && b.Tenancy != "default" {
		tenancy = b.Tenancy
	}
	key := gputide.Key{
		Partition: partitionCommercial, Region: z.region, Zone: zone, InstanceType: b.InstanceType, Market: gputide.CapacityBlock,
		Term: gputide.NewTerm(int(b.Hours), "h"), Payment: gputide.PaymentAll, OS: "linux", Tenancy: tenancy,
		Stat: gputide.StatMin, Currency: gputide.Currency(b.Currency),
	}
	o := gputide.RawOffer{
		Source: sourceBlocks, Key: key, Part: partOfferings, SKU: blockSKU(b), Flags: flags, Spec: r.tableSpec(b.InstanceType),
		Price: gputide.Published{Upfront: b.Fee, Unit: gputide.PerTerm, Basis: gputide.BasisInstance},
	}
	best, ok := cheapest[key]
	if ok && !cheaper(o, best) {
		r.b.Omit(sourceBlocks, "not_the_cheapest", 1)
		return nil
	}
	if ok {
		r.b.Omit(sourceBlocks, "not_the_cheapest", 1)
	}
	cheapest[key] = o
	return nil
}

// blockSKU names a block with its dates: 2025-02-15T11:30:00Z/2025-02-16T11:30:00Z.
func blockSKU(b *ec2api.Block) string {
	end := b.End
	if end.IsZero() {
		end = b.Start.Add(time.Duration(b.Hours) * time.Hour)
	}
	return b.ID + " " + b.Start.UTC().Format(time.RFC3339) + "/" + end.UTC().Format(time.RFC3339)
}

// cheaper reports whether block a is to be taken before b: the lower fee, and of
// equal ones the first by id and dates. A fee that cannot be read is never
// cheaper; alone it goes on and is refused there.
func cheaper(a, b gputide.RawOffer) bool {
	x, errA := amount(a.Price.Upfront)
	y, errB := amount(b.Price.Upfront)
	switch {
	case errA != nil || errB != nil:
		return errA == nil
	case x.Cmp(y) != 0:
		return x.Cmp(y) < 0
	}
	return a.SKU < b.SKU
}

// amount reads a fee that is one.
func amount(s string) (*big.Rat, error) {
	v, err := gputide.ParseAmount(s)
	if err == nil && v.Sign() <= 0 {
		err = gputide.ErrNoPrice
	}
	return v, err
}
