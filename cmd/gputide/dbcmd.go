package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
)

// statsOut is what a database holds: the JSON of `db stats`.
type statsOut struct {
	Path          string           `json:"path"`
	FileBytes     int64            `json:"file_bytes"`
	UsedBytes     int64            `json:"used_bytes"`
	SchemaVersion int              `json:"schema_version"`
	ToolVersion   *string          `json:"tool_version"`
	Catalogue     *string          `json:"catalogue_version"`
	CreatedAt     *string          `json:"created_at"`
	Series        int64            `json:"series"`
	Changes       int64            `json:"changes"`
	Runs          int64            `json:"runs"`
	Observations  int64            `json:"observations"`
	Specs         int64            `json:"specs"`
	Signals       int64            `json:"signals"`
	Rates         int64            `json:"rates"`
	Quarantined   int64            `json:"quarantined"`
	Buckets       map[string]int64 `json:"buckets"`
}

// checkOut is the JSON of `db check`.
type checkOut struct {
	Path string `json:"path"`
	OK   bool   `json:"ok"`
}

func (m *Main) dbCmd() *cobra.Command {
	return group("db", "Look after the database", "The database is one file; its place is set by --db or $GPUTIDE_DB.", m.dbStatsCmd(), m.dbCheckCmd(),
		m.dbCompactCmd(), m.dbBackupCmd(), m.dbRestoreCmd())
}

func (m *Main) dbStatsCmd() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show what the database holds and how large it is",
		Example: `  gputide db stats
  gputide db stats -o json --db /var/lib/gputide/gputide.db`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := oneOf("output", out, objectFormats[:])
			if err != nil {
				return err
			}
			return m.dbStats(cmd.Context(), f)
		},
	}
	formatFlag(cmd, &out, objectFormats[:])
	return cmd
}

func (m *Main) dbCheckCmd() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check that the database is sound: exit code 0 when it is",
		Long: `Reads the whole file: its pages, and that indexes, series and runs agree. It
changes nothing.`,
		Example: `  gputide db check`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := oneOf("output", out, objectFormats[:])
			if err != nil {
				return err
			}
			return m.dbCheck(cmd.Context(), f)
		},
	}
	formatFlag(cmd, &out, objectFormats[:])
	return cmd
}

func (m *Main) dbStats(ctx context.Context, f format) error {
	path, err := m.dbPath()
	if err != nil {
		return err
	}
	a, err := m.open(ctx)
	if err != nil {
		return err
	}
	defer a.close()
	out, err := ask(ctx, a, statsQuestion(), struct{}{})
	if err != nil {
		return err
	}
	out.Path = path // as it is named here, not where the daemon runs
	if f == formatJSON {
		return writeObject(m.Stdout, out)
	}
	m.printStats(&out)
	return nil
}

func newStatsOut(s *gputide.StoreStats) statsOut {
	return statsOut{
		Path: s.Path, FileBytes: s.FileBytes, UsedBytes: s.UsedBytes, SchemaVersion: s.SchemaVersion, ToolVersion: opt(s.ToolVersion),
		Catalogue: opt(s.Catalogue), CreatedAt: opt(stamp(s.CreatedAt)), Series: s.Series, Changes: s.Changes, Runs: s.Runs,
		Observations: s.Observations, Specs: s.Specs, Signals: s.Signals, Rates: s.Rates, Quarantined: s.Quarantined,
		Buckets: counts(s.Buckets),
	}
}

func (m *Main) printStats(s *statsOut) {
	w := m.Stdout
	fmt.Fprintf(w, "database          %s\n", clean(s.Path))
	fmt.Fprintf(w, "size              %s in use of %s\n", bytesText(s.UsedBytes), bytesText(s.FileBytes))
	fmt.Fprintf(w, "schema            %d, written by %s, catalogue %s\n", s.SchemaVersion, clean(deref(s.ToolVersion)), clean(deref(s.Catalogue)))
	fmt.Fprintf(w, "created           %s\n", deref(s.CreatedAt))
	for _, c := range []struct {
		name string
		n    int64
	}{
		{"series", s.Series},
		{"changes", s.Changes},
		{"runs", s.Runs},
		{"observations", s.Observations},
		{"specs", s.Specs},
		{"signals", s.Signals},
		{"rates", s.Rates},
		{"quarantined", s.Quarantined},
	} {
		fmt.Fprintf(w, "%-17s %d\n", c.name, c.n)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Buckets)) {
		fmt.Fprintf(w, "%-17s %s\n", "bucket "+name, bytesText(s.Buckets[name]))
	}
}

func (m *Main) dbCheck(ctx context.Context, f format) error {
	path, err := m.dbPath()
	if err != nil {
		return err
	}
	db, err := m.openRead()
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Check(ctx); err != nil {
		return &gputide.HintError{
			Err:  fmt.Errorf("check: %w", err),
			Hint: "keep the file, restore the newest backup or crawl into a new one, and report the text above",
		}
	}
	if f == formatJSON {
		return writeObject(m.Stdout, checkOut{Path: path, OK: true})
	}
	fmt.Fprintf(m.Stdout, "%s is sound\n", clean(path))
	return nil
}

// bytesText words a size in binary units.
func bytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	v, prefix := float64(n), 0
	for v >= unit && prefix < 4 {
		v /= unit
		prefix++
	}
	return fmt.Sprintf("%.1f %ciB", v, " KMGT"[prefix])
}
