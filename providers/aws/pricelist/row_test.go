package pricelist

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gputide/gputide"
)

const id = "3D4V8UAYEMB38GU2"

// term returns the changes that make a row one of a reserved term.
func term(changes ...string) []string {
	return append([]string{
		"TermType", "Reserved", "OfferTermCode", "TERM", "LeaseContractLength", "1yr", "OfferingClass", "standard",
		"PurchaseOption", "Partial Upfront",
	}, changes...)
}

func TestRows(t *testing.T) {
	const base = "us-east-1 p5.48xlarge "
	for _, c := range []struct {
		name    string
		rows    []cells
		offers  map[string]string
		skip    string // reason of the only skipped row
		unknown bool   // its key is not known
		drift   bool   // and no row is left
		omit    string
	}{
		{name: "plain", rows: []cells{row()}, offers: map[string]string{base + "on_demand linux shared": "55.0400000000/"}},
		{name: "bare metal", rows: []cells{row("Product Family", "Compute Instance (bare metal)")}, offers: map[string]string{base + "on_demand linux shared": "55.0400000000/"}},
		{name: "host tenancy", rows: []cells{row("Tenancy", "Host")}, offers: map[string]string{base + "on_demand linux host": "55.0400000000/"}},
		{name: "RHEL with HA", rows: []cells{row("Operating System", "Red Hat Enterprise Linux with HA")}, offers: map[string]string{base + "on_demand rhel ha shared": "55.0400000000/"}},
		{name: "RHEL with HA and SQL", rows: []cells{row("Operating System", "Red Hat Enterprise Linux with HA", "Pre Installed S/W", "SQL Ent")}, offers: map[string]string{base + "on_demand rhel ha+sql_ent shared": "55.0400000000/"}},
		{name: "own licence with SQL", rows: []cells{row("Operating System", "Windows", "License Model", "Bring your own license", "Pre Installed S/W", "SQL Web")}, offers: map[string]string{base + "on_demand windows byol+sql_web shared": "55.0400000000/"}},
		{name: "SUSE", rows: []cells{row("Operating System", "SUSE")}, offers: map[string]string{base + "on_demand suse shared": "55.0400000000/"}},
		{name: "SUSE with SQL", rows: []cells{row("Operating System", "SUSE", "Pre Installed S/W", "SQL Std")}, offers: map[string]string{base + "on_demand suse sql_std shared": "55.0400000000/"}},
		{name: "RHEL with SQL", rows: []cells{row("Operating System", "RHEL", "Pre Installed S/W", "SQL Ent")}, offers: map[string]string{base + "on_demand rhel sql_ent shared": "55.0400000000/"}},
		{name: "Windows, license included, with SQL, dedicated", rows: []cells{row("Operating System", "Windows", "Pre Installed S/W", "SQL Web", "Tenancy", "Dedicated")}, offers: map[string]string{base + "on_demand windows sql_web dedicated": "55.0400000000/"}},
		{name: "Ubuntu Pro", rows: []cells{row("Operating System", "Ubuntu Pro")}, offers: map[string]string{base + "on_demand ubuntu_pro shared": "55.0400000000/"}},
		{name: "a system never seen", rows: []cells{row("Operating System", "Rocky Linux")}, offers: map[string]string{base + "on_demand rocky_linux shared": "55.0400000000/"}},

		{name: "storage", rows: []cells{row("Product Family", "Storage")}, omit: OmitFamily},
		{name: "dedicated host", rows: []cells{row("Product Family", "Dedicated Host")}, omit: OmitFamily},
		{name: "free trial", rows: []cells{row("Instance Type", "", "Region Code", "", "Location", "Any")}, omit: OmitNoType},
		{name: "capacity block", rows: []cells{row("MarketOption", "CapacityBlock", "PricePerUnit", "0.0000000000")}, omit: OmitCapacityBlock},
		{name: "capacity block against its operation", rows: []cells{row("operation", "RunInstances:CB")}, skip: SkipBadRow, unknown: true, drift: true},
		{name: "unused box", rows: []cells{row("CapacityStatus", "UnusedCapacityReservation")}, omit: OmitUnused},
		{name: "unused box against its usage type", rows: []cells{row("usageType", "USW2-UnusedBox:p5.48xlarge")}, skip: SkipBadRow, unknown: true, drift: true},
		{name: "reservation", rows: []cells{row("CapacityStatus", "AllocatedCapacityReservation")}, omit: OmitUnused},
		{name: "infrastructure twin", rows: []cells{row("License Model", "License Included - Infrastructure")}, omit: OmitInfrastructure},

		{name: "no price", rows: []cells{row("PricePerUnit", "0.0000000000")}, skip: SkipNoPrice},
		{name: "blank price", rows: []cells{row("PricePerUnit", "")}, skip: SkipNoPrice},
		{name: "NaN", rows: []cells{row("PricePerUnit", "NaN")}, skip: SkipNoPrice},
		{name: "negative", rows: []cells{row("PricePerUnit", "-1")}, skip: SkipNoPrice},
		{name: "words", rows: []cells{row("PricePerUnit", "N/A")}, skip: SkipNoPrice},
		{name: "1e400", rows: []cells{row("PricePerUnit", "1e400")}, skip: SkipOverflow},
		{name: "other currency", rows: []cells{row("Currency", "CNY")}, skip: SkipCurrency},
		{name: "usage range", rows: []cells{row("EndingRange", "750")}, skip: SkipTiered},
		{name: "upfront fee on demand", rows: []cells{row("Unit", "Quantity")}, skip: SkipUnit},
		{name: "lease on demand", rows: []cells{row("LeaseContractLength", "3yr")}, skip: SkipContradictory},
		{name: "price per second", rows: []cells{row("Unit", "Seconds")}, skip: SkipUnit},

		{
			name: "partial", rows: []cells{row(term("PricePerUnit", "9.5")...), row(term("PricePerUnit", "1000", "Unit", "Quantity")...)},
			offers: map[string]string{base + "commitment ri_standard 1y partial linux shared": "9.5/1000"},
		},
		{
			name: "partial, fee first", rows: []cells{row(term("PricePerUnit", "1000", "Unit", "Quantity")...), row(term("PricePerUnit", "9.5")...)},
			offers: map[string]string{base + "commitment ri_standard 1y partial linux shared": "9.5/1000"},
		},
		{
			name: "all upfront", rows: []cells{row(term("PurchaseOption", "All Upfront", "PricePerUnit", "0.0000000000")...), row(term("PurchaseOption", "All Upfront", "PricePerUnit", "1000", "Unit", "Quantity")...)},
			offers: map[string]string{base + "commitment ri_standard 1y all linux shared": "/1000"},
		},
		{
			name: "all upfront, fee alone", rows: []cells{row(term("PurchaseOption", "All Upfront", "PricePerUnit", "1000", "Unit", "Quantity")...)},
			offers: map[string]string{base + "commitment ri_standard 1y all linux shared": "/1000"},
		},
		{
			name: "no upfront", rows: []cells{row(term("PurchaseOption", "No Upfront", "OfferingClass", "convertible", "LeaseContractLength", "3yr")...)},
			offers: map[string]string{base + "commitment ri_convertible 3y none linux shared": "55.0400000000/"},
		},
		{
			name: "convertible for one year, all upfront, dedicated Windows",
			rows: []cells{
				row(term("PurchaseOption", "All Upfront", "OfferingClass", "convertible", "PricePerUnit", "1000", "Unit", "Quantity", "Operating System", "Windows", "Tenancy", "Dedicated")...),
				row(term("PurchaseOption", "All Upfront", "OfferingClass", "convertible", "PricePerUnit", "0.0000000000", "Operating System", "Windows", "Tenancy", "Dedicated")...),
			},
			offers: map[string]string{base + "commitment ri_convertible 1y all windows dedicated": "/1000"},
		},
		{
			name: "standard for three years, partial", rows: []cells{row(term("LeaseContractLength", "3yr", "PricePerUnit", "9.5")...), row(term("LeaseContractLength", "3yr", "PricePerUnit", "1000", "Unit", "Quantity")...)},
			offers: map[string]string{base + "commitment ri_standard 3y partial linux shared": "9.5/1000"},
		},
		{name: "hourly rate missing", rows: []cells{row(term("PricePerUnit", "1000", "Unit", "Quantity")...)}, skip: SkipIncomplete},
		{name: "fee missing", rows: []cells{row(term()...)}, skip: SkipIncomplete},
		{name: "all upfront, fee missing", rows: []cells{row(term("PurchaseOption", "All Upfront", "PricePerUnit", "0.0")...)}, skip: SkipIncomplete},
		{name: "lease of two years", rows: []cells{row(term("LeaseContractLength", "2yr")...)}, skip: SkipContradictory, unknown: true},
		{name: "fee in a term without one", rows: []cells{row(term("PurchaseOption", "No Upfront", "Unit", "Quantity", "PricePerUnit", "5")...)}, skip: SkipContradictory},
		{
			name: "two rates of one term", rows: []cells{row(term("PricePerUnit", "9")...), row(term("PricePerUnit", "8")...), row(term("PricePerUnit", "1000", "Unit", "Quantity")...)},
			offers: map[string]string{base + "commitment ri_standard 1y partial linux shared": "9/1000"}, skip: SkipContradictory,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := readCSV(csvText(c.rows...), commercial("us-east-1"))
			if errors.Is(got.err, gputide.ErrSchemaDrift) != c.drift || !c.drift && got.err != nil {
				t.Fatal(got.err)
			}
			if c.offers == nil {
				c.offers = map[string]string{}
			}
			diff(t, "offers", c.offers, got.offers)
			if got.skips[id] != c.skip {
				t.Errorf("skipped for %q, want %q", got.skips[id], c.skip)
			}
			if _, known := got.known[id]; c.skip != "" && known == c.unknown {
				t.Errorf("key known: %v", known)
			}
			if c.omit != "" && got.report.Omitted[c.omit] != 1 {
				t.Errorf("omitted %v, want one %s", got.report.Omitted, c.omit)
			}
		})
	}
}

// TestOneBadRow shows that a row that does not say what it is is counted and
// spoils no other.
func TestOneBadRow(t *testing.T) {
	for column, bad := range map[string]string{
		"Tenancy": "Used", "Operating System": "NA", "License Model": "Linux", "Instance Type": "GPU instance", "Memory": "NA",
		"vCPU": "Yes", "GPU": "Yes", "CapacityStatus": "Shared", "MarketOption": "Spot", "Region Code": "US East (Ohio)",
		"Pre Installed S/W": "Linux", "TermType": "Spot",
	} {
		got := readCSV(csvText(row(column, bad), row("SKU", "OTHER")), commercial("us-east-1")).ok(t)
		if got.skips[id] != SkipBadRow || len(got.offers) != 1 || len(got.known) != 0 {
			t.Errorf("%s = %q: skips %v, offers %v", column, bad, got.skips, got.offers)
		}
		if alone := readCSV(csvText(row(column, bad)), commercial("us-east-1")); driftPath(alone.err) != column {
			t.Errorf("%s = %q in every row: %v", column, bad, alone.err)
		}
	}
	got := readCSV(csvText(row("Region Code", "us-east-2"), row("SKU", "OTHER")), commercial("us-east-1")).ok(t)
	if got.skips[id] != SkipOtherRegion || len(got.offers) != 1 {
		t.Errorf("row of another region: skips %v, offers %v", got.skips, got.offers)
	}
}

func driftPath(err error) string {
	d, ok := errors.AsType[*gputide.DriftError](err)
	if !ok {
		return ""
	}
	return d.Path
}

func TestRenamedColumns(t *testing.T) {
	for a := range numAttrs {
		name := attrNames[a].csv
		text := csvUnder(strings.Replace(header2025, `"`+name+`"`, `"`+name+` new"`, 1), row())
		if err := readCSV(text, commercial("us-east-1")).err; attrNames[a].need == optional {
			if err != nil {
				t.Errorf("%s is optional: %v", name, err)
			}
		} else if driftPath(err) != name || !errors.Is(err, gputide.ErrSchemaDrift) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// TestSwappedColumns shows that no two columns can change places unseen: the
// offer is gone, another, or the reading fails.
func TestSwappedColumns(t *testing.T) {
	rows := []cells{row(term("PricePerUnit", "9.5")...), row(term("PricePerUnit", "1000", "Unit", "Quantity")...), row()}
	show := func(r result) string {
		var types []string
		for _, w := range r.rows {
			if w.Type != nil {
				types = append(types, fmt.Sprint(*w.Type))
			}
		}
		return fmt.Sprint(r.offers, r.skips, r.err, types)
	}
	want := show(readCSV(csvText(rows...), commercial("us-east-1")))
	for a := range numAttrs {
		for b := range a {
			x, y := `"`+attrNames[a].csv+`"`, `"`+attrNames[b].csv+`"`
			header := strings.NewReplacer(x, y, y, x).Replace(header2025)
			text := strings.Replace(csvText(rows...), header2025, header, 1)
			if show(readCSV(text, commercial("us-east-1"))) == want && !redundant(a) && !redundant(b) {
				t.Errorf("%s and %s swapped: nothing seen", x, y)
			}
		}
	}
}

// redundant reports whether an attribute only confirms what another says.
func redundant(a attr) bool { return a == operation || a == usage || a == location }

func TestBrokenCSV(t *testing.T) {
	whole := csvText(row(), row("SKU", "OTHER"))
	for name, text := range map[string]string{
		"empty":        "",
		"HTML":         "<!DOCTYPE html>\n<html><body>Sorry</body></html>\n",
		"HTML pairs":   "<html lang=\"en\", class=\"x\">\n",
		"JSON":         `{"formatVersion":"v1.0"}`,
		"cut":          whole[:len(whole)/2],
		"cut in a row": whole[:len(whole)-700],
		"header alone": preamble2025,
		"form":         strings.Replace(whole, "v1.0", "v2.0", 1),
		"other list":   strings.Replace(whole, "AmazonEC2", "AmazonRDS", 1),
		"two columns":  strings.Replace(whole, `"Tenancy"`, `"Memory"`, 1),
	} {
		if err := readCSV(text, commercial("us-east-1")).err; !errors.Is(err, gputide.ErrSchemaDrift) {
			t.Errorf("%s: %v", name, err)
		}
	}
	boom := errors.New("boom")
	_, err := ReadCSV(io.MultiReader(strings.NewReader(whole), failing{boom}), commercial("us-east-1"), func(*Row) {})
	if !errors.Is(err, boom) || errors.Is(err, gputide.ErrSchemaDrift) {
		t.Errorf("error of the stream: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestOldHeader reads a list from before there were region codes and markets.
func TestOldHeader(t *testing.T) {
	old := `"SKU","OfferTermCode","RateCode","TermType","StartingRange","EndingRange","Unit","PricePerUnit","Currency","LeaseContractLength","PurchaseOption","OfferingClass","Product Family","Location","Instance Type","Instance Family","vCPU","Memory","Tenancy","Operating System","License Model","usageType","operation","GPU","Pre Installed S/W"`
	text := strings.Replace(csvUnder(old, row("Location", "EU (Frankfurt)"), row("SKU", "OTHER", "Location", "Atlantis"),
		row("SKU", "CB", "operation", "RunInstances:CB"), row("SKU", "UB", "usageType", "EUC1-UnusedBox:p5.48xlarge")), "20250912225308", "20170302183221", 1)
	got := readCSV(text, commercial("eu-central-1")).ok(t)
	diff(t, "offers", map[string]string{"eu-central-1 p5.48xlarge on_demand linux shared": "55.0400000000/"}, got.offers)
	diff(t, "skips", map[string]string{"OTHER": SkipBadRow}, got.skips)
	diff(t, "omitted", map[string]int64{OmitCapacityBlock: 1, OmitUnused: 1}, got.report.Omitted)
}

// TestOnlyOnDemandLinux shows that leaving rows unread changes nothing else.
func TestOnlyOnDemandLinux(t *testing.T) {
	for _, mixed := range []bool{false, true} {
		text := string(generated(1<<20, mixed))
		all := readCSV(text, commercial("us-east-1")).ok(t)
		opt := commercial("us-east-1")
		opt.Only = OnDemandLinux
		some := readCSV(text, opt).ok(t)
		want := map[string]string{}
		for k, v := range all.offers {
			if strings.HasSuffix(k, "on_demand linux shared") {
				want[k] = v
			}
		}
		diff(t, "offers", want, some.offers)
		if all.report.Rows != some.report.Rows || len(want) == 0 {
			t.Errorf("%d rows and %d rows", all.report.Rows, some.report.Rows)
		}
	}
}

func TestLocations(t *testing.T) {
	all, err := Locations()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, l := range all {
		if !isRegion([]byte(l.Region)) || l.Name == "" || seen[l.Region] {
			t.Errorf("%+v", l)
		}
		seen[l.Region] = true
	}
}
