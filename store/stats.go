package store

import (
	"bytes"
	"context"
	"os"

	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
)

// Stats describes the database. It reads all of it.
func (db *DB) Stats(ctx context.Context) (gputide.StoreStats, error) {
	out := gputide.StoreStats{Path: db.path, Buckets: make(map[string]int64)}
	if fi, err := os.Stat(db.path); err == nil {
		out.FileBytes = fi.Size()
	}
	err := db.view(func(v *view) error {
		v.describe(&out)
		return nil
	})
	if err != nil {
		return out, err
	}
	for s, err := range db.Export(ctx) {
		if err != nil {
			return out, err
		}
		out.Observations += int64(len(s.Times))
	}
	return out, nil
}

func (v *view) describe(out *gputide.StoreStats) {
	meta := v.tx.Bucket(bucketMeta)
	if raw := meta.Get(metaSchema); len(raw) == 4 {
		out.SchemaVersion = int(be32(raw))
	}
	if raw := meta.Get(metaCreated); len(raw) == 8 {
		r := reader{b: raw}
		out.CreatedAt = unstamp(r.wide())
	}
	out.ToolVersion, out.Catalogue = string(meta.Get(metaTool)), string(meta.Get(metaCatalogue))
	out.Series = int64(v.offers.series.Sequence())
	out.Signals = int64(v.signals.series.Sequence())
	out.Changes = int64(v.lastSeq())
	for _, name := range topBuckets() {
		s := v.tx.Bucket(name).Stats()
		n, used := s.KeyN, usedBytes(s)
		if _, ok := formOf(name); ok {
			n, used = v.tx.table(name).size()
		} else if bytes.Equal(name, bucketPack) {
			used = 0 // told with the bucket it is of
		}
		out.Buckets[string(name)] = used
		out.UsedBytes += used
		switch string(name) {
		case string(bucketRunLog):
			out.Runs = int64(n)
		case string(bucketSpec):
			out.Specs = int64(n)
		case string(bucketFX):
			out.Rates = int64(n)
		case string(bucketQuarantine):
			out.Quarantined = int64(n)
		}
	}
}

// usedBytes is the pages a bucket occupies, unused room in them included.
func usedBytes(s bolt.BucketStats) int64 { return int64(s.BranchAlloc + s.LeafAlloc) }
