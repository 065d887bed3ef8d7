package volcengine_test

import (
	"bytes"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler/fetch"
	"github.com/gputide/gputide/providers/providertest"
	"github.com/gputide/gputide/providers/volcengine"
)

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
	const row = "Result.TableList[].Rows[]"
	providertest.Run(t, func(f *fetch.Fetcher) gputide.Provider { return volcengine.New(f) }, providertest.Opt{
		Lists: []providertest.Field{field("template", "Result.List"), field("table", "Result.TableList[].Rows")},
		Required: []providertest.Field{
			field("template", "Result"),
			field("template", "Result.List"),
			field("template", "Result.List[].Template"),
			field("table", "Result"),
			field("table", "Result.TableList"),
			field("table", row+".Product"),
			field("table", row+".ConfigurationCode"),
			field("table", row+".ChargeItemCode"),
			field("table", row+".PriceInfoList"),
		},
		Swaps: [][2]providertest.Field{
			{field("table", row+".ConfigurationCode"), field("table", row+".ChargeItemCode")},
			{field("table", row+".PriceInfoList[].Period"), field("table", row+".PriceInfoList[].Price")},
		},
		Edits: []providertest.Edit{
			replace("a template that is no JSON", "template", `"[{`, `"{`, gputide.ErrSchemaDrift),
			replace("cores in other words", "template", "核", " cores", gputide.ErrSchemaDrift),
			replace("memory in another unit", "template", "GiB", "GB", gputide.ErrSchemaDrift),
			replace("another product", "template", "ECS", "EBS", gputide.ErrSchemaDrift),
			replace("one digit of a memory", "template", "8GiB", "9GiB", nil),
			replace("another period", "table", `"monthly"`, `"weekly"`, nil),
			replace("a refusal with status 200", "table", `"Result"`, `"ResponseMetadata": {"Error": {"Code": "InternalError"}}, "Result"`, gputide.ErrUnavailable),
			replace("an action that is not known", "template", `"Result"`, `"ResponseMetadata": {"Error": {"Code": "InvalidActionOrVersion"}}, "Result"`, gputide.ErrSchemaDrift),
		},
		Deviations: []providertest.Deviation{{
			Name: "normalize", Reason: "no price of a GPU instance is known, so that the fixture has none: TestRows has the cards",
		}},
	})
}
