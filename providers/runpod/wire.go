package runpod

import (
	"encoding/json"
	"fmt"
	"strings"
)

// mostStock is the most cards of one secure pod whose stock is asked for.
const mostStock = 8

// query returns the one query of a crawl. It asks for fields that answers are
// known to hold and no others: one unknown field makes the server refuse it all.
func query() string {
	var b strings.Builder
	b.WriteString(`{
  gpuTypes {
    id displayName memoryInGb secureCloud communityCloud
    securePrice communityPrice secureSpotPrice communitySpotPrice
    maxGpuCount maxGpuCountSecureCloud maxGpuCountCommunityCloud
`)
	for n := 1; n <= mostStock; n++ {
		fmt.Fprintf(&b, "    %s: lowestPrice(input: {gpuCount: %d, secureCloud: true}) { stockStatus }\n", stockAlias(n), n)
	}
	b.WriteString(`  }
  dataCenters { id listed gpuAvailability { gpuTypeId available stockStatus } }
}`)
	return b.String()
}

// stockAlias returns the name under which a GPU type answers for n cards.
func stockAlias(n int) string { return fmt.Sprintf("lp%ds", n) }

// reply is the answer to query. Rows are decoded one by one, so that a broken
// one touches no other.
type reply struct {
	Data   *replyData   `json:"data"`
	Errors []replyError `json:"errors"`
}

type replyData struct {
	GPUTypes    []json.RawMessage `json:"gpuTypes"`
	DataCenters []json.RawMessage `json:"dataCenters"`
}

type replyError struct {
	Message    string `json:"message"`
	Extensions struct {
		Code string `json:"code"`
	} `json:"extensions"`
}

// gpuType is one card. Prices stay raw: their text is the record.
type gpuType struct {
	ID                 string          `json:"id"`
	DisplayName        string          `json:"displayName"`
	MemoryInGb         *float64        `json:"memoryInGb"` // per card
	SecureCloud        *bool           `json:"secureCloud"`
	CommunityCloud     *bool           `json:"communityCloud"`
	SecurePrice        json.RawMessage `json:"securePrice"` // USD per card and hour, as the three below
	CommunityPrice     json.RawMessage `json:"communityPrice"`
	SecureSpotPrice    json.RawMessage `json:"secureSpotPrice"`
	CommunitySpotPrice json.RawMessage `json:"communitySpotPrice"`
	MaxGpuCount        *int            `json:"maxGpuCount"`
	MaxSecure          *int            `json:"maxGpuCountSecureCloud"`
	MaxCommunity       *int            `json:"maxGpuCountCommunityCloud"`
}

// stock is how many can be had, in words.
type stock struct {
	StockStatus string `json:"stockStatus"` // null is none
	Available   *bool  `json:"available"`   // of a data centre
}

type dataCenter struct {
	ID              string `json:"id"`
	Listed          *bool  `json:"listed"`
	GPUAvailability []struct {
		GPUTypeID string `json:"gpuTypeId"`
		stock
	} `json:"gpuAvailability"`
}
