package main

import "encoding/json"

// volcengineRecordings are the literals of a public client's test and what must
// come out. Figures: payloads/volcengine/SOURCES.md of the shared recordings.
func volcengineRecordings(beside func(name string) []byte) []recording {
	const (
		api   = "https://www.volcengine.com/anonymous-api/trade/price?Version=2020-01-01&Action="
		code  = "CLT7310571628986405164"
		rows  = "SHAPE_ONLY_GetTable_rows.json"
		nodes = "SHAPE_ONLY_ListTemplate_nodes.json"
		what  = "the envelopes of both answers; the other file is its neighbour"
	)
	wrap := func(table, template []byte) fixture {
		text, err := json.Marshal(string(template))
		if err != nil { // a text always has a form
			return fixture{}
		}
		return fixture{
			exchanges: []exchange{
				{Source: "template", URL: api + "ListTemplate&TemplateCode=" + code, File: "template.json"},
				{Source: "table", Method: "POST", URL: api + "GetTable", BodyContains: code, File: "table.json"},
			},
			files: map[string][]byte{
				"template.json": []byte(`{"Result":{"List":[{"Template":` + string(text) + `}]}}`),
				"table.json":    []byte(`{"Result":{"TableList":[{"Rows":` + string(table) + `}]}}`),
			},
		}
	}
	offers := []string{"query", "offers", "--provider", "volcengine", "--all"}
	return []recording{{
		name: rows, provider: "volcengine", at: "2026-09-20T00:00:00Z", crawl: []string{"--collect", "all"}, wrapped: what,
		wrap: func(body []byte) fixture { return wrap(body, beside(nodes)) },
		facts: []claim{{
			"a month, a year and an hour, the region at the end of the charge item; no hourly price without a row", offers,
			has(
				"instance_type region market term published.amount published.unit currency",
				"ecs.g3i.large cn-beijing subscription 1mo 253.38 term CNY", "ecs.g3i.large cn-beijing subscription 1y 1915.55 term CNY",
				"ecs.c3a.large cn-shanghai on_demand <null> 0.42 h CNY",
			),
		}},
		edits: []mutation{
			{"one digit of a price", `1915.55`, `1915.56`},
			{"another number of months", `"Times": 12`, `"Times": 24`},
			{"another period", `"hourly"`, `"daily"`},
			{"another region", `_cn-shanghai`, `_cn-guangzhou`},
			{"another size", `g3i_large`, `g3i_xlarge`},
			{"the price renamed", `"Price"`, `"Amount"`},
			{"a required field renamed", `"ChargeItemCode"`, `"ItemCode"`},
		},
	}, {
		name: nodes, provider: "volcengine", at: "2026-09-20T00:00:00Z", crawl: []string{"--collect", "all"}, wrapped: what,
		wrap: func(body []byte) fixture { return wrap(beside(rows), body) },
		facts: []claim{{
			"vCPUs and memory of a described type, none of the other", offers,
			has("instance_type term vcpu memory_gib", "ecs.g3i.large 1mo 2 8", "ecs.g3i.large 1y 2 8", "ecs.c3a.large <null> <null> <null>"),
		}},
		edits: []mutation{
			{"one digit of the vCPUs", `2核`, `3核`},
			{"another unit of memory", `8GiB`, `8GB`},
			{"another product", `"ECS"`, `"EBS"`},
			{"the abilities renamed", `"Ability"`, `"Name"`},
			{"another size", `g3i.large`, `g3i.xlarge`},
		},
	}}
}
