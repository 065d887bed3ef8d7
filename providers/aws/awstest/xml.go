package awstest

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// InstanceTypes decodes the JSON that the AWS CLI prints for DescribeInstanceTypes
// into the types of the SDK.
func InstanceTypes(cli []byte) ([]types.InstanceTypeInfo, error) {
	var out struct{ InstanceTypes []types.InstanceTypeInfo }
	if err := json.Unmarshal(cli, &out); err != nil {
		return nil, err
	}
	return out.InstanceTypes, nil
}

// InstanceTypesXML writes one page of an answer to DescribeInstanceTypes in the
// wire form of EC2. nextToken is empty on the last page. Fields the mapping does
// not name keep the name of the SDK with a lower-case first letter, which is the
// rule of the EC2 protocol.
func InstanceTypesXML(all []types.InstanceTypeInfo, nextToken string) ([]byte, error) {
	return page("DescribeInstanceTypes", "instanceTypeSet", all, nextToken)
}

// FromCLI writes what the AWS CLI prints in JSON for an action of EC2 as the one
// page of an answer in the wire form of EC2.
func FromCLI(action string, cli []byte) ([]byte, error) {
	var in struct {
		SpotPriceHistory       []types.SpotPrice
		InstanceTypeOfferings  []types.InstanceTypeOffering
		AvailabilityZones      []types.AvailabilityZone
		CapacityBlockOfferings []types.CapacityBlockOffering
	}
	if err := json.Unmarshal(cli, &in); err != nil {
		return nil, err
	}
	switch action {
	case "DescribeSpotPriceHistory":
		return page(action, "spotPriceHistorySet", in.SpotPriceHistory, "")
	case "DescribeInstanceTypeOfferings":
		return page(action, "instanceTypeOfferingSet", in.InstanceTypeOfferings, "")
	case "DescribeAvailabilityZones":
		return page(action, "availabilityZoneInfo", in.AvailabilityZones, "")
	case "DescribeCapacityBlockOfferings":
		return page(action, "capacityBlockOfferingSet", in.CapacityBlockOfferings, "")
	}
	return nil, fmt.Errorf("no wire form of %s", action)
}

// page writes one page of an answer.
func page[T any](action, set string, all []T, nextToken string) ([]byte, error) {
	var b strings.Builder
	b.WriteString(xml.Header + "<" + action + `Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>test</requestId><` + set + ">")
	for i := range all {
		b.WriteString("<item>")
		if err := fields(&b, reflect.ValueOf(all[i])); err != nil {
			return nil, err
		}
		b.WriteString("</item>")
	}
	b.WriteString("</" + set + "><nextToken>")
	if err := xml.EscapeText(&b, []byte(nextToken)); err != nil {
		return nil, err
	}
	b.WriteString("</nextToken></" + action + "Response>\n")
	return []byte(b.String()), nil
}

// elements are the names of the wire that differ from those of the SDK.
//
// Source: the deserialisers of github.com/aws/aws-sdk-go-v2/service/ec2 v1.348.0.
func elements() map[string]string {
	return map[string]string{
		"Workloads": "workloadSet",
		"Messages":  "messageSet",
		"State":     "zoneState", // of a zone
	}
}

func fields(b *strings.Builder, v reflect.Value) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || v.Field(i).IsZero() {
			continue
		}
		name, ok := elements()[f.Name]
		if !ok {
			r := []rune(f.Name)
			name = string(unicode.ToLower(r[0])) + string(r[1:])
		}
		if err := element(b, name, v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

func element(b *strings.Builder, name string, v reflect.Value) error {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	b.WriteString("<" + name + ">")
	if at, ok := v.Interface().(time.Time); ok {
		b.WriteString(at.UTC().Format("2006-01-02T15:04:05.000Z") + "</" + name + ">")
		return nil
	}
	switch v.Kind() {
	case reflect.Struct:
		if err := fields(b, v); err != nil {
			return err
		}
	case reflect.Slice:
		item := "item"
		if v.Type() == reflect.TypeFor[[]types.InferenceDeviceInfo]() {
			item = "member" // the one list of the answer that is written so
		}
		for i := range v.Len() {
			if err := element(b, item, v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		if err := xml.EscapeText(b, []byte(fmt.Sprint(v.Interface()))); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%s: no wire form of %s", name, v.Type())
	}
	b.WriteString("</" + name + ">")
	return nil
}
