package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/api"
)

// crawlByDaemon has the daemon crawl when one has the database open, and reports
// false when none has. How a daemon crawls is told by its configuration, so only
// which providers can be asked.
func (m *Main) crawlByDaemon(cmd *cobra.Command, o crawlFlags) (bool, error) {
	form, err := oneOf("output", o.out, listFormats[:])
	if err != nil {
		return false, err
	}
	ctx := cmd.Context()
	daemon, err := m.dial(ctx)
	if daemon == nil || err != nil {
		return false, err
	}
	defer daemon.Close()
	var own []string
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && !slices.Contains([]string{"provider", "output"}, f.Name) {
			own = append(own, "--"+f.Name)
		}
	})
	if len(own) > 0 {
		return true, &gputide.HintError{
			Err:  fmt.Errorf("%w by a daemon, which crawls as its configuration says: %s cannot be asked of it", gputide.ErrStoreLocked, strings.Join(own, ", ")),
			Hint: "leave the flag out, or stop the daemon, or name another database with --db",
		}
	}
	if err := m.checkProviders(o.providers); err != nil {
		return true, err
	}
	fmt.Fprintln(m.Stderr, "the daemon crawls")
	return true, m.askCrawl(cmd, daemon, o, form)
}

// askCrawl asks a daemon to crawl and reports as a crawl of this process would.
func (m *Main) askCrawl(cmd *cobra.Command, daemon *api.Client, o crawlFlags, form format) error {
	ans, err := crawlCommand(nil).Ask(cmd.Context(), daemon, crawlRequest{Provider: o.providers})
	if err != nil {
		return err
	}
	if err := m.reportRows(form, ans.Rows); err != nil {
		return err
	}
	if slices.ContainsFunc(ans.Rows, func(r crawlRow) bool { return r.Status != statusOK && r.Status != statusSkipped }) {
		return errProviders
	}
	return nil
}
