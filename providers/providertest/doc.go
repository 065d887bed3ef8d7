// Package providertest proves that an adapter keeps the contract of
// [gputide.Provider]. Every adapter runs the whole suite against its fixture:
//
//	func TestConformance(t *testing.T) {
//		providertest.Run(t, func(f *fetch.Fetcher) gputide.Provider { return lambda.New(f) }, providertest.Opt{
//			Lists:    []providertest.Field{{"types", "data"}},
//			Required: []providertest.Field{{"types", "data.*.price"}},
//		})
//	}
//
// The suite reads the fixture, spoils it in every way a source was ever seen to
// fail, replays it through crawler/fetch and looks at what the adapter put into
// its batch. It dials nothing. One invariant stands behind most checks: whatever
// a source answers, no offer is concluded to be withdrawn that its source did
// not clearly stop listing.
//
// `go test ./providers/<name> -update` writes the golden file.
package providertest
