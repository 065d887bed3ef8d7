package main

import (
	"regexp"
	"strings"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/query"
)

// lang is the language of tables and what is said below them.
type lang string

// The languages.
const (
	langEN lang = "en"
	langZH lang = "zh"
)

// setLang understands --lang, else GPUTIDE_LANG. LANG and LC_ALL are not
// consulted: a script reads the same table on every machine.
func (m *Main) setLang() error {
	text := m.opt.lang
	if text == "" {
		text = m.envText("GPUTIDE_LANG")
	}
	m.lang = langEN
	if text == "" {
		return nil
	}
	var err error
	m.lang, err = oneOf("lang", strings.ToLower(text), []lang{langEN, langZH})
	return err
}

// head is the heading of a column, whose name in English it is.
func (l lang) head(name string) string {
	if zh, ok := headsZH()[name]; ok && l == langZH {
		return zh
	}
	return name
}

// cell is the text of a cell under a heading: words of the schema and units are
// said in the language, what a provider wrote stays.
func (l lang) cell(head, text string) string {
	if l != langZH {
		return text
	}
	switch head {
	case "MARKET", "MARKETS", "STATE", "STOCK", "STATUS", "STAT", "KEY", "CAUSE":
		words := wordsZH()
		if zh, ok := words[text]; ok {
			return zh
		}
		parts := strings.Fields(text)
		for i, p := range parts {
			if zh, ok := words[p]; ok {
				parts[i] = zh
			} else {
				parts[i] = termZH(p)
			}
		}
		return strings.Join(parts, " ")
	case "PUBLISHED", "BEFORE", "AFTER":
		return unitsZH(text)
	}
	return text
}

// termZH words a term: 1mo is 1个月.
func termZH(s string) string {
	return regexp.MustCompile(`^([0-9]+)(mo|y|d|w|h)$`).ReplaceAllStringFunc(s, func(term string) string {
		n := strings.TrimRight(term, "moydwh")
		return n + map[string]string{"mo": "个月", "y": "年", "d": "天", "w": "周", "h": "小时"}[term[len(n):]]
	})
}

// unitsZH words the unit and basis of an amount: $1.2/gpu/h is $1.2/卡/时.
func unitsZH(s string) string {
	return strings.NewReplacer(" upfront", " 预付", "sum of ", "合计项数 ").Replace(
		regexp.MustCompile(`/([0-9]*)(gpu|mo|[yhdws])\b`).ReplaceAllStringFunc(s, func(unit string) string {
			n := strings.TrimRight(unit, "gpumoyhdws")
			return n + map[string]string{"gpu": "卡", "mo": "月", "y": "年", "h": "时", "d": "日", "w": "周", "s": "秒"}[unit[len(n):]]
		}))
}

// placeZH is the Chinese name of the place of an offer, empty in other languages.
func (m *Main) placeZH(k *query.KeyRow) string {
	if m.lang != langZH {
		return ""
	}
	norm, err := loadNormalizer()
	if err != nil {
		return "" // names are a courtesy
	}
	at, _ := norm.Regions.Lookup(string(k.Provider), string(k.Partition), string(k.Region))
	return at.NameZH
}

// placesZH puts the name of the place before the codes of a REGION column.
func placesZH[T any](columns []column[T], regions query.Regions, key func(*T) *query.KeyRow) []column[T] {
	for i := range columns {
		if columns[i].head != "REGION" {
			continue
		}
		code := columns[i].cell
		columns[i].cell = func(row *T) string {
			k := key(row)
			at, ok := regions.Lookup(string(k.Provider), string(k.Partition), string(k.Region))
			if !ok || at.NameZH == "" {
				return code(row)
			}
			return at.NameZH + " " + code(row)
		}
	}
	return columns
}

// say is a sentence below a table, whose form in English it is.
func (l lang) say(s string) string {
	if zh, ok := map[string]string{
		"%d %s shown, more follow; %s\n":                      "已显示 %d %s，其后还有；%s\n",
		"%[1]d of %[2]d %[3]s shown; %[4]s\n":                 "共 %[2]d %[3]s，已显示 %[1]d；%[4]s\n",
		"; --all hides nothing":                               "；--all 全部显示",
		"hidden: %d %s: %s%s\n":                               "隐藏 %d %s：%s%s\n",
		"no room for: %s; widen the terminal or use -o csv\n": "宽度不足，未显示：%s；请加宽终端或用 -o csv\n",
		" (not set)":          "（未设）",
		" (set)":              "（已设）",
		"    key: ":           "    密钥：",
		"; gives ":            "；可得：",
		"  note: %s\n":        "  备注：%s\n",
		"--limit 0 shows all": "--limit 0 显示全部",
	}[s]; ok && l == langZH {
		return zh
	}
	return s
}

// noun is a plural that is counted below a table.
func (l lang) noun(s string) string {
	if zh, ok := map[string]string{
		"offers": "条报价", "changes": "条变动", "accelerators": "种加速卡", "rates": "条汇率", "signals": "条信号", "rows": "行", "types": "种机型",
	}[s]; ok && l == langZH {
		return zh
	}
	return s
}

// wordsZH are the words of the schema that tables show.
func wordsZH() map[string]string {
	return map[string]string{
		string(gputide.OnDemand): "按量", string(gputide.Spot): "竞价", string(gputide.Commitment): "承诺", string(gputide.Subscription): "包年包月",
		string(gputide.CapacityBlock): "容量块", string(gputide.Flex): "弹性", string(gputide.Serverless): "无服务器",
		"none": "无预付", "partial": "部分预付", "all": "全部预付",
		string(gputide.StatePriced): "有价", string(gputide.StateHeld): "保留", string(gputide.StateStale): "过期", string(gputide.StateGap): "缺口",
		string(gputide.StateSoldOut): "售罄", string(gputide.StateWithdrawn): "下架", string(gputide.StateImportedEnd): "导入止",
		string(gputide.StateUnknown): "未知",
		"high":                       "充足", "medium": "一般", "low": "紧张",
		string(gputide.StatPromo): "促销价", string(gputide.StatPayable): "应付价", string(gputide.StatBidFloor): "底价",
		"ok": "成功", "failed": "失败", "done": "完成", "skipped": "跳过", "optional": "可选", "needed": "必需", "set": "已设", "not needed": "不需",
		"crawl": "采集", "import": "导入", "replay": "重放",
	}
}

// headsZH are the headings of all tables.
func headsZH() map[string]string {
	return map[string]string{
		"%": "%", "1": "1", "<= BUDGET": "≤ 预算", "A": "甲", "B": "乙", "C": "丙", "AFTER": "变动后", "AGE": "距今", "AMOUNT": "金额",
		"ARCH": "架构", "AT": "时刻", "BACK": "回到", "BARE METAL": "裸金属", "BEFORE": "变动前", "BEST ZONE": "最佳可用区", "BUYS": "可得",
		"CAUSE": "起因", "CHANGED": "变价", "CHANGES": "变动数", "CHEAPEST AT": "最低价处", "CLASS": "类别", "COVERED": "覆盖",
		"CRAWLED (UTC)": "采集时间 (UTC)", "DAY": "日期", "DETAIL": "说明", "DISK GB": "磁盘 GB", "EVERY": "间隔", "EVIDENCE": "证据",
		"FIRST": "首次", "FLAGS": "标记", "FOR 1 ": "折合 1 ", "FROM": "从", "FX DATE": "汇率日", "GB EACH": "单卡 GB", "GB": "GB",
		"GB/S": "GB/s", "GPU": "加速卡", "ID": "编号", "IN": "以", "INDEX": "指数", "INTERRUPTED": "中断率", "IS": "为", "KEPT": "保留",
		"KEY": "密钥", "KIND": "种类", "LAST GOOD": "最近成功", "LAST": "末次", "LEFT OUT": "略去", "LISTED": "在列", "MARKET": "计费",
		"MARKETS": "计费方式", "MEANS": "含义", "MOVES": "波动", "N": "卡数", "NAME": "名称", "NET GBPS": "网络 Gbps", "NEW": "新增",
		"NONE": "无", "NOTE": "备注", "OBSERVED": "观测于", "OF TIME": "时间占比", "OF": "共", "OFFER": "报价号", "OFFERS": "报价数",
		"OS": "系统", "OUT": "离开", "PER GPU": "每卡时价", "PRICE/H": "时价", "PROVIDER": "云厂商", "PUBLISHED": "公布价", "RAM GIB": "内存 GiB",
		"RATES OF THE DAY": "当日汇率", "RATES": "汇率数", "RDMA": "RDMA", "READ": "读取", "REASON": "原因", "REGION": "地域", "REGIONS": "地域",
		"RESULT": "结果", "RUN": "批次", "S": "秒", "SCOPE": "范围", "SCOPES": "范围", "SEEN": "见于", "SEQ": "序号", "SHARE": "份额",
		"SIGNALS": "信号", "SINCE": "自", "SKIPPED": "跳过", "SOURCE": "来源", "SOURCES": "来源数", "STALE AFTER": "过期时限", "STAT": "口径",
		"STATE": "状态", "STATUS": "结果", "STOCK": "库存", "SURE": "确信", "TIER": "等级", "TIMES": "次数", "TO": "到", "TOOK": "用时",
		"TYPE": "机型", "TYPICAL": "常见", "VALUE": "值", "VCPU": "vCPU", "VENDOR": "厂商", "WITHDRAWN": "下架",
	}
}
