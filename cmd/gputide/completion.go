package main

import (
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"
)

// completionScripts are the shells there are scripts for.
func completionScripts() map[string]func(root *cobra.Command, w io.Writer) error {
	return map[string]func(*cobra.Command, io.Writer) error{
		"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh":        (*cobra.Command).GenZshCompletion,
		"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
		"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
	}
}

func (m *Main) completionCmd() *cobra.Command {
	scripts := completionScripts()
	shells := slices.Sorted(maps.Keys(scripts))
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a script that completes gputide's commands and flags in a shell",
		Long: `Prints the script; the shell has to read it. bash needs its package
bash-completion; zsh reads files named _gputide in a folder of $fpath.`,
		Example: `  source <(gputide completion bash)
  gputide completion bash > ~/.local/share/bash-completion/completions/gputide
  gputide completion zsh > "${fpath[1]}/_gputide"
  gputide completion fish > ~/.config/fish/completions/gputide.fish
  gputide completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: shells,
		Args:      argCount(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			shell, err := oneOf("shell", args[0], shells)
			if err != nil {
				return err
			}
			return scripts[shell](cmd.Root(), m.Stdout)
		},
	}
}
