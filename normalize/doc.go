// Package normalize gives meaning to what providers publish: it derives the
// hourly price of an instance from the published amount, reads device names
// through the accelerator catalogue, places regions on the map, and refuses
// rows that state no usable price.
//
// Everything in it is pure: no I/O, no clock, no state that changes. Its three
// tables (accelerators.yaml, regions.yaml and the masked names) are data with
// their sources; the rules that read them are code.
package normalize
