package importcsv

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gputide/gputide"
)

// The columns of the common CSV, in its order, and those that a profile may
// name beside them.
const (
	colTime = iota
	colProvider
	colRegion
	colZone
	colType
	colGPU
	colCount
	colMarket
	colOS
	colPrice
	colCurrency
	commonCells

	colVCPU = iota - 1
	colMemory
	fixedCells
)

// columnPrice is the name of the column of the price.
const columnPrice = "price"

func commonColumns() []string {
	return []string{
		"time", "provider", "region", "zone", "instance_type", "gpu", "gpu_count", "market", "os", columnPrice, "currency",
	}
}

// moreFields are the key fields that the common CSV has no column for.
func moreFields() []gputide.Field {
	return []gputide.Field{
		gputide.FieldPartition, gputide.FieldSeller, gputide.FieldPlan, gputide.FieldTerm, gputide.FieldPayment,
		gputide.FieldLicense, gputide.FieldTenancy, gputide.FieldTier, gputide.FieldVolume, gputide.FieldStat, gputide.FieldTax,
	}
}

// Columns lists what a column of prices can hold: the columns of the common CSV,
// what a row says of the machine, and the other key fields.
func Columns() []string {
	names := append(commonColumns(), "vcpu", "memory_gib")
	for _, f := range moreFields() {
		names = append(names, string(f))
	}
	return names
}

// layout says where the cells of a row stand in a line of the file.
type layout struct {
	columns int   // of the file
	at      []int // cell → column, -1 where the file has none; nil is the order of the file
	prices  []pricesAt
	cells   []string // of the row read last
}

// pricesAt is a column of prices with the word for its market.
type pricesAt struct {
	column int
	market string
}

// newLayout finds the columns of a profile in a header.
func (p *Profile) newLayout(header []string) (*layout, error) {
	if len(p.Columns) == 0 {
		return &layout{columns: len(header)}, nil
	}
	index := make(map[string]int, len(header))
	for i, name := range header {
		if _, twice := index[name]; twice {
			return nil, fmt.Errorf("%w: the header has column %.80q twice", gputide.ErrInvalid, name)
		}
		index[name] = i
	}
	names := Columns()
	l := &layout{columns: len(header), at: make([]int, len(names)), cells: make([]string, len(names))}
	for i := range l.at {
		l.at[i] = -1
	}
	for _, column := range slices.Sorted(maps.Keys(p.Columns)) {
		i, ok := index[column]
		if !ok && !p.mayLack(p.Columns[column]) {
			return nil, missingColumn(column, header)
		}
		if ok {
			l.at[slices.Index(names, p.Columns[column])] = i
		}
	}
	for _, column := range slices.Sorted(maps.Keys(p.Prices)) {
		i, ok := index[column]
		if !ok {
			return nil, missingColumn(column, header)
		}
		l.prices = append(l.prices, pricesAt{i, p.Prices[column]})
	}
	return l, nil
}

// mayLack reports whether a file of many can do without a column: a catalogue of
// one provider has no zones, that of another has.
func (p *Profile) mayLack(field string) bool {
	return p.Files != nil && slices.Contains([]string{"zone", "vcpu", "memory_gib"}, field)
}

func missingColumn(column string, header []string) error {
	return &gputide.HintError{
		Err:  fmt.Errorf("%w: header has no column %q", gputide.ErrInvalid, column),
		Hint: "its columns are " + clipText(strings.Join(header, ",")),
	}
}

// pick returns the cells of a line.
func (l *layout) pick(line []string) []string {
	if l.at == nil {
		return line
	}
	for cell, column := range l.at {
		l.cells[cell] = ""
		if column >= 0 {
			l.cells[cell] = line[column]
		}
	}
	return l.cells
}

func clipText(s string) string {
	const most = 200
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "�")
}
