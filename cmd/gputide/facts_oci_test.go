package main

import "fmt"

// Addresses of OCI.
const (
	ociShapesURL   = "https://www.oracle.com/a/ocom/docs/cloudestimator2/data/shapes.json"
	ociProductsURL = "https://www.oracle.com/a/ocom/docs/cloudestimator2/data/products.json"
	ociListURL     = "https://apexapps.oracle.com/pls/apex/cetools/api/v1/products/?currencyCode=USD"
)

// ociRecordings are the recorded answers of OCI and what must come out. Figures:
// payloads/oci/SOURCES.md of the shared recordings. dir is the folder of those:
// the estimator's two files answer together.
func ociRecordings(read func(name string) []byte) []recording {
	const (
		shapes   = "cloudestimator2_shapes.excerpt.2026-09-18.json"
		products = "cloudestimator2_products.excerpt.2026-09-18.json"
	)
	return []recording{
		ociEstimator(shapes, func(body []byte) fixture { return ociFiles(body, read(products)) }, ociShapeEdits()),
		ociEstimator(products, func(body []byte) fixture { return ociFiles(read(shapes), body) }, ociProductEdits()),
		ociPriceList(),
		ociOldPriceList(),
		ociCompute(),
	}
}

func ociFiles(shapes, products []byte) fixture {
	return fixture{
		exchanges: []exchange{
			{Source: "estimator-shapes", URL: ociShapesURL, File: "shapes.json"},
			{Source: "estimator-products", URL: ociProductsURL, File: "products.json"},
		},
		files: map[string][]byte{"shapes.json": shapes, "products.json": products},
	}
}

func ociOffers(more ...string) []string {
	return append([]string{"query", "offers", "--provider", "oci", "--all"}, more...)
}

// ociEstimator is either file of the cost estimator, with the other beside it.
func ociEstimator(name string, wrap func([]byte) fixture, edits []mutation) recording {
	return recording{
		name: name, provider: "oci", at: "2026-09-18T00:00:00Z", wrap: wrap, wrapped: "the other file of the estimator",
		facts: []claim{
			{"GPU shapes on demand: price per card times cards", ociOffers("--market", "on_demand"), has(
				"instance_type price published.amount published.basis accelerator.slug accelerator.count accelerator.vendor",
				"BM.GPU.H100.8 80 10 accelerator h100-sxm-80gb 8 NVIDIA",
				"BM.GPU.B300.8 120 15 accelerator b300-sxm-288gb 8 NVIDIA",
				"BM.GPU.GB200.4 64 16 accelerator gb200-186gb 4 NVIDIA",
				"BM.GPU.GB300.4 72 18 accelerator gb300-288gb 4 NVIDIA",
				"BM.GPU.MI300X.8 48 6 accelerator mi300x-192gb 8 AMD",
				"BM.GPU.MI355X.8 68.8 8.6 accelerator mi355x-288gb 8 AMD",
				"BM.GPU.A100-v2.8 32 4 accelerator a100-sxm-80gb 8 NVIDIA",
				"BM.GPU4.8 24.4 3.05 accelerator a100-sxm-40gb 8 NVIDIA",
				"BM.GPU.RTXPRO.8 36 4.5 accelerator rtx-pro-6000-server-96gb 8 NVIDIA",
				"VM.GPU3.1 2.95 2.95 accelerator v100-sxm2-16gb 1 NVIDIA",
			)},
			{"preemptible at half, of the one shape that allows it", ociOffers("--market", "spot"), has("instance_type price flags", "VM.GPU3.1 1.475 []")},
			{
				"the spot series finds its partner",
				[]string{"query", "spot", "--provider", "oci"},
				has("instance_type on_demand now_pct", "VM.GPU3.1 2.95 50"),
			},
			{"machines: vCPU by architecture, sizes left open stay so", []string{"query", "types", "--provider", "oci"}, has(
				"instance_type vcpu memory_gib cpu_arch bare_metal",
				"BM.GPU.H100.8 224 2048 x86_64 true", "BM.GPU.B300.8 <null> <null> x86_64 true", "BM.GPU.GB200.4 128 960 arm64 true",
				"BM.GPU.GB300.4 <null> <null> arm64 true", "BM.GPU.MI300X.8 224 2048 x86_64 true", "BM.GPU.MI355X.8 256 3072 x86_64 true",
				"BM.GPU.A100-v2.8 256 2048 x86_64 true", "BM.GPU4.8 128 2048 x86_64 true", "BM.GPU.RTXPRO.8 <null> <null> x86_64 true",
				"VM.GPU3.1 12 90 x86_64 false",
			)},
			{
				"11 offers; a sum of parts that have no price is refused and counted",
				[]string{"runs", "show", "1"},
				became("estimator-products", "11", "{}", `{"part_not_listed":2}`),
			},
		},
		edits: edits,
	}
}

func ociShapeEdits() []mutation {
	return []mutation{
		{"one digit of a count", `"gpuQty": 4`, `"gpuQty": 8`},
		{"one digit of a memory size", `"gpuMemoryQty": 320`, `"gpuMemoryQty": 640`},
		{"one digit of a machine", `"bundleMemoryQty": 960`, `"bundleMemoryQty": 961`},
		{"OCPUs changed", `"qty": 112`, `"qty": 113`},
		{"a required field renamed", `"gpuQty"`, `"gpus"`},
		{"the flag renamed", `"allowPreemptible"`, `"preemptible"`},
		{"a flag flipped", `"allowPreemptible": true`, `"allowPreemptible": false`},
		{"two parts swapped", `"partNumber": "B98415"`, `"partNumber": "B109485"`},
		{"a shape hidden", `"hidden": false`, `"hidden": true`},
	}
}

func ociProductEdits() []mutation {
	return []mutation{
		{"one digit of a price", `"value": 8.6`, `"value": 8.7`},
		{"a price lost", `"value": 16`, `"value": 0`},
		{"a required field renamed", `"partNumber"`, `"part"`},
		{"another unit", `"HOUR"`, `"MONTH"`},
		{"another currency", `"USD"`, `"EUR"`},
		{"another price model", `"PAY_AS_YOU_GO"`, `"MONTHLY_COMMIT"`},
	}
}

func ociListFixture(body []byte) fixture {
	return fixture{
		exchanges: []exchange{{Source: "price-list", URL: ociListURL, File: "list.json"}},
		files:     map[string][]byte{"list.json": body},
	}
}

func ociPriceList() recording {
	return recording{
		name: "cetools_products.usd.gpu.2026-10-01.json", provider: "oci", at: "2026-10-01T15:00:00Z", wrap: ociListFixture,
		facts: []claim{
			{"the anchors of the price list, per shape", ociOffers("--market", "on_demand"), has(
				"instance_type price accelerator.slug",
				"BM.GPU.H100.8 80 h100-sxm-80gb", "BM.GPU.H200.8 80 h200-sxm-141gb", "BM.GPU.B200.8 112 b200-sxm-180gb",
				"BM.GPU.B300.8 120 b300-sxm-288gb", "BM.GPU.GB200.4 64 gb200-186gb", "BM.GPU.GB300.4 72 gb300-288gb",
				"BM.GPU.MI300X.8 48 mi300x-192gb", "BM.GPU.MI355X.8 68.8 mi355x-288gb", "BM.GPU.A100-v2.8 32 a100-sxm-80gb",
				"BM.GPU4.8 24.4 a100-sxm-40gb", "BM.GPU.L40S.4 14 l40s-48gb", "BM.GPU.A10.4 8 a10-24gb",
				"BM.GPU.RTXPRO.8 36 rtx-pro-6000-server-96gb", "VM.GPU.A10.1 2 a10-24gb", "VM.GPU.A10.2 4 a10-24gb",
				"VM.GPU3.1 2.95 v100-sxm2-16gb", "VM.GPU3.2 5.9 v100-sxm2-16gb", "VM.GPU3.4 11.8 v100-sxm2-16gb",
				"BM.GPU3.8 23.6 v100-sxm2-16gb", "VM.GPU2.1 1.275 p100-pcie-16gb", "BM.GPU2.2 2.55 p100-pcie-16gb",
			)},
			{"preemptible: the four old VM shapes", ociOffers("--market", "spot"), has(
				"instance_type price", "VM.GPU2.1 0.6375", "VM.GPU3.1 1.475", "VM.GPU3.2 2.95", "VM.GPU3.4 5.9",
			)},
			{"26 rows: 16 parts with a shape, 2 without, 3 of Cloud@Customer, 5 with another metric", []string{"runs", "show", "1"}, leftOut(
				"price-list", "25", `{"cloud_at_customer":3,"no_public_shape":2,"other_product":5}`,
			)},
		},
		edits: []mutation{
			{"one digit of a price", `"value": 1.275`, `"value": 1.276`},
			{"a required field renamed", `"currencyCodeLocalizations"`, `"prices"`},
			{"another metric", `"GPU Per Hour"`, `"OCPU Per Hour"`},
			{"two columns swapped", `"serviceCategory": "Compute Cloud@Customer"`, `"serviceCategory": "Compute - GPU"`},
			{"a part without a shape renumbered", `"B109480"`, `"B109481"`},
			{"another currency", `"USD"`, `"EUR"`},
		},
	}
}

func ociOldPriceList() recording {
	return recording{
		name: "cetools_products.usd.opencost.json", provider: "oci", at: "2024-01-19T00:00:00Z", wrap: ociListFixture,
		facts: []claim{
			{"seven GPU parts at the prices of 2026", ociOffers("--market", "on_demand"), has(
				"instance_type published.amount",
				"BM.GPU2.2 1.275", "VM.GPU2.1 1.275", "BM.GPU3.8 2.95", "VM.GPU3.1 2.95", "VM.GPU3.2 2.95", "VM.GPU3.4 2.95",
				"BM.GPU4.8 3.05", "BM.GPU.A100-v2.8 4", "BM.GPU.A10.4 2", "VM.GPU.A10.1 2", "VM.GPU.A10.2 2", "BM.GPU.H100.8 10",
			)},
			{"450 rows, 443 of them no GPU", []string{"runs", "show", "1"}, leftOut("price-list", "16", `{"other_product":443}`)},
		},
		edits: []mutation{
			{"one digit of a price", `"value":3.05`, `"value":3.06`},
			{"a required field renamed", `"partNumber"`, `"part"`},
			{"a GPU part renumbered", `"B95907"`, `"B95908"`},
		},
	}
}

func ociCompute() recording {
	return recording{
		name: "compute_shapes.excerpt.json", provider: "oci", at: "2026-10-01T00:00:00Z", crawl: []string{"--collect", "all"},
		wrap: func(body []byte) fixture {
			return fixture{
				exchanges: []exchange{{Source: "compute-shapes", URL: "https://iaas.us-ashburn-1.oraclecloud.com/20160918/shapes?compartmentId=*", File: "shapes.json"}},
				files:     map[string][]byte{"shapes.json": body},
			}
		},
		facts: []claim{
			{"a GPU shape with its disks and RDMA", []string{"query", "types", "--provider", "oci", "--type", "BM.GPU4.8"}, has(
				"accelerator.raw accelerator.slug accelerator.count vcpu memory_gib local_disk_gb network_gbps rdma.kind rdma.gbps bare_metal",
				"NVIDIA® A100 a100-sxm-40gb 8 128 2048 27200 50 roce 1600 true",
			)},
			{"a shape without cards", []string{"query", "types", "--provider", "oci", "--type", "BM.Standard1.36"}, has(
				"accelerator vcpu memory_gib local_disk_gb rdma", "<null> 72 256 <null> <null>",
			)},
		},
		edits: []mutation{
			{"one digit of a count", `"gpus": 8`, `"gpus": 4`},
			{"one digit of a disk", `27200`, `27201`},
			{"a required field renamed", `"shape"`, `"name"`},
			{"ports swapped with their speed", `"rdmaPorts": 16`, `"rdmaPorts": 8`},
		},
	}
}

// leftOut is became for a source of which no row was skipped.
func leftOut(source, kept, omitted string) func([]answerRow) error {
	return became(source, kept, omitted, "{}")
}

// became checks what became of the rows of a source in the only run: how many
// offers were kept, and how many rows were left out or skipped for which reason.
func became(source, kept, omitted, skipped string) func([]answerRow) error {
	return func(rows []answerRow) error {
		for _, run := range rows {
			sources, _ := run["sources"].([]any)
			for _, s := range sources {
				row, _ := s.(map[string]any)
				if got := answerRow(row); got.text("source") == source {
					return has("kept omitted skipped", kept+" "+omitted+" "+skipped)([]answerRow{got})
				}
			}
		}
		return fmt.Errorf("no source %s in %d runs", source, len(rows))
	}
}
