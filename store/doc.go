// Package store keeps every price, spec, signal and run in one bbolt file.
//
// It stores change points. A price that a run lists again unchanged costs
// nothing: that it was confirmed follows from the run log of its scope. What
// every byte means is written in format.md; what the states mean, in the design
// notes of the project.
//
// One process may write at a time; it holds PATH.lock for as long as the
// database is open. Nothing in the exported methods shows bbolt: package
// storetest runs the same conformance suite over any backend that has them.
package store
