package store

import "context"

// consistentTries is how often reads are begun anew because a commit came
// between them, before commits have to wait for them.
const consistentTries = 3

// Consistent calls read, which reads the database any number of times, so that
// all of it is from one moment: no commit lies between the first read and the
// last. When one came, read is called again and what it found before does not
// count. After a few times commits are kept waiting, so read must end soon and
// must not write.
//
// Each read stays a short transaction of its own: one that lasted through all of
// them would pin pages and could block a commit for as long.
func (db *DB) Consistent(ctx context.Context, read func() error) error {
	for range consistentTries {
		before, err := db.generation()
		if err != nil {
			return err
		}
		readErr := read()
		after, err := db.generation()
		if err != nil {
			return err
		}
		if before == after {
			return readErr
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	db.writing.Lock()
	defer db.writing.Unlock()
	return read()
}

// generation tells the state of the database: a compacted file numbers its
// commits anew.
type generation struct {
	swaps  uint64
	commit int
}

func (db *DB) generation() (g generation, err error) {
	err = db.view(func(v *view) error {
		g = generation{swaps: db.swaps, commit: v.tx.ID()}
		return nil
	})
	return g, err
}
