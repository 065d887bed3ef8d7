package importcsv

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize"
)

var now = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

func normalizer(t testing.TB) *normalize.Normalizer {
	t.Helper()
	cat, err := normalize.LoadCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	regions, err := normalize.LoadRegions()
	if err != nil {
		t.Fatal(err)
	}
	return &normalize.Normalizer{Catalogue: cat, Regions: regions}
}

func load(t testing.TB, name string) *Profile {
	t.Helper()
	p, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// readPrices reads rows below the header of the common form.
func readPrices(t testing.TB, profile, rows string) ([]gputide.ImportRow, *Tally, error) {
	t.Helper()
	r, err := New(strings.NewReader(HeaderOf(FormPrices)+"\n"+rows), load(t, profile), Options{Normalizer: normalizer(t), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	var out []gputide.ImportRow
	for row, err := range r.Prices(t.Context()) {
		if err != nil {
			return out, r.Tally(), err
		}
		out = append(out, row)
	}
	return out, r.Tally(), nil
}

// TestProfiles reads one row of each known word of each file and says which key
// it is to be.
func TestProfiles(t *testing.T) {
	tests := []struct {
		profile, row string
		key          string // canonical, its lines joined by blanks
		device       string
		flags        []gputide.Flag
	}{
		{
			"aws_spot_2020", "aws,us-east-1,us-east-1b,p3.2xlarge,NVIDIA V100,1,spot,Linux/UNIX",
			"currency=USD instance_type=p3.2xlarge market=spot os=linux partition=aws provider=aws region=us-east-1 stat=list tenancy=shared zone=us-east-1b",
			"NVIDIA V100 16GB×1",
			[]gputide.Flag{gputide.FlagAccountZone},
		},
		{
			"aws_ondemand_2022_2026", "aws,us-east-1,,p5.48xlarge,NVIDIA H100,8,on_demand,Linux",
			"currency=USD instance_type=p5.48xlarge market=on_demand os=linux partition=aws provider=aws region=us-east-1 stat=list tenancy=shared",
			"NVIDIA H100×8", nil,
		},
		{
			"aws_ondemand_2022_2026", "aws,cn-north-1,,c3.2xlarge,,,on_demand,Linux",
			"currency=USD instance_type=c3.2xlarge market=on_demand os=linux partition=aws-cn provider=aws region=cn-north-1 stat=list tenancy=shared",
			"",
			[]gputide.Flag{gputide.FlagSpecUnknown},
		},
		{
			"aws_ec2_2013_2017", "aws,us-west-1,,g2.8xlarge,NVIDIA K520,4,on_demand,mswinSQLWeb",
			"currency=USD instance_type=g2.8xlarge license=sql_web market=on_demand os=windows partition=aws provider=aws region=us-west-1 stat=list tenancy=shared",
			"NVIDIA K520×4", nil,
		},
		{
			"aws_ec2_2013_2017", "aws,us-west-1,,g2.8xlarge,NVIDIA K520,4,reserved_3y_all_upfront,sles",
			"currency=USD instance_type=g2.8xlarge market=commitment os=suse partition=aws payment=all plan=ri_standard provider=aws region=us-west-1 stat=list tenancy=shared term=3y",
			"NVIDIA K520×4", nil,
		},
		{
			"aws_ec2_2013_2017", "aws,us-west-1,,g2.8xlarge,NVIDIA K520,4,reserved_1y,mswinSQLEnterprise",
			"currency=USD instance_type=g2.8xlarge license=sql_ent market=commitment os=windows partition=aws payment=none plan=ri_standard provider=aws region=us-west-1 stat=list tenancy=shared term=1y",
			"NVIDIA K520×4", nil,
		},
		{
			"azure_ondemand_2023_2026", "azure,westeurope,,Standard_NV12ads_A10_v5,NVIDIA A10,,on_demand,Linux",
			"currency=USD instance_type=Standard_NV12ads_A10_v5 market=on_demand os=linux provider=azure region=westeurope stat=list",
			"NVIDIA A10×", nil,
		},
		{
			"gcp_gpu_2022_2026", "gcp,us-central1,,g4-standard-12,NVIDIA RTX PRO 6000,0.25,spot,",
			"currency=USD instance_type=g4-standard-12 market=spot provider=gcp region=us-central1 stat=list",
			"NVIDIA RTX PRO 6000×1/4", nil,
		},
		{
			"gcp_gpu_2022_2026", "gcp,us-central1,,a2-ultragpu-2g,,,reserved_1y,",
			"currency=USD instance_type=a2-ultragpu-2g market=commitment payment=none plan=cud provider=gcp region=us-central1 stat=list term=1y",
			"",
			[]gputide.Flag{gputide.FlagSpecUnknown},
		},
		{
			"primeintellect_2025", "primeintellect/dc_gnu,,,,NVIDIA A100 80GB SXM4,1,,",
			"currency=USD instance_type=NVIDIA A100 80GB SXM4×1 market=unknown provider=primeintellect seller=dc_gnu stat=min",
			"NVIDIA A100 80GB SXM4×1", nil,
		},
		{
			"marketplace_daily_2026", "vast.ai,US,,,RTX_4090,2,spot,",
			"currency=USD instance_type=RTX 4090×2 market=spot provider=vastai region=US stat=bid_floor",
			"RTX 4090×2",
			nil,
		},
		{
			"marketplace_daily_2026", "vast.ai,US,,,A100_SXM_80GB,1,on_demand,",
			"currency=USD instance_type=A100_SXM_80GB×1 market=on_demand provider=vastai region=US stat=min",
			"A100_SXM_80GB×1",
			nil,
		},
		{
			"marketplace_daily_2026", "runpod,secure,,,H100_SXM,1,on_demand,",
			"currency=USD instance_type=NVIDIA H100 80GB HBM3×1 market=on_demand provider=runpod stat=list tier=secure",
			"NVIDIA H100 80GB HBM3×1", nil,
		},
		{
			"marketplace_daily_2026", "runpod,community,,,RTX_PRO_6000,1,on_demand,",
			"currency=USD instance_type=RTX_PRO_6000×1 market=on_demand provider=runpod stat=list tier=community",
			"RTX_PRO_6000×1", nil,
		},
		{
			"csv", "acme,mars-1,b,x1,H100,1,spot,plan9",
			"currency=USD instance_type=x1 market=spot os=plan9 provider=acme region=mars-1 stat=list zone=b",
			"H100×1",
			[]gputide.Flag{gputide.FlagUnknownRegion},
		},
		{
			"marketplace_daily_2026", "lambda,us,,,B200,1,on_demand,",
			"currency=USD instance_type=B200×1 market=on_demand provider=lambda stat=min tax=excluded",
			"B200×1", nil,
		},
		{
			"fsdl_cloud_gpus", "gcp,,,n1-highmem-64,K80 (12 GB),8,spot,",
			"currency=USD instance_type=n1-highmem-64+K80 (12 GB)×8 market=spot provider=gcp stat=list",
			"K80 (12 GB)×8", nil,
		},
		{
			"fsdl_cloud_gpus", "latitude.sh,,,g3.large.x86,H100 (80GB),4,on_demand,",
			"currency=USD instance_type=g3.large.x86+H100 (80 GB)×4 market=on_demand provider=latitude stat=list",
			"H100 (80 GB)×4", nil,
		},
		{
			"fsdl_cloud_gpus", "aws,,,g4dn.metal,T4 (16),8,on_demand,",
			"currency=USD instance_type=g4dn.metal market=on_demand partition=aws provider=aws stat=list",
			"T4 (16 GB)×8", nil,
		},
		{
			"hf_endpoints", "hf-endpoints/gcp,,,nvidia-h100 x8,NVIDIA H100,8,on_demand,",
			"currency=USD instance_type=nvidia-h100 x8 market=on_demand provider=huggingface seller=gcp stat=list",
			"NVIDIA H100×8", nil,
		},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		seen[tt.profile] = true
		rows, tally, err := readPrices(t, tt.profile, "2023-02-01T14:14:10Z,"+tt.row+",4.217,USD\n")
		if err != nil || len(rows) != 1 {
			t.Errorf("%s %s: %d rows, %+v, %v", tt.profile, tt.row, len(rows), tally, err)
			continue
		}
		o := &rows[0].Offer
		if got := strings.ReplaceAll(o.Key.Canonical(), "\n", " "); got != tt.key {
			t.Errorf("%s %s:\ngot  %s\nwant %s", tt.profile, tt.row, got, tt.key)
		}
		device := ""
		if s := rows[0].Spec; s != nil {
			device = s.Device.Name + "×" + s.Device.Count.String()
			if s.InstanceType != o.Key.InstanceType || s.Provider != o.Key.Provider || s.Partition != o.Key.Partition {
				t.Errorf("%s: spec of %q, offer of %q", tt.row, s.InstanceType, o.Key.InstanceType)
			}
		}
		if d := cmp.Diff(tt.flags, o.Flags); device != tt.device || d != "" {
			t.Errorf("%s: device %q, want %q; flags %s", tt.row, device, tt.device, d)
		}
		want := gputide.Published{Amount: "4.217", Unit: gputide.PerHour, Basis: gputide.BasisInstance}
		if d := cmp.Diff(want, o.Published); d != "" || o.Price != 4_217_000_000 || !rows[0].At.Equal(time.Date(2023, 2, 1, 14, 14, 10, 0, time.UTC)) {
			t.Errorf("%s: %s at %s, published %s", tt.row, o.Price, rows[0].At, d)
		}
	}
	for _, name := range Names() {
		if p := load(t, name); p.Form == FormPrices && len(p.Columns) == 0 && !seen[name] {
			t.Errorf("profile %s has no row in the table", name)
		}
	}
}

// TestEveryWordOfAProfileIsReadable reads a row of every word a profile has.
func TestEveryWordOfAProfileIsReadable(t *testing.T) {
	for _, name := range Names() {
		p := load(t, name)
		if p.Form != FormPrices || len(p.Columns) > 0 {
			continue
		}
		for provider, rules := range p.Providers {
			tables := p.tables(&rules)
			regions := []string{""}
			for r := range rules.Regions {
				regions = append(regions[1:], r)
			}
			for market := range tables.Markets {
				for _, region := range regions {
					row := fmt.Sprintf("2023-02-01T14:14:10Z,%s,%s,,,X100,2,%s,,1,USD\n", provider, region, market)
					if rows, tally, err := readPrices(t, name, row); err != nil || len(rows) != 1 {
						t.Errorf("%s: %s: %+v, %v", name, row, tally, err)
					}
				}
			}
		}
	}
}

func TestRejectedRows(t *testing.T) {
	good := "2020-01-05T10:00:00Z,aws,us-east-1,us-east-1a,p3.2xlarge,NVIDIA V100,1,spot,Linux/UNIX,1.5,USD"
	edit := func(col int, v string) string {
		cells := strings.Split(good, ",")
		cells[col] = v
		return strings.Join(cells, ",")
	}
	tests := []struct {
		row  string
		want Reason
	}{
		{good, ""},
		{edit(colType, `"p3,2xlarge"`), ""},
		{edit(colTime, "2020-01-05T10:00:00+01:00"), ReasonTime},
		{edit(colTime, "2020-01-05T10:00:00.5Z"), ReasonTime},
		{edit(colTime, "2020-01-05"), ReasonTime},
		{edit(colTime, ""), ReasonTime},
		{edit(colTime, "2020-02-30T10:00:00Z"), ReasonTime},
		{edit(colTime, "1969-01-05T10:00:00Z"), ReasonTime},
		{edit(colTime, "2026-12-01T00:00:01Z"), ReasonTime},
		{edit(colPrice, ""), ReasonPrice},
		{edit(colPrice, "0"), ReasonPrice},
		{edit(colPrice, "-1"), ReasonPrice},
		{edit(colPrice, "NaN"), ReasonPrice},
		{edit(colPrice, "$1"), ReasonPrice},
		{edit(colPrice, "1.0000000001"), ""}, // rounded, as published elsewhere
		{edit(colPrice, "0.0000000001"), ReasonPrice},
		{edit(colPrice, "9300000000"), ReasonPrice},
		{edit(colProvider, "gcp"), ReasonProvider},
		{edit(colMarket, "on_demand"), ReasonMarket},
		{edit(colMarket, ""), ReasonMarket},
		{edit(colOS, "Plan9"), ReasonOS},
		{edit(colCount, "0"), ReasonCount},
		{edit(colCount, "-1"), ReasonCount},
		{edit(colCount, "0.167"), ReasonCount},
		{edit(colCount, "many"), ReasonCount},
		{edit(colCount, "5000"), ReasonCount},
		{edit(colCurrency, "usd"), ReasonCurrency},
		{edit(colCurrency, ""), ReasonCurrency},
		{edit(colType, ""), ""},
		{edit(colType, " p3.2xlarge "), ""},
		{strings.Replace(edit(colType, ""), "NVIDIA V100", "", 1), ReasonType},
		{edit(colType, "a\x01b"), Reason(normalize.ReasonBadText)},
		{edit(colType, "a\xffb"), Reason(normalize.ReasonBadText)},
		{edit(colType, strings.Repeat("x", 300)), Reason(normalize.ReasonBadText)},
		{good + ",", ReasonColumns},
		{strings.TrimSuffix(good, ",USD"), ReasonColumns},
		{edit(colType, `"p3`), ReasonColumns},
	}
	for _, tt := range tests {
		rows, tally, err := readPrices(t, "aws_spot_2020", good+"\r\n\n"+tt.row+"\n"+good)
		if err != nil {
			t.Errorf("%q: %v", tt.row, err)
			continue
		}
		want := map[Reason]int64(nil)
		kept := 3
		if tt.want != "" {
			want, kept = map[Reason]int64{tt.want: 1}, 2
		}
		if d := cmp.Diff(want, tally.Rejected); d != "" || len(rows) != kept || tally.Rows != 3 {
			t.Errorf("%q: %d of %d rows, rejected %s", tt.row, len(rows), tally.Rows, d)
		}
		if tt.want != "" && (tally.Examples[0].Line != 4 || tally.Examples[0].Reason != tt.want) {
			t.Errorf("%q: example %+v", tt.row, tally.Examples[0])
		}
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	packed := func(s string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := io.WriteString(z, s); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	row := "2020-01-05T10:00:00Z,aws,us-east-1,us-east-1a,p3.2xlarge,NVIDIA V100,1,spot,Linux/UNIX,1.5,USD\n"
	whole := HeaderOf(FormPrices) + "\n" + row
	cut := packed(HeaderOf(FormPrices) + "\n" + strings.Repeat(row, 5000))
	tests := []struct {
		name, file string
		want       error
		text       string
	}{
		{"plain", whole, nil, ""},
		{"packed", packed(whole), nil, ""},
		{"two members", packed(whole) + packed(row), nil, ""},
		{"mark of byte order", "\ufeff" + whole, nil, ""},
		{"line ends of Windows", strings.ReplaceAll(whole, "\n", "\r\n"), nil, ""},
		{"nothing", "", gputide.ErrEmpty, "no line"},
		{"another column", strings.Replace(whole, "zone", "az", 1), gputide.ErrInvalid, `column 4 of the header is "az", want "zone"`},
		{"a column more", strings.Replace(whole, "currency", "currency,note", 1), gputide.ErrInvalid, `unknown column "note"`},
		{"a column less", strings.Replace(whole, ",currency", "", 1), gputide.ErrInvalid, `no column "currency"`},
		{"no CSV", "<!doctype html>\n", gputide.ErrInvalid, "column 1"},
		{"a long line", whole + strings.Repeat("x", MaxLine+1), gputide.ErrTooLarge, "line 3"},
		{"cut", cut[:len(cut)-9], gputide.ErrInvalid, "cut or damaged"},
		{"damaged", cut[:len(cut)-6] + "\x00\x01" + cut[len(cut)-4:], gputide.ErrInvalid, "cut or damaged"},
		{"only the mark of gzip", "\x1f\x8b", gputide.ErrInvalid, "gzip"},
	}
	for _, tt := range tests {
		n := 0
		r, err := New(strings.NewReader(tt.file), load(t, "aws_spot_2020"), Options{Normalizer: normalizer(t), Now: now})
		if err == nil {
			for _, e := range r.Prices(t.Context()) {
				if e != nil {
					err = e
					break
				}
				n++
			}
		}
		switch {
		case tt.want == nil && (err != nil || n == 0 || r.Tally().RejectedRows() != 0):
			t.Errorf("%s: %d rows, %v", tt.name, n, err)
		case tt.want != nil && (!errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text)):
			t.Errorf("%s: %v, want %v with %q", tt.name, err, tt.want, tt.text)
		}
	}
}

func TestFileBeyondItsBound(t *testing.T) {
	l, err := newLines(strings.NewReader(strings.Repeat("abc\n", 100)))
	if err != nil {
		t.Fatal(err)
	}
	l.max = 40
	n := 0
	for {
		var ok bool
		if ok, err = l.next(); !ok {
			break
		}
		n++
	}
	if !errors.Is(err, gputide.ErrTooLarge) || n != 10 {
		t.Errorf("%d lines, %v", n, err)
	}
}

func TestPricesStops(t *testing.T) {
	rows := HeaderOf(FormPrices) + "\n" + strings.Repeat("2020-01-05T10:00:00Z,aws,us-east-1,us-east-1a,p3.2xlarge,NVIDIA V100,1,spot,Linux/UNIX,1.5,USD\n", 3*breath)
	for _, early := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		told := int64(0)
		r, err := New(strings.NewReader(rows), load(t, "aws_spot_2020"), Options{Normalizer: normalizer(t), Now: now, Progress: func(n int64) { told = n }})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err = range r.Prices(ctx) {
			if n++; n == breath+7 {
				if early {
					break
				}
				cancel()
			}
		}
		cancel()
		if early && (err != nil || n != breath+7) || !early && (!errors.Is(err, context.Canceled) || n != 2*breath) || told != breath {
			t.Errorf("early %t: %d rows, progress %d, %v", early, n, told, err)
		}
	}
}
