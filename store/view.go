package store

// view is one read transaction. Nothing that points into it may leave it.
type view struct {
	db      *DB
	tx      *txn
	d       *dict
	offers  *book
	signals *book
	marks   *markReader
	tables  map[uint32]*sourceTable
}

// view runs fn in a read transaction. fn copies what it needs and returns: a
// read transaction that stays open pins pages and can keep a writer waiting.
// It must not begin another: compaction may wait between the two.
func (db *DB) view(fn func(*view) error) error {
	db.swap.RLock()
	defer db.swap.RUnlock()
	return db.read(func(tx *txn) error {
		return fn(&view{
			db: db, tx: tx, d: newDict(tx, &db.dict), offers: offersOf(tx), signals: signalsOf(tx),
			marks: newMarkReader(tx, &db.runs), tables: make(map[uint32]*sourceTable),
		})
	})
}

// sources returns the table of sources of a provider.
func (v *view) sources(provider uint32) (*sourceTable, error) {
	if t := v.tables[provider]; t != nil {
		return t, nil
	}
	t, err := loadSources(v.tx.Bucket(bucketScope), v.d, provider)
	if err != nil {
		return nil, err
	}
	v.tables[provider] = t
	return t, nil
}
