package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/api"
	"github.com/gputide/gputide/store"
)

// backupOut is the JSON of `db backup`.
type backupOut struct {
	Path  string `json:"path"` // of the database
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

// compactOut is the JSON of `db compact`.
type compactOut struct {
	Path   string `json:"path"`
	Before int64  `json:"before_bytes"`
	After  int64  `json:"after_bytes"`
	Pruned int64  `json:"pruned_changes"` // entries taken out of the change feed
}

// restoreOut is the JSON of `db restore`.
type restoreOut struct {
	Path   string  `json:"path"`
	File   string  `json:"file"`
	Before *int64  `json:"before_bytes"` // null where there was no database
	After  int64   `json:"after_bytes"`
	Kept   *string `json:"kept"` // where the replaced database is
}

func (m *Main) dbBackupCmd() *cobra.Command {
	return m.dbVerb(&cobra.Command{
		Use:   "backup FILE|-",
		Short: "Write a copy of the database to a file, or to stdout",
		Long: `The copy is a database of one moment and can be asked with --db. FILE appears
whole or not at all; one that is there is replaced. A daemon goes on meanwhile.
A copy of the file made by other means is sound only while nobody writes.`,
		Example: `  gputide db backup /backup/gputide-monday.db
  gputide db backup - | ssh backup 'cat > gputide.db'
  gputide query offers --db /backup/gputide-monday.db --gpu h100`,
		Args: argCount(1, 1),
	}, func(ctx context.Context, args []string, f format) error {
		if args[0] == "-" {
			return m.backupToStdout(ctx, f)
		}
		out, err := m.backup(ctx, args[0])
		if err != nil {
			return err
		}
		return m.report(f, out, "%s is a backup of %s, %s\n", clean(out.File), clean(out.Path), bytesText(out.Bytes))
	})
}

func (m *Main) dbCompactCmd() *cobra.Command {
	var before string
	cmd := m.dbVerb(&cobra.Command{
		Use:   "compact",
		Short: "Write the database anew, packed and without the room changes left in it",
		Long: `The file of a database never shrinks by itself. Compaction writes it anew beside
the old one, with what it holds packed, and exchanges the two; a crash at any
point leaves one of them. A daemon is asked to do it: its crawls wait meanwhile.

--prune-log-before takes what was recorded earlier out of the change feed. Prices
and their history stay. Who follows the feed from a number that is gone is told
where it begins now.`,
		Example: `  gputide db compact
  gputide db compact --prune-log-before 2026-01-01 -o json`,
		Args: noArgs,
	}, func(ctx context.Context, _ []string, f format) error {
		var req compactRequest
		var err error
		if req.PruneLogBefore, err = parseTime("prune-log-before", before); err != nil {
			return err
		}
		out, err := m.compact(ctx, req)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s: %s before, %s after", clean(out.Path), bytesText(out.Before), bytesText(out.After))
		if out.Pruned > 0 {
			text += fmt.Sprintf("; %d changes pruned from the feed", out.Pruned)
		}
		return m.report(f, out, "%s\n", text)
	})
	cmd.Flags().StringVar(&before, "prune-log-before", "", "take changes recorded before this `TIME` out of the feed")
	return cmd
}

func (m *Main) dbRestoreCmd() *cobra.Command {
	return m.dbVerb(&cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup in the place of the database",
		Long: `FILE is checked, and brought to the schema of this version, before anything is
replaced. The database there is stays beside it as *` + store.ReplacedSuffix + ` until the
next restore. A database in use is not replaced: stop the daemon first.`,
		Example: `  gputide db restore /backup/gputide-monday.db
  gputide db restore ~/.local/share/gputide/gputide.db` + store.ReplacedSuffix,
		Args: argCount(1, 1),
	}, func(ctx context.Context, args []string, f format) error {
		out, err := m.restore(ctx, args[0])
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s is restored, %s", clean(out.Path), bytesText(out.After))
		if out.Kept != nil {
			text += "; what was there before is " + clean(*out.Kept)
		}
		return m.report(f, out, "%s\n", text)
	})
}

// dbVerb completes a verb that answers with one object.
func (m *Main) dbVerb(cmd *cobra.Command, do func(ctx context.Context, args []string, f format) error) *cobra.Command {
	var out string
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f, err := oneOf("output", out, objectFormats[:])
		if err != nil {
			return err
		}
		return do(cmd.Context(), args, f)
	}
	formatFlag(cmd, &out, objectFormats[:])
	return cmd
}

// report answers with an object: as JSON, or in words.
func (m *Main) report(f format, v any, text string, args ...any) error {
	if f == formatJSON {
		return writeObject(m.Stdout, v)
	}
	_, err := fmt.Fprintf(m.Stdout, text, args...)
	return err
}

// backupRequest asks a daemon to write a backup to a file it can reach.
type backupRequest struct{ File string }

func backupCommand(do func(context.Context, backupRequest) (backupOut, error)) api.Command[backupRequest, backupOut] {
	return api.Command[backupRequest, backupOut]{Path: "/v1/db/backup", Do: do}
}

// compactRequest asks for a compaction.
type compactRequest struct {
	PruneLogBefore time.Time `json:",omitzero"` // what was recorded earlier leaves the change feed
}

func compactCommand(do func(context.Context, compactRequest) (compactOut, error)) api.Command[compactRequest, compactOut] {
	return api.Command[compactRequest, compactOut]{Path: "/v1/db/compact", Do: do}
}

// backup has a backup written, by the daemon when there is one.
func (m *Main) backup(ctx context.Context, file string) (backupOut, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return backupOut{}, err
	}
	daemon, err := m.dial(ctx)
	if err != nil {
		return backupOut{}, err
	}
	if daemon != nil {
		defer daemon.Close()
		return backupCommand(nil).Ask(ctx, daemon, backupRequest{File: file})
	}
	db, err := m.openRead()
	if err != nil {
		return backupOut{}, err
	}
	defer db.Close()
	return backupOf(ctx, db, file)
}

func backupOf(ctx context.Context, db *store.DB, file string) (backupOut, error) {
	n, err := db.Backup(ctx, file)
	return backupOut{Path: db.Path(), File: file, Bytes: n}, err
}

// backupToStdout writes a backup to stdout, by way of a file: the database does
// not wait for who reads it.
func (m *Main) backupToStdout(ctx context.Context, f format) (err error) {
	if f == formatJSON {
		return usagef("a backup to - takes stdout, and -o json too: name a file")
	}
	if isTerminal(m.Stdout) {
		return usagef("a backup is no text: send it to a file or another program")
	}
	dir, err := os.MkdirTemp("", "gputide-backup-")
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	out, err := m.backup(ctx, filepath.Join(dir, "gputide.db"))
	if err != nil {
		return err
	}
	file, err := os.Open(out.File)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	_, err = io.Copy(m.Stdout, file)
	return errors.Join(err, file.Close())
}

// compact has the database compacted, by the daemon when there is one.
func (m *Main) compact(ctx context.Context, req compactRequest) (compactOut, error) {
	daemon, err := m.dial(ctx)
	if err != nil {
		return compactOut{}, err
	}
	if daemon != nil {
		defer daemon.Close()
		return compactCommand(nil).Ask(ctx, daemon, req)
	}
	db, err := m.openExisting()
	if err != nil {
		return compactOut{}, err
	}
	defer db.Close()
	return compactOf(ctx, db, req)
}

func compactOf(ctx context.Context, db *store.DB, req compactRequest) (out compactOut, err error) {
	out.Path = db.Path()
	if !req.PruneLogBefore.IsZero() {
		if out.Pruned, err = db.PruneChanges(ctx, req.PruneLogBefore); err != nil {
			return out, err
		}
	}
	size, err := db.Compact(ctx)
	out.Before, out.After = size.Before, size.After
	return out, err
}

// openExisting opens the database for writing and does not make one.
func (m *Main) openExisting() (*store.DB, error) {
	path, err := m.dbPath()
	if err != nil {
		return nil, err
	}
	norm, err := loadNormalizer()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return m.openReadWith(norm) // which says what to do
	}
	return m.openWrite(norm)
}

func (m *Main) restore(ctx context.Context, file string) (restoreOut, error) {
	path, err := m.dbPath()
	if err != nil {
		return restoreOut{}, err
	}
	norm, err := loadNormalizer()
	if err != nil {
		return restoreOut{}, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return restoreOut{}, fmt.Errorf("database: %w", err)
	}
	size, err := store.Restore(ctx, file, path, store.Options{Deriver: norm, Now: m.Now, ToolVersion: version()})
	if errors.Is(err, gputide.ErrStoreLocked) {
		return restoreOut{}, &gputide.HintError{Err: err, Hint: "stop the daemon, or whatever else has it open, and restore again"}
	}
	out := restoreOut{Path: path, File: file, After: size.After}
	if size.Before > 0 {
		out.Before = &size.Before
		if real, err := filepath.EvalSymlinks(path); err == nil {
			out.Kept = opt(real + store.ReplacedSuffix)
		}
	}
	return out, err
}
