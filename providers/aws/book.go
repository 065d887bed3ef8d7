package aws

import (
	"strings"
	"time"

	"github.com/gputide/gputide"
)

// book is a separately published set of price lists.
type book struct {
	partitions []string
	suffix     string // of its source IDs
	title      string // behind the titles of its sources
	host       string
	root       string // path of its lists
	planRoot   string // path of its lists of savings plans
	currency   gputide.Currency
	holds      func(region string) bool
}

func books() []book {
	return []book{
		{
			partitions: []string{partitionCommercial, partitionGov}, host: "pricing.us-east-1.amazonaws.com", root: "/offers/v1.0/aws/",
			planRoot: "/savingsPlan/v1.0/aws/", currency: "USD",
			holds: func(r string) bool { return !strings.HasPrefix(r, "cn-") && !strings.HasPrefix(r, "aws-") },
		},
		{
			partitions: []string{partitionChina}, suffix: "-cn", title: ", China", host: "pricing.cn-north-1.amazonaws.com.cn", root: "/offers/v1.0/cn/",
			planRoot: "/savingsPlan/v1.0/cn/", currency: "CNY",
			holds: func(r string) bool { return strings.HasPrefix(r, "cn-") },
		},
	}
}

// id returns the ID of a source of the book.
func (k *book) id(source string) string { return source + k.suffix }

// url returns the address of a path below the root of the book.
func (k *book) url(path string) string { return "https://" + k.host + k.root + path }

// lists returns the sources of prices.
func (k *book) lists() []gputide.Source {
	list := func(id, title, path, form string) gputide.Source {
		return gputide.Source{
			ID: k.id(id), Title: title + " of a region, " + strings.ToUpper(form) + k.title, URL: "https://" + k.host + path + "*index." + form,
			Doc: docBulk, Hosts: []string{k.host}, Auth: gputide.AuthNone, Prices: true, MaxBytes: maxList, Timeout: 30 * time.Minute,
		}
	}
	plans := k.planRoot + "AWSComputeSavingsPlan/"
	return []gputide.Source{
		list(sourcePlanCSV, "Savings plans", plans, "csv"), list(sourcePlanJSON, "Savings plans", plans, "json"),
		list(sourceCSV, "Price list", k.root+"AmazonEC2/", "csv"), list(sourceJSON, "Price list", k.root+"AmazonEC2/", "json"),
	}
}

// indexes returns the sources that lead to the lists.
func (k *book) indexes() []gputide.Source {
	index := func(id, title, path string) gputide.Source {
		return gputide.Source{
			ID: k.id(id), Title: title + k.title, URL: "https://" + k.host + path, Doc: docBulk,
			Hosts: []string{k.host}, Auth: gputide.AuthNone, MaxBytes: 16 << 20,
		}
	}
	return []gputide.Source{
		index(sourceRegions, "Index of the regions of the EC2 list", k.root+"AmazonEC2/current/region_index.json"),
		index(sourceVersions, "Index of the versions of the EC2 list, asked where that of regions fails", k.root+"AmazonEC2/index.json"),
		index(sourceOffers, "Index of price lists", k.root+"index.json"),
		index(sourcePlans, "Index of the regions of the savings plan lists", k.planRoot+"AWSComputeSavingsPlan/current/region_index.json"),
	}
}
