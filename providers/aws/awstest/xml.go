package awstest

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"reflect"
	"strings"
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
	var b strings.Builder
	b.WriteString(xml.Header + `<DescribeInstanceTypesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>test</requestId><instanceTypeSet>`)
	for i := range all {
		b.WriteString("<item>")
		if err := fields(&b, reflect.ValueOf(all[i])); err != nil {
			return nil, err
		}
		b.WriteString("</item>")
	}
	b.WriteString("</instanceTypeSet><nextToken>")
	if err := xml.EscapeText(&b, []byte(nextToken)); err != nil {
		return nil, err
	}
	b.WriteString("</nextToken></DescribeInstanceTypesResponse>\n")
	return []byte(b.String()), nil
}

// elements are the names of the wire that differ from those of the SDK.
//
// Source: the deserialisers of github.com/aws/aws-sdk-go-v2/service/ec2 v1.348.0.
func elements() map[string]string {
	return map[string]string{
		"Workloads": "workloadSet",
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
