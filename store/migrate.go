package store

import (
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/gputide/gputide"
)

// migration lifts a file from schema to - 1 to schema to, in the transaction it
// is given; on an error nothing of it stays.
type migration struct {
	to   int
	what string // for the error
	lift func(*bolt.Tx) error
}

// migrations is the ladder of this version, lowest step first.
func migrations() []migration {
	return []migration{{to: 2, what: "packed tables", lift: func(tx *bolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucketPack)
		return err
	}}}
}

// climb runs every step between two schemas and records the version reached.
func climb(tx *bolt.Tx, from, to int, ladder []migration) error {
	at := from
	for _, m := range ladder {
		if m.to != at+1 || m.to > to {
			continue
		}
		if err := m.lift(tx); err != nil {
			return fmt.Errorf("migrate to schema %d (%s): %w", m.to, m.what, err)
		}
		at = m.to
	}
	if at != to {
		return &gputide.HintError{
			Err:  fmt.Errorf("%w: no migration from schema %d to %d", gputide.ErrInvalid, at, to),
			Hint: "open it with the gputide version that wrote it and export the data",
		}
	}
	return writeSchema(tx, to)
}
