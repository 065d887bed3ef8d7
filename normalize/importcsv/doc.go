// Package importcsv reads other people's price records: CSV files, plain or
// gzipped, each with a profile that says what its words mean. A profile fills
// every key field the live adapter of the same provider sets, so that imported
// and crawled prices of one offer are one series. What neither a row nor its
// profile says stays empty.
//
// A file is read as a stream and within bounds. A row that cannot be read is
// counted with its reason and touches no other; a file whose header is not that
// of its profile is refused whole.
package importcsv
