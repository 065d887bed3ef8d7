package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptCommands are the commands scripts have beside those of testscript.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"copyfixture": copyFixture,
		"subst":       subst,
		"chmode":      chmode,
		"field":       field,
	}
}

// copyFixture PROVIDER DIR copies a fixture of the project to DIR/PROVIDER.
func copyFixture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: copyfixture PROVIDER DIR")
	}
	from := filepath.Join(ts.Getenv("FIXTURES"), args[0])
	ts.Check(os.CopyFS(filepath.Join(ts.MkAbs(args[1]), args[0]), os.DirFS(from)))
}

// subst FILE OLD NEW replaces text that must be there.
func subst(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: subst FILE OLD NEW")
	}
	path := ts.MkAbs(args[0])
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(text, args[1], args[2])), 0o600))
}

// chmode MODE FILE sets the permissions of a file, past the umask.
func chmode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: chmode MODE FILE")
	}
	var mode os.FileMode
	for _, c := range args[0] {
		mode = mode<<3 | os.FileMode(c-'0')
	}
	ts.Check(os.Chmod(ts.MkAbs(args[1]), mode))
}

// field NAME VARIABLE sets a variable to a text field of the first line of
// NDJSON the last command wrote.
func field(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: field NAME VARIABLE")
	}
	var row map[string]any
	ts.Check(json.NewDecoder(strings.NewReader(ts.ReadFile("stdout"))).Decode(&row))
	value, ok := row[args[0]].(string)
	if !ok {
		ts.Fatalf("field %s is %v", args[0], row[args[0]])
	}
	ts.Setenv(args[1], value)
}
