package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/crawler"
)

const configLong = `gputide.yaml says how gputide serve crawls: which providers, how often, and where
it listens. Its keys are strict: an unknown one is an error with its line. It holds
no secrets; those are environment variables or lines of the credentials file.

Without a file every provider of this build is crawled at its own pace. The file
is looked for at gputide/gputide.yaml in $XDG_CONFIG_HOME or ~/.config.`

func (m *Main) configCmd() *cobra.Command {
	return group("config", "Write or check the configuration of the daemon", configLong, m.configInitCmd(), m.configCheckCmd())
}

func (m *Main) configInitCmd() *cobra.Command {
	return &cobra.Command{
		Use: "init [FILE]", Short: "Write an example configuration with every key and its default", Args: argCount(0, 1),
		Long: `Writes an example with every key and its default, all commented out: it is valid
as it is and changes nothing. A file that exists is left alone. - writes to stdout.`,
		Example: `  gputide config init
  gputide config init /etc/gputide/gputide.yaml
  gputide config init -`,
		RunE: func(_ *cobra.Command, args []string) error { return m.configInit(args) },
	}
}

func (m *Main) configInit(args []string) error {
	text, err := exampleConfig(m.infos())
	if err != nil {
		return err
	}
	if len(args) == 1 && args[0] == "-" {
		_, err := fmt.Fprint(m.Stdout, text)
		return err
	}
	path, err := m.configPath(strings.Join(args, ""))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return &gputide.HintError{Err: fmt.Errorf("config: %w", err), Hint: "gputide config check tells whether it is good"}
	}
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	fmt.Fprintf(m.Stdout, "wrote %s\n", clean(path))
	return nil
}

func (m *Main) configCheckCmd() *cobra.Command {
	return &cobra.Command{
		Use: "check [FILE]", Short: "Check a configuration and show when each provider is crawled", Args: argCount(0, 1),
		Example: `  gputide config check
  gputide config check /etc/gputide/gputide.yaml`,
		RunE: func(_ *cobra.Command, args []string) error { return m.configCheck(strings.Join(args, "")) },
	}
}

func (m *Main) configCheck(named string) error {
	c, err := m.loadConfig(named)
	if err != nil {
		return err
	}
	jobs, err := c.check(m.infos())
	if err != nil {
		return err
	}
	if c.path == "" {
		fmt.Fprintln(m.Stdout, "no configuration file: everything has its default")
	} else {
		fmt.Fprintf(m.Stdout, "%s is good\n", clean(c.path))
	}
	if _, err = printTable(m.screen(m.Stdout), timeTable(), timesOf(jobs)); err != nil {
		return err
	}
	u, err := c.upkeep()
	if err != nil {
		return err
	}
	fmt.Fprintln(m.Stdout, u)
	return nil
}

// timeRow says when markets of a provider are crawled; none is all of them.
type timeRow struct {
	job     *job
	table   crawler.Timetable
	markets []gputide.Market
}

func timesOf(jobs []job) []timeRow {
	var rows []timeRow
	for i := range jobs {
		j := &jobs[i]
		rows = append(rows, timeRow{j, j.table, j.rest()})
		for _, p := range j.paces {
			rows = append(rows, timeRow{j, p.table, []gputide.Market{p.market}})
		}
	}
	return rows
}

func timeTable() []column[timeRow] {
	return []column[timeRow]{
		{head: "PROVIDER", cell: func(r *timeRow) string { return r.job.info.Name }},
		{head: "CRAWLED (UTC)", cell: func(r *timeRow) string { return r.table.String() }},
		{head: "STALE AFTER", cell: func(r *timeRow) string { return ago(2 * r.table.Cadence()) }, right: true},
		{head: "REGIONS", cell: func(r *timeRow) string {
			if len(r.job.regions) == 0 {
				return "all"
			}
			return strings.Join(r.job.regions, " ")
		}},
		{head: "MARKETS", cell: func(r *timeRow) string {
			if len(r.markets) == 0 {
				return "all"
			}
			var names []string
			for _, m := range r.markets {
				names = append(names, string(m))
			}
			return strings.Join(names, " ")
		}},
	}
}

const exampleHead = `# gputide.yaml: how "gputide serve" crawls. Every key stands here with its default or,
# for places, an example; take the # away to set one. Times are UTC. A relative path
# is beside this file. Check it with "gputide config check". Secrets do not belong
# here: give them as environment variables (gputide providers names them) or in the
# credentials file.

# The database; without the key gputide/gputide.db in $XDG_DATA_HOME or ~/.local/share.
# Other commands find it, and the daemon, with the same --db or GPUTIDE_DB.
#db: /var/lib/gputide/gputide.db

# Where raw bodies are kept for replay, or off; without the key the database's name
# with .archive.
#archive: /var/lib/gputide/archive

# Least level of log lines: debug, info, warn, error, off.
#log: info

# What is stored: accelerated (offers with an accelerator) or all.
#collect: accelerated

# An HTTP address beside the socket, for reading only. Nothing asks who reads, so an
# address other machines can reach needs listen_public: true.
#listen: 127.0.0.1:8686
#listen_public: false

# When the database is compacted, packed and cut of the room that changes left:
# minute hour day month weekday, @weekly, @monthly, or off. keep_changes (365d) takes
# what is older out of the change feed then, which is of use to who follows it. Prices
# and their history are kept in any case.
#compact: "30 4 * * 0"
#keep_changes: all

# Every provider is crawled unless it is switched off. When: "every" counts from its
# last crawl (30s, 10m, 6h, 1d); "schedule" is minute hour day month weekday, or
# @hourly, @daily, @weekly. A crawl missed while the daemon was down is made up for
# at its start, and each begins a little late at random.
#providers:
`

// exampleConfig is a configuration of defaults, all of it commented out.
func exampleConfig(infos []gputide.Info) (string, error) {
	var b strings.Builder
	b.WriteString(exampleHead)
	for i := range infos {
		info := &infos[i]
		table, err := crawler.Default(info.Cadence)
		if err != nil {
			return "", fmt.Errorf("provider %s: %w", info.Name, err)
		}
		fmt.Fprintf(&b, "#  %s: # %s\n#    enabled: true\n", info.Name, info.Title)
		if strings.HasPrefix(table.String(), "every ") {
			fmt.Fprintf(&b, "#    every: %s\n", spanText(table.Cadence()))
		} else {
			fmt.Fprintf(&b, "#    schedule: %q\n", table.String())
		}
		if i == 0 {
			b.WriteString("#    regions: []   # only these, of a provider read region by region\n")
		}
		for _, p := range info.Paces {
			fmt.Fprintf(&b, "#    markets: {%s: %s} # how often it is crawled by itself, or off\n", p.Market, spanText(p.Cadence))
		}
		deadline := cmp.Or(info.Deadline, crawler.DefaultDeadline)
		fmt.Fprintf(&b, "#    deadline: %s # then what was read is stored\n", spanText(deadline))
	}
	return b.String(), nil
}

// spanText writes a duration as the configuration takes it.
func spanText(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= u.unit && d%u.unit == 0 {
			return strconv.FormatInt(int64(d/u.unit), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(d/time.Second), 10) + "s"
}
