package huawei_test

import (
	"bytes"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/huawei"
	"github.com/gputide/gputide/providers/providertest"
)

const secret = "SecretKey-0123456789abcdefghijklmnopqrst"

func field(source, path string) providertest.Field {
	return providertest.Field{Source: source, Path: path}
}

// replace is an edit of every body of a source.
func replace(name, source, old, text string, want error) providertest.Edit {
	return providertest.Edit{Name: name, Source: source, Want: want, Change: func(body []byte) []byte {
		out := bytes.ReplaceAll(body, []byte(old), []byte(text))
		if bytes.Equal(out, body) {
			return nil
		}
		return out
	}}
}

func TestConformance(t *testing.T) {
	newProvider := func(f *fetch.Fetcher) gputide.Provider {
		return huawei.New(f, huawei.Config{AccessKey: "AK", SecretKey: secret, ProjectID: "p", Region: "cn-north-4"})
	}
	const period = "official_website_rating_result"
	providertest.Run(t, newProvider, providertest.Opt{
		Secrets: []string{secret},
		Lists: []providertest.Field{
			field("calculator-menu", "menuInfos"),
			field("calculator", "product.ec2_vm"),
			field("calculator-intl-menu", "menuInfos"),
			field("calculator-intl", "product.ec2_vm"),
			field("ecs-flavors", "flavors"),
			field("modelarts-flavors", "flavors"),
			field("ratings", "product_rating_results"),
			field("ratings-period", period+".product_rating_results"),
		},
		Required: []providertest.Field{
			field("calculator-menu", "menuInfos"),
			field("calculator", "region"),
			field("calculator", "product"),
			field("calculator", "product.ec2_vm"),
			field("calculator", "product.ec2_vm[].spec"),
			field("calculator", "product.ec2_vm[].imageSpec"),
			field("calculator", "product.ec2_vm[].planList[].billingMode"),
			field("calculator-intl-menu", "menuInfos"),
			field("calculator-intl", "region"),
			field("calculator-intl", "product.ec2_vm"),
			field("calculator-intl", "product.ec2_vm[].spec"),
			field("ecs-flavors", "flavors"),
			field("ecs-flavors", "flavors[].id"),
			field("modelarts-flavors", "flavors"),
			field("modelarts-flavors", "flavors[].id"),
			field("ratings", "official_website_amount"),
			field("ratings", "measure_id"),
			field("ratings", "currency"),
			field("ratings", "product_rating_results[].id"),
			field("ratings", "product_rating_results[].measure_id"),
			field("ratings-period", period),
			field("ratings-period", "currency"),
			field("ratings-period", period+".product_rating_results[].id"),
		},
		Swaps: [][2]providertest.Field{
			{field("calculator", "product.ec2_vm[].cpu"), field("calculator", "product.ec2_vm[].mem")},
			{field("calculator", "product.ec2_vm[].spec"), field("calculator", "product.ec2_vm[].imageSpec")},
			{field("ecs-flavors", "flavors[].vcpus"), field("ecs-flavors", "flavors[].ram")},
			{field("modelarts-flavors", "flavors[].vcpus"), field("modelarts-flavors", "flavors[].memory")},
			{field("ratings", "official_website_amount"), field("ratings", "discount_amount")},
			{
				field("ratings", "product_rating_results[].official_website_amount"),
				field("ratings", "product_rating_results[].discount_amount"),
			},
		},
		Edits: []providertest.Edit{
			replace("another mode", "calculator", `"MONTHLY"`, `"WEEKLY"`, gputide.ErrSchemaDrift),
			replace("another unit of usage", "calculator", `"usageMeasureId": 4`, `"usageMeasureId": 10`, gputide.ErrSchemaDrift),
			replace("another usage", "calculator", `"Duration"`, `"flow"`, gputide.ErrSchemaDrift),
			replace("another part of a reserved instance", "calculator-intl", `"perPrice"`, `"perDay"`, gputide.ErrSchemaDrift),
			replace("another form of cards", "calculator", "2 * NVIDIA T4 / 2 * 16G", "T4 x2", gputide.ErrSchemaDrift),
			replace("another region", "calculator", `"cn-north-4"`, `"cn-north-1"`, gputide.ErrSchemaDrift),
			replace("hours that contradict months", "calculator-intl", "0.0617", "45.04", nil),
			replace("shown after all", "calculator", "Remark:hidden", "Remark:new", nil),
			replace("another currency unit", "ratings", `"measure_id": 1`, `"measure_id": 2`, gputide.ErrSchemaDrift),
			replace("parts that make no total", "ratings", "15.82", "16.82", gputide.ErrSchemaDrift),
			replace("a refusal with status 200", "ratings", `"currency"`, `"error_code": "APIGW.0301", "currency"`, gputide.ErrAuth),
			replace("sold out", "ecs-flavors", "(normal)", "(sellout)", nil),
			replace("other cards", "ecs-flavors", "nvidia-t4:1", "nvidia-t4:2", nil),
			replace("another chip", "modelarts-flavors", "ascend-snt9", "ascend-snt3", nil),
			replace("another number of units", "modelarts-flavors", `"unit_num": 1`, `"unit_num": 2`, nil),
		},
	})
}
