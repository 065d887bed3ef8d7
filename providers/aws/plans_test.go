package aws_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/providers/aws"
)

const (
	planPath  = "/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/"
	planEast  = planPath + "20260910195514/us-east-1/index."
	planScope = "partition=aws region=us-east-1 market=commitment part=savings_plan"
	listScope = "partition=aws region=us-east-1 market=commitment"
)

// plansOf answers with the indexes of us-east-1, savings plans included, and its
// price list.
func plansOf(t *testing.T, more ...exchange) []exchange {
	t.Helper()
	out := indexes("us-east-1")
	out[0].body = fixtureBody(t, "offer-index.json")
	return append(append(out,
		get("bulk-csv", regionList("us-east-1", "csv"), fixtureBody(t, "us-east-1.csv")),
		get("savings-plan-index", bulk+planPath+"current/region_index.json", fixtureBody(t, "savings-plan-index.json"))), more...)
}

func gone(e exchange) exchange {
	e.Status = 404
	return e
}

// TestPlansAndReservedInstancesAreApart shows that neither list speaks for the
// other.
func TestPlansAndReservedInstancesAreApart(t *testing.T) {
	csv := get("savings-plan-csv", bulk+planEast+"csv", fixtureBody(t, "savings-plan-us-east-1.csv"))
	json := get("savings-plan-json", bulk+planEast+"json", fixtureBody(t, "savings-plan-us-east-1.json"))
	feed := get("page-feed", pageEast, fixtureBody(t, "page-us-east-1.json"))
	noList := plansOf(t, csv, feed)
	noList[2] = gone(noList[2])
	noIndex := plansOf(t, csv)
	noIndex[3] = gone(noIndex[3])
	cut := csv
	cut.body = csv.body[:len(csv.body)-40]
	older := csv
	older.body = strings.Replace(csv.body, "Version,2026", "Version,2025", 1)
	for _, c := range []struct {
		name    string
		answers []exchange
		plans   string
		list    string
		want    error
	}{
		{"both", plansOf(t, csv), "done savings-plan-csv", "done bulk-csv", nil},
		{"JSON for CSV", plansOf(t, gone(csv), json), "done savings-plan-json", "done bulk-csv", nil},
		{"no savings plans", plansOf(t, gone(csv), gone(json)), "failed", "done bulk-csv", gputide.ErrNotFound},
		{"cut", plansOf(t, cut), "failed", "done bulk-csv", gputide.ErrSchemaDrift},
		{"other version", plansOf(t, older), "failed", "done bulk-csv", gputide.ErrSchemaDrift},
		{"no price list to join", noList, "failed", "failed", gputide.ErrUnavailable},
		{"no index", noIndex, "failed", "done bulk-csv", gputide.ErrNotFound},
	} {
		got, err := crawl(t, aws.Config{}, c.answers...)
		if c.want != nil && !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: error %v", c.name, err)
		}
		s := status(got)
		if s[planScope] != c.plans || s[listScope] != c.list || len(s) != 3 {
			t.Errorf("%s: %v", c.name, s)
		}
		plans := 0
		for _, o := range got.Live() {
			if strings.HasPrefix(o.Key.Plan, "sp_") {
				plans++
			}
		}
		if (plans == 4) != strings.HasPrefix(c.plans, "done") {
			t.Errorf("%s: %d savings plan rates", c.name, plans)
		}
	}
}

// TestPlanForms shows that the two forms of a savings plan list say the same.
func TestPlanForms(t *testing.T) {
	csv := get("savings-plan-csv", bulk+planEast+"csv", fixtureBody(t, "savings-plan-us-east-1.csv"))
	json := get("savings-plan-json", bulk+planEast+"json", fixtureBody(t, "savings-plan-us-east-1.json"))
	fromCSV, err := crawl(t, aws.Config{}, plansOf(t, csv)...)
	if err != nil {
		t.Fatal(err)
	}
	fromJSON, err := crawl(t, aws.Config{}, plansOf(t, gone(csv), json)...)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "offers", prices(fromCSV), prices(fromJSON))
}

func TestPlanIndexFaults(t *testing.T) {
	index := fixtureBody(t, "savings-plan-index.json")
	csv := get("savings-plan-csv", bulk+planEast+"csv", fixtureBody(t, "savings-plan-us-east-1.csv"))
	for name, text := range map[string]string{
		"a map":         `{"regions":{"us-east-1":{"regionCode":"us-east-1"}}}`,
		"none":          `{"regions":[]}`,
		"renamed":       strings.Replace(index, `"regions"`, `"lists"`, 1),
		"no code":       strings.Replace(index, `"regionCode"`, `"region"`, 1),
		"other region":  strings.Replace(index, `"regionCode": "us-east-1"`, `"regionCode": "us-east-2"`, 1),
		"other host":    strings.Replace(index, `"/savingsPlan`, `"//evil.example/savingsPlan`, 1),
		"twice a place": strings.Replace(index, `"regions": [`, `"regions": [{"regionCode":"us-east-1","versionUrl":"`+planEast+`json"},`, 1),
	} {
		answers := plansOf(t, csv)
		answers[3].body = text
		got, err := crawl(t, aws.Config{}, answers...)
		if !errors.Is(err, gputide.ErrSchemaDrift) && !errors.Is(err, gputide.ErrEmpty) {
			t.Errorf("%s: %v", name, err)
		}
		if s := status(got); s[planScope] != "failed" || s[listScope] != "done bulk-csv" {
			t.Errorf("%s: %v", name, s)
		}
	}
}

// TestOtherSavingsPlansAreCounted shows that plans for SageMaker and databases
// are left out and counted, and so is a savings plan list without a price list.
func TestOtherSavingsPlansAreCounted(t *testing.T) {
	answers := plansOf(t, get("savings-plan-csv", bulk+planEast+"csv", fixtureBody(t, "savings-plan-us-east-1.csv")))
	answers[0].body = strings.Replace(answers[0].body, `"offers": {`, `"offers": {
  "AmazonSageMaker": {"offerCode":"AmazonSageMaker","currentSavingsPlanIndexUrl":"/savingsPlan/v1.0/aws/AWSMachineLearningSavingsPlans/current/region_index.json"},
  "AmazonRDS": {"offerCode":"AmazonRDS","currentSavingsPlanIndexUrl":"/savingsPlan/v1.0/aws/AWSDatabaseSavingsPlans/current/region_index.json"},`, 1)
	answers[3].body = strings.Replace(answers[3].body, `"regions": [`, `"regions": [{"regionCode":"eu-west-1","versionUrl":"`+planPath+`20260910195514/eu-west-1/index.json"},`, 1)
	got, err := crawl(t, aws.Config{}, answers...)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, o := range got.Omits {
		if o.Source == "offer-index" || o.Source == "savings-plan-index" {
			counts[o.Source+" "+o.Reason] += o.Rows
		}
	}
	same(t, "omitted", map[string]int64{"offer-index other_savings_plan": 2, "savings-plan-index other_partition_or_not_asked": 1}, counts)
}

// TestNoPlansBesideAllRegions shows that savings plans are not joined with a
// list of all regions, and that the report says so.
func TestNoPlansBesideAllRegions(t *testing.T) {
	answers := []exchange{
		get("offer-index", bulk+"/offers/v1.0/aws/index.json", fixtureBody(t, "offer-index.json")),
		get("version-index", bulk+"/offers/v1.0/aws/AmazonEC2/index.json", fixtureBody(t, "version-index.json")),
		get("bulk-csv", bulk+"/offers/v1.0/aws/AmazonEC2/20260910195514/index.csv", fixtureBody(t, "us-east-1.csv")),
	}
	got, err := crawl(t, aws.Config{}, answers...)
	if !errors.Is(err, gputide.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	if s := status(got); s["partition=aws market=commitment part=savings_plan"] != "failed" || s[listScope] != "done bulk-csv" {
		t.Errorf("scopes %v", s)
	}
}
