package runpod_test

import (
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
	"github.com/gputide/gputide/providers/runpod"
)

func field(path string) providertest.Field {
	return providertest.Field{Source: "gpu-types", Path: path}
}

func TestConformance(t *testing.T) {
	providertest.Run(t, func(f *fetch.Fetcher) gputide.Provider { return runpod.New(f) }, providertest.Opt{
		Lists: []providertest.Field{field("data.gpuTypes")},
		Required: []providertest.Field{
			field("data.gpuTypes"),
			field("data.gpuTypes[].id"),
			field("data.gpuTypes[].displayName"),
			field("data.gpuTypes[].memoryInGb"),
			field("data.gpuTypes[].secureCloud"),
			field("data.gpuTypes[].communityCloud"),
			field("data.gpuTypes[].securePrice"),
			field("data.gpuTypes[].communityPrice"),
			field("data.gpuTypes[].secureSpotPrice"),
			field("data.gpuTypes[].communitySpotPrice"),
			field("data.gpuTypes[].maxGpuCount"),
			field("data.dataCenters"),
			field("data.dataCenters[].id"),
			field("data.dataCenters[].listed"),
		},
		Swaps: [][2]providertest.Field{
			{field("data.gpuTypes[].securePrice"), field("data.gpuTypes[].communityPrice")},
			{field("data.gpuTypes[].secureSpotPrice"), field("data.gpuTypes[].communitySpotPrice")},
			{field("data.gpuTypes[].secureCloud"), field("data.gpuTypes[].communityCloud")},
			{field("data.gpuTypes[].memoryInGb"), field("data.gpuTypes[].maxGpuCount")},
			{field("data.gpuTypes[].id"), field("data.gpuTypes[].displayName")},
		},
	})
}
