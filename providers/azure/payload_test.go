package azure

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gputide/gputide"
)

// payload returns a recorded answer; the test is skipped without it.
func payload(t *testing.T, name string) string {
	t.Helper()
	shared := os.Getenv("GPUTIDE_SHARED")
	if shared == "" {
		t.Skip("GPUTIDE_SHARED is not set")
	}
	text, err := os.ReadFile(filepath.Join(shared, "payloads", "azure", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRecordedPageCut shows that a page of 1,000 rows of which a recording kept 7
// fails, as it stands: a half list is none.
func TestRecordedPageCut(t *testing.T) {
	got, err := crawl(t, Config{}, index("uksouth"), first("uksouth", payload(t, "retail.reservation_page1.head.json")))
	if !errors.Is(err, gputide.ErrSchemaDrift) || len(got.Offers) != 0 {
		t.Errorf("%v, %d offers", err, len(got.Offers))
	}
}

// TestRecordedRefusals shows that the recorded refusals fail the region's scopes.
func TestRecordedRefusals(t *testing.T) {
	for _, name := range []string{"retail.error_400.invalid_odata.json", "retail.error_400.unsupported_api_version.json"} {
		refusal := exchange{Source: sourcePrices, URL: regionURL("eastus"), Status: 400, Body: payload(t, name)}
		got, err := crawl(t, Config{}, index("eastus"), refusal)
		if !errors.Is(err, gputide.ErrInvalid) || len(got.Errors(sourcePrices)) == 0 {
			t.Errorf("%s: %v", name, err)
		}
		for _, s := range states(got) {
			if !strings.HasSuffix(s, "failed") {
				t.Errorf("%s: %s", name, s)
			}
		}
	}
}
