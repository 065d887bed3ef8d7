package aws

import (
	"strings"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/aws/pricelist"
)

func table(t *testing.T) families {
	t.Helper()
	f, err := loadFamilies()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestDeviceOf(t *testing.T) {
	const gpu, asic = "GPU instance", "Machine Learning ASIC Instances"
	for _, c := range []struct {
		typ   pricelist.Type
		name  string
		count string
		gb    float64
	}{
		{pricelist.Type{Name: "p5.48xlarge", Family: gpu, GPU: "8", GPUMemory: "640 GB HBM3"}, "H100", "8", 80},
		{pricelist.Type{Name: "p4d.24xlarge", Family: gpu, GPU: "8", GPUMemory: "NA"}, "A100", "8", 0},
		{pricelist.Type{Name: "trn1.32xlarge", Family: asic, GPU: "16", GPUMemory: "512 GB"}, "Trainium", "16", 32},
		{pricelist.Type{Name: "p5.48xlarge", Family: gpu, GPU: "6"}, "H100", "6", 0}, // the row's own count
		{pricelist.Type{Name: "p5.48xlarge", Family: gpu}, "H100", "8", 0},           // the page says none
		{pricelist.Type{Name: "p5.12xlarge", Family: gpu}, "H100", "", 0},            // a size never seen
		{pricelist.Type{Name: "g6f.large", Family: gpu, GPU: "1", GPUMemory: "3 GB"}, "L4", "1/8", 0},
		{pricelist.Type{Name: "g6f.16xlarge", Family: gpu, GPU: "0.5"}, "L4", "1/2", 0},
		{pricelist.Type{Name: "g6f.16xlarge", Family: gpu, GPU: "0"}, "L4", "", 0},
		{pricelist.Type{Name: "p9.48xlarge", Family: gpu, GPU: "8", GPUMemory: "1 TB"}, "GPU instance p9", "8", 0},
		{pricelist.Type{Name: "m5.xlarge", Family: "General purpose", GPUMemory: "NA"}, "", "", 0},
	} {
		d := deviceOf(&c.typ, table(t))
		gb := 0.0
		if d.MemoryGB != nil {
			gb = *d.MemoryGB
		}
		if d.Name != c.name || d.Count.String() != c.count || gb != c.gb {
			t.Errorf("%s: %s × %q, %g GB; want %s × %q, %g GB", c.typ.Name, d.Count, d.Name, gb, c.count, c.name, c.gb)
		}
	}
}

func TestSpecTexts(t *testing.T) {
	for text, want := range map[string]float64{"2048 GiB": 2048, "1,952 GiB": 1952, "0.5 GiB": 0.5, "NA": 0, "16 GB": 0, "-1 GiB": 0, "Inf GiB": 0} {
		if got := quantity(text, "GiB"); (got == nil) != (want == 0) || got != nil && *got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for text, want := range map[string]float64{"3200 Gigabit": 3200, "4x 100 Gigabit": 400, "Up to 25 Gigabit": 0, "High": 0, "12.5 Gigabit": 12.5, "x 5 Gigabit": 0} {
		if got := networkGbps(text); (got == nil) != (want == 0) || got != nil && *got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestFamilies shows that the table holds together: each size agrees with its
// family, and has its source.
func TestFamilies(t *testing.T) {
	f := table(t)
	for name, d := range f {
		family, _, sized := strings.Cut(name, ".")
		if p, ok := f[family]; !ok || p.Name != d.Name || p.Kind != d.Kind || !sized && d.Count.Known() {
			t.Errorf("%s: %+v, family %+v", name, d, p)
		}
		if d.Name == "" || d.Vendor == "" || d.Kind == gputide.DeviceAny {
			t.Errorf("%s: %+v", name, d)
		}
	}
	for line := range strings.Lines(familiesCSV) {
		if !strings.HasPrefix(line, "#") && strings.HasSuffix(strings.TrimSpace(line), ",") {
			t.Errorf("no source: %s", line)
		}
	}
	for _, family := range strings.Fields("p2 p3 p3dn p4d p4de p5 p5e p5en p6-b200 p6-b300 g2 g3 g3s g4dn g4ad g5 g5g g6 gr6 g6e g6f gr6f g7 g7e inf1 inf2 trn1 trn1n trn2 dl1 dl2q f1 f2 vt1") {
		if _, ok := f[family]; !ok {
			t.Errorf("family %s is missing", family)
		}
	}
}

func TestKeepAccelerated(t *testing.T) {
	keep := keepAccelerated(table(t))
	for _, c := range []struct {
		line string
		want bool
	}{
		{`"FormatVersion","v1.0"`, true},
		{`"SKU","OfferTermCode"`, true},
		{`"A","GPU instance","USW2-BoxUsage:p9.48xlarge","NA"`, true},
		{`"A","Machine Learning ASIC Instances"`, true},
		{`"A","Other","BoxUsage:p5.48xlarge"`, true},
		{`"A","General purpose","BoxUsage:m5.large","RunInstances:0002"`, false},
		{`"A","Storage","EBS:VolumeUsage.gp3"`, false},
	} {
		if got := keep([]byte(c.line + "\n")); got != c.want {
			t.Errorf("%s: %v", c.line, got)
		}
	}
}

func TestKeepPlans(t *testing.T) {
	const header = `"SKU","OfferTermCode","RateCode","TermType","StartingRange","EndingRange","Unit","PricePerUnit","Currency","LeaseContractLength","PurchaseOption","OfferingClass","Product Family","Location","Instance Type","Instance Family","vCPU","Memory","Tenancy","Operating System","License Model","usageType","operation","GPU","Pre Installed S/W","Region Code","CapacityStatus","MarketOption","GPU Memory"`
	line := func(typ, family, gpu string) string {
		return `"` + typ + `","T","` + typ + `.T.R","OnDemand","0","Inf","Hrs","1.0","USD",,,,"Compute Instance","US East (N. Virginia)","` + typ + `","` + family +
			`","8","16 GiB","Shared","Linux","No License required","BoxUsage:` + typ + `","RunInstances","` + gpu + `","NA","us-east-1","Used","OnDemand","NA"`
	}
	list := `"Version","20260910195514"` + "\n" + header + "\n" + line("p5.48xlarge", "GPU instance", "8") + "\n" + line("p9.48xlarge", "GPU instance", "8") + "\n" +
		line("m5.large", "General purpose", "") + "\n"
	w := &wares{}
	opt := pricelist.Options{Source: "bulk-csv", Partition: "aws", Currency: "USD", Region: "us-east-1", Products: &w.products}
	if _, err := pricelist.ReadCSV(strings.NewReader(list), opt, func(*pricelist.Row) {}); err != nil || w.products.Len() != 3 {
		t.Fatal(w.products.Len(), err)
	}
	keep := (&run{families: table(t)}).keepPlans(w)
	for _, c := range []struct {
		line string
		want bool
	}{
		{"FormatVersion,v1.0\n", true},
		{"SKU,RateCode,DiscountedInstanceType\n", true},
		{"PLAN,PLAN.X,p5.48xlarge\n", true},
		{"PLAN,PLAN.X,p9.48xlarge\r\n", true}, // new to the table, not to the list
		{`"PLAN","PLAN.X","p5.48xlarge"` + "\n", true},
		{"PLAN,PLAN.X,m5.large\n", false},
		{"PLAN,PLAN.X,p5.48xlarge,\n", false},
	} {
		if got := keep([]byte(c.line)); got != c.want {
			t.Errorf("%q: %v", c.line, got)
		}
	}
}
