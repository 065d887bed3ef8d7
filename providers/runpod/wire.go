package runpod

import "encoding/json"

// query asks for fields that recorded answers hold, and no others: one unknown
// field makes the server refuse the whole query. Of a price it asks the four
// fields of the type; of the stock, secure pods of 1 to 8 cards.
const query = `{
  gpuTypes {
    id displayName memoryInGb secureCloud communityCloud
    securePrice communityPrice secureSpotPrice communitySpotPrice
    maxGpuCount maxGpuCountSecureCloud maxGpuCountCommunityCloud
    lp1s: lowestPrice(input: {gpuCount: 1, secureCloud: true}) { stockStatus }
    lp2s: lowestPrice(input: {gpuCount: 2, secureCloud: true}) { stockStatus }
    lp4s: lowestPrice(input: {gpuCount: 4, secureCloud: true}) { stockStatus }
    lp8s: lowestPrice(input: {gpuCount: 8, secureCloud: true}) { stockStatus }
  }
  dataCenters { id listed gpuAvailability { gpuTypeId available stockStatus } }
}`

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
	Secure1            *stock          `json:"lp1s"`
	Secure2            *stock          `json:"lp2s"`
	Secure4            *stock          `json:"lp4s"`
	Secure8            *stock          `json:"lp8s"`
}

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
