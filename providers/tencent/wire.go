package tencent

import "encoding/json"

// reply is an answer of API 3.0; the gateway puts it into data. Names are read
// in any case: the gateway writes some in lower case, some actions in capitals.
type reply struct {
	Response json.RawMessage `json:"Response"`
	Code     json.Number     `json:"code"`
	Msg      string          `json:"msg"`
	Data     *struct {
		Response json.RawMessage `json:"Response"`
	} `json:"data"`
}

type replyError struct{ Code, Message string }

// regionList is an answer of DescribeRegions and of queryCvmRegion. TotalCount
// counts more than is listed.
type regionList struct {
	RegionSet []struct {
		Region      string
		RegionState string // of the API
		Zones       []struct {
			Zone string
		} // of the gateway; may repeat, or be none
	}
}

// quotaList is an answer of DescribeZoneInstanceConfigInfos.
type quotaList struct {
	InstanceTypeQuotaSet []json.RawMessage
}

// quota is a type in a zone for one way of paying.
type quota struct {
	machine
	InstanceChargeType *string
	TypeName           string
	CPUType            string `json:"CpuType"`
	Status             string
	StatusCategory     string
	Remark             string
	Externals          json.RawMessage
	Price              *price
}

// machine is what several actions say of a type.
type machine struct {
	Zone           *string
	InstanceType   *string
	InstanceFamily string
	CPU            *float64 `json:"Cpu"`
	Memory         *float64 // GB
	GPU            *float64 `json:"Gpu"` // whole cards
	GPUCount       number   `json:"GpuCount"`
	FPGA           *float64 `json:"Fpga"`
}

// number is the text of a JSON number, empty for another value.
type number string

// UnmarshalJSON keeps the text.
func (n *number) UnmarshalJSON(b []byte) error {
	*n = ""
	if len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9') {
		*n = number(b)
	}
	return nil
}

// price is the object of all prices: list amounts and what is paid, which has
// Discount in its name. Hourly amounts hold for the first 96 hours, those up to
// 360, and those beyond; the others are totals of a term. Amounts that do not
// apply are 0.
type price struct {
	UnitPrice                   number
	UnitPriceSecondStep         number
	UnitPriceThirdStep          number
	UnitPriceDiscount           number
	UnitPriceDiscountSecondStep number
	UnitPriceDiscountThirdStep  number

	OriginalPrice          number
	OriginalPriceOneYear   number
	OriginalPriceThreeYear number
	OriginalPriceFiveYear  number
	DiscountPrice          number
	DiscountPriceOneYear   number
	DiscountPriceThreeYear number
	DiscountPriceFiveYear  number

	// The gateway has been seen to write the plural.
	OriginalPriceThreeYears number
	OriginalPriceFiveYears  number
	DiscountPriceThreeYears number
	DiscountPriceFiveYears  number
}

// gpuDesc is a member of Externals: "8 * NVIDIA V100", of rows with GPUs.
type gpuDesc struct{ GPUDesc string }

// reservedList is an answer of DescribeReservedInstancesConfigInfos.
type reservedList struct {
	ReservedInstanceConfigInfos []struct {
		InstanceFamilies []struct {
			InstanceTypes []reservedType
		}
	}
}

type reservedType struct {
	machine
	Remark    string
	Externals json.RawMessage
	Prices    []reservedPrice
}

type reservedPrice struct {
	OfferingType       string // No Upfront, Partial Upfront, All Upfront
	FixedPrice         number // once
	UsagePrice         number // by the hour
	Duration           number // years
	Zone               string
	ProductDescription string // the system; may be empty
}

// machineList is an answer of DescribeInstanceTypeConfigs.
type machineList struct {
	InstanceTypeConfigSet []machine
}

// spotList is an answer of DescribeSpotTypeConfig.
type spotList struct {
	SpotTypeConfigSet []json.RawMessage
}

type spotType struct {
	Zone         string `json:"zone"`
	InstanceType string `json:"instance_type"`
	Price        number `json:"price_cur"`
}

// billingSpecs is an answer of DescribeBillingSpecs of TI-ONE.
type billingSpecs struct {
	Specs []billingSpec
}

type billingSpec struct {
	SpecName  string
	SpecAlias string // "8C32GB GPU(T4)*1"
	GPUType   string `json:"GpuType"`
	Available *bool
}

// billingPrices is an answer of DescribeBillingSpecsPrice. Amounts are hundredths
// of a yuan (https://cloud.tencent.com/document/api/851/75051#SpecPrice).
type billingPrices struct {
	SpecsPrice []struct {
		SpecName      string
		SpecCount     number
		TotalCost     number
		RealTotalCost number
	}
}

// applications is an answer of DescribeApplications of HAI.
type applications struct {
	ApplicationSet []struct {
		ApplicationID     string `json:"ApplicationId"`
		ApplicationState  string
		ApplicationType   string
		MinSystemDiskSize int
	}
}

// haiPrice is an answer of InquirePriceRunInstances of HAI.
type haiPrice struct {
	Price *struct {
		InstancePrice *struct {
			UnitPrice         number
			DiscountUnitPrice number
			ChargeUnit        string
		}
	}
}
