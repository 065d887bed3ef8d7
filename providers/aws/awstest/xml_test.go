package awstest_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gputide/gputide/providers/aws/awstest"
)

type answer string

func (a answer) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// TestRoundTrip shows that the SDK reads back every field that was written.
func TestRoundTrip(t *testing.T) {
	dir := os.Getenv("GPUTIDE_SHARED")
	if dir == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	cli, err := os.ReadFile(filepath.Join(dir, "payloads", "aws", "describe_instance_types.accelerated.json"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := awstest.InstanceTypes(cli)
	if err != nil || len(want) != 75 {
		t.Fatalf("%d types, %v", len(want), err)
	}
	text, err := awstest.InstanceTypesXML(want, "")
	if err != nil {
		t.Fatal(err)
	}
	client := ec2.New(ec2.Options{Region: "us-east-1", HTTPClient: answer(text), Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
	got, err := client.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{})
	if err != nil {
		t.Fatal(err)
	}
	exported := cmp.FilterPath(func(p cmp.Path) bool {
		f, ok := p.Last().(cmp.StructField)
		return ok && unicode.IsLower([]rune(f.Name())[0])
	}, cmp.Ignore())
	if d := cmp.Diff(want, got.InstanceTypes, exported, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}
