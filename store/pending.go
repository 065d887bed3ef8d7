package store

type runCache struct{}
type keyCache struct{}
type runMoment struct{}

func (db *DB) prepareDerived() error { return nil }
