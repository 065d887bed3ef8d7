package gputide

// Benchmark is one published result of MLPerf Inference: what a system did in
// one scenario of one model. A result is named by its round, id, model,
// scenario and units.
//
// Source: https://mlcommons.org/benchmarks/inference-datacenter/
type Benchmark struct {
	Round     string // v4.1
	ID        string // of the submission: v4.1-0043
	Submitter string // as published
	System    string // as published

	Accelerator         string // as published: NVIDIA H100-SXM-80GB
	AcceleratorsPerNode uint32 // 0 is not said
	Nodes               uint32 // 0 is not said

	Model    string // benchmark with its accuracy target: llama2-70b-99
	Scenario string // Offline, Server, …
	Result   string // decimal text, positive
	Units    string // as published: Tokens/s, Samples/s, Queries/s

	Source string // the record it was read from
}

// Device returns the accelerators of one node in the publisher's words, to be
// read through the accelerator catalogue. A result over several nodes has no
// count: no single instance delivers it.
func (b *Benchmark) Device() Device {
	d := Device{Name: b.Accelerator}
	if b.Nodes == 1 {
		d.Count = NewCount(b.AcceleratorsPerNode, 1)
	}
	return d
}

// BenchmarkFilter selects benchmark results. An empty field is any value.
type BenchmarkFilter struct {
	Round    string
	Model    string
	Scenario string
	Units    string
}

// BenchmarkResult says what became of results that were stored.
type BenchmarkResult struct {
	Added     int
	Known     int // stored before with the same contents
	Conflicts int // refused: other contents are stored under the same name
}
