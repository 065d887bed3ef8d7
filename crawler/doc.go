// Package crawler runs providers and turns what they read into runs: it gives
// each provider its deadline and its isolation, normalises rows as they stream
// past, decides which source feeds which scope, compares the outcome with what
// the store knows, and commits.
//
// Three decisions are taken here and nowhere else.
//
// Which rows are ours: with [CollectAccelerated] a row is kept when the device of
// its instance type is an accelerator, judged by the row's own spec and by the
// specs that were added before it. All other rows are counted.
//
// Which source a scope is read from: the most authoritative one that reached the
// end of it. Rows of any other source in that scope are discarded and counted. A
// series belongs to the narrowest scope that covers it.
//
// What is believed: guards refuse single rows and hold back whole scopes that
// differ from the past in a way that is more often an error than news. What was
// refused keeps its last price, and what a second, later run repeats is accepted.
package crawler
