package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// globals are the flags every verb takes.
type globals struct {
	db       string
	logLevel string
	creds    string
	lang     string
}

const rootLong = `gputide records what GPU clouds charge and what they sell, keeps every change,
and answers: what does it cost now, how has it moved, what can I buy.

It gives prices and specs with evidence. It does not provision, recommend, or
price tokens, storage products or software.

gputide demo shows it on recorded prices, without a network. To start, crawl (no
key is needed for a useful first run), then ask:

  gputide crawl
  gputide query offers --gpu h100 --limit 10
  gputide explain OFFER_ID

Exit codes: 0 ok, 1 error, 2 the command line is wrong, 3 one or more providers
failed (what the others gave is stored).

Answers go to stdout, what is said about them to stderr. A table fits the terminal,
or $COLUMNS; NO_COLOR turns colours off.`

const rootExample = `  gputide query offers --gpu h100 --count 8 --market on_demand
  gputide query offers --fits 80GB --max-price 3 --in USD
  gputide query changes --since 7d --gpu rtx-4090
  gputide gpus h100
  gputide providers`

// root builds the command tree.
func (m *Main) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "gputide",
		Short:         "GPU cloud prices: crawled, kept, explained",
		Long:          rootLong,
		Example:       rootExample,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE:          showHelp,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if err := m.setLogger(); err != nil {
				return err
			}
			return m.setLang()
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetOut(m.Stdout)
	root.SetErr(m.Stderr)
	root.SetFlagErrorFunc(flagError)
	f := root.PersistentFlags()
	f.StringVar(&m.opt.db, "db", "", "database `FILE` (default $GPUTIDE_DB, else gputide/gputide.db in $XDG_DATA_HOME or ~/.local/share)")
	f.StringVar(&m.opt.logLevel, "log-level", "", "least `LEVEL` of log lines on stderr: debug, info, warn, error, off (default warn, off on a terminal)")
	f.StringVar(&m.opt.lang, "lang", "", "`LANGUAGE` of tables: en, zh (default $GPUTIDE_LANG, else en; $LANG is not consulted)")
	f.StringVar(&m.opt.creds, "credentials", "", "`FILE` of NAME=value lines, mode 0600 (default gputide/credentials in $XDG_CONFIG_HOME or ~/.config)")
	root.AddCommand(
		m.crawlCmd(), m.replayCmd(), m.importCmd(), m.exportCmd(), m.fixturesCmd(), m.queryCmd(), m.explainCmd(), m.gpusCmd(), m.providersCmd(),
		m.demoCmd(), m.runsCmd(), m.quarantineCmd(), m.dbCmd(), m.serveCmd(), m.configCmd(), m.completionCmd(), m.versionCmd(), flagsTopic(),
	)
	root.SetHelpCommand(helpCmd())
	root.SetUsageFunc(usage)
	return root
}

// showHelp prints the help of a command that only groups others.
func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// group builds a command that only groups others.
func group(use, short, long string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: unknownCommand, RunE: showHelp}
	cmd.AddCommand(subs...)
	return cmd
}

// unknownCommand refuses a word that names no subcommand and suggests the near
// ones.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := didYouMean(nearCommands(cmd, args[0]))
	if hint == "" {
		hint = fmt.Sprintf("; see %s --help", cmd.CommandPath())
	}
	return usagef("unknown command %q for %q%s", args[0], cmd.CommandPath(), hint)
}

// flagError turns a flag that cannot be read into a usage error and suggests
// the near ones.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	name, ok := strings.CutPrefix(text, "unknown flag: --")
	if !ok {
		return usagef("%s; see %s --help", flagFault(err), cmd.CommandPath())
	}
	hint := didYouMean(dashed(near(name, flagNames(cmd))))
	if c, _, err := cmd.Root().Find([]string{name}); hint == "" && err == nil && c != cmd.Root() {
		hint = didYouMean([]string{c.CommandPath()})
	}
	if hint == "" {
		hint = fmt.Sprintf("; see %s --help", cmd.CommandPath())
	}
	return usagef("unknown flag --%s for %q%s", name, cmd.CommandPath(), hint)
}

// helpCmd is cobra's help command with unknown topics refused.
func helpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about any command, and about the flags offers carry (help flags)",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || target == nil {
				return usagef("%w", err)
			}
			if len(rest) > 0 {
				return unknownCommand(target, rest)
			}
			return target.Help()
		},
	}
}

// dbPath returns the database file: the flag, else GPUTIDE_DB, else the XDG
// data directory.
func (m *Main) dbPath() (string, error) {
	if m.opt.db != "" {
		return m.opt.db, nil
	}
	if p := m.envText("GPUTIDE_DB"); p != "" {
		return p, nil
	}
	dir, err := m.xdg("XDG_DATA_HOME", ".local/share")
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "gputide", "gputide.db"), nil
}

// xdg returns a base directory of the XDG specification: relative values of the
// variable are ignored.
func (m *Main) xdg(name, fallback string) (string, error) {
	if dir := m.envText(name); filepath.IsAbs(dir) {
		return dir, nil
	}
	home := m.envText("HOME")
	if home == "" {
		return "", usagef("neither $%s nor $HOME is set: name the file with --db", name)
	}
	return filepath.Join(home, filepath.FromSlash(fallback)), nil
}
