package pricelist

// attr is a column of the CSV form or an attribute of the JSON form.
type attr uint8

const (
	sku attr = iota
	termCode
	rateCode
	termType
	begin
	end
	unit
	amount
	currency
	lease
	option
	class
	family
	location
	instanceType
	instanceFamily
	vcpu
	memory
	tenancy
	system
	license
	usage
	operation
	capacity
	gpu
	gpuMemory
	market
	software
	region
	network
	processor
	numAttrs
)

// need says from when on a list must have an attribute.
type need uint8

const (
	optional need = iota
	always
	modern // lists from modernVersion on
)

// modernVersion is the oldest list seen with all attributes marked modern:
// us-east-2, 2023-03-22.
const modernVersion = "20230322145651"

// attrNames has the name of each attribute in both forms.
//
// Source: header lines of the lists 20170302183221 and 20250912225308, and
// attributes of the lists 20230322145651 and 20260910195514.
var attrNames = [numAttrs]struct {
	csv, json string
	need      need
}{
	sku:            {"SKU", "sku", always},
	termCode:       {"OfferTermCode", "offerTermCode", always},
	rateCode:       {"RateCode", "rateCode", always},
	termType:       {"TermType", "", always},
	begin:          {"StartingRange", "beginRange", always},
	end:            {"EndingRange", "endRange", always},
	unit:           {"Unit", "unit", always},
	amount:         {"PricePerUnit", "pricePerUnit", always},
	currency:       {"Currency", "", always},
	lease:          {"LeaseContractLength", "LeaseContractLength", always},
	option:         {"PurchaseOption", "PurchaseOption", always},
	class:          {"OfferingClass", "OfferingClass", always},
	family:         {"Product Family", "productFamily", always},
	location:       {"Location", "location", always},
	instanceType:   {"Instance Type", "instanceType", always},
	instanceFamily: {"Instance Family", "instanceFamily", always},
	vcpu:           {"vCPU", "vcpu", always},
	memory:         {"Memory", "memory", always},
	tenancy:        {"Tenancy", "tenancy", always},
	system:         {"Operating System", "operatingSystem", always},
	license:        {"License Model", "licenseModel", always},
	usage:          {"usageType", "usagetype", always},
	operation:      {"operation", "operation", always},
	capacity:       {"CapacityStatus", "capacitystatus", modern},
	gpu:            {"GPU", "gpu", always},
	gpuMemory:      {"GPU Memory", "gpuMemory", modern},
	market:         {"MarketOption", "marketoption", modern},
	software:       {"Pre Installed S/W", "preInstalledSw", always},
	region:         {"Region Code", "regionCode", modern},
	network:        {"Network Performance", "networkPerformance", optional},
	processor:      {"Physical Processor", "physicalProcessor", optional},
}

// values holds the attributes of one row or product. A nil value means that
// the list does not have the attribute.
type values [numAttrs][]byte

// productFrom is the first attribute that belongs to the product and not to
// the term.
const productFrom = family
