package azure

import (
	"math"
	"strconv"
	"strings"

	"github.com/gputide/gputide"
)

// maxGPUs bounds the accelerators of one machine.
const maxGPUs = 64

// specOf returns what Resource SKUs says of a size, its accelerator read from the
// table by its name. A size that has GPUs and no row in the table keeps their
// number, under the name of its family.
func specOf(row *sku, table *families) gputide.Spec {
	c := row.values()
	s := gputide.Spec{Source: sourceSKUs, Partition: partitionCommercial, InstanceType: strings.TrimSpace(*row.Name)}
	// vCPUs is the number of the machine a constrained size is cut from.
	if s.VCPU = c.number("vCPUsAvailable"); s.VCPU == nil {
		s.VCPU = c.number("vCPUs")
	}
	s.MemoryGiB = c.number("MemoryGB") // counts GiB: 218.75 of M8-2ms
	s.CPUArch = map[string]string{"x64": "x86_64", "Arm64": "arm64"}[c["CpuArchitectureType"]]
	if c["RdmaEnabled"] == "True" {
		s.RDMAKind = "infiniband"
	}
	if s.LocalDiskGB = c.gigabytes("NvmeDiskSizeInMiB"); s.LocalDiskGB != nil {
		s.LocalDiskKind = "nvme"
	} else {
		s.LocalDiskGB = c.gigabytes("MaxResourceVolumeMB") // counts MiB
	}
	device, known := table.find(s.InstanceType)
	if n := c.number("GPUs"); n != nil && *n >= 1 && *n <= maxGPUs && *n == math.Trunc(*n) {
		if !known {
			device.Name = row.Family
		}
		if device.Count.Den <= 1 { // of a share of a card it says 1
			device.Count, device.Share = gputide.NewCount(uint32(*n), 1), gputide.ShareWhole
		}
	}
	s.Device = device
	return s
}

// capabilities are the values of a size by their names.
type capabilities map[string]string

func (row *sku) values() capabilities {
	c := make(capabilities, len(*row.Capabilities))
	for _, v := range *row.Capabilities {
		c[v.Name] = v.Value
	}
	return c
}

// number returns a positive number, nil when there is none.
func (c capabilities) number(name string) *float64 {
	v, err := strconv.ParseFloat(c[name], 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// gigabytes returns a number of MiB in decimal GB, to whole MB.
func (c capabilities) gigabytes(name string) *float64 {
	mib := c.number(name)
	if mib == nil {
		return nil
	}
	const bytesPerMiB, bytesPerMB, mbPerGB = 1 << 20, 1e6, 1e3
	return new(math.Round(*mib*bytesPerMiB/bytesPerMB) / mbPerGB)
}
