package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/gputide/gputide/query"
)

// toolVersion is set by the linker for a release; else the build tells.
var toolVersion = ""

// schemaVersion is the newest database schema this build reads and writes. A
// test holds it equal to what the store writes.
const schemaVersion = 2

// versionOut is the JSON of `version`.
type versionOut struct {
	Tool          string `json:"tool"`
	Contract      int    `json:"contract"`
	SchemaVersion int    `json:"schema_version"`
	Catalogue     string `json:"catalogue_version"`
	Go            string `json:"go"`
	Platform      string `json:"platform"`
}

// version names this build.
func version() string {
	if toolVersion != "" {
		return toolVersion
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

func (m *Main) versionCmd() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the versions of the tool, the output contract, the database schema and the catalogue",
		Example: `  gputide version
  gputide version -o json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			f, err := oneOf("output", out, objectFormats[:])
			if err != nil {
				return err
			}
			return m.version(f)
		},
	}
	formatFlag(cmd, &out, objectFormats[:])
	return cmd
}

func (m *Main) version(f format) error {
	norm, err := loadNormalizer()
	if err != nil {
		return err
	}
	v := versionOut{
		Tool: version(), Contract: query.Contract, SchemaVersion: schemaVersion, Catalogue: norm.Catalogue.Version(),
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if f == formatJSON {
		return writeObject(m.Stdout, v)
	}
	fmt.Fprintf(m.Stdout, "gputide    %s\ncontract   %d\nschema     %d\ncatalogue  %s\ngo         %s %s\n",
		v.Tool, v.Contract, v.SchemaVersion, v.Catalogue, v.Go, v.Platform)
	return nil
}
