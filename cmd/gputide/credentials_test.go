package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gputide/gputide"
)

func writeFile(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // past the umask
		t.Fatal(err)
	}
	return path
}

func TestReadCredentials(t *testing.T) {
	path := writeFile(t, "# keys\n\nGPUTIDE_A_KEY = one=two \nGPUTIDE_B_KEY=\"quoted value\"\nGPUTIDE_C_KEY=\n", 0o600)
	got, err := readCredentials(path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"GPUTIDE_A_KEY": "one=two", "GPUTIDE_B_KEY": "quoted value", "GPUTIDE_C_KEY": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadCredentialsRefuses(t *testing.T) {
	const value = "hunter2-value"
	tests := []struct {
		name string
		text string
		mode os.FileMode
		err  error
	}{
		{"group may read", "A=" + value, 0o640, gputide.ErrInvalid},
		{"others may read", "A=" + value, 0o604, gputide.ErrInvalid},
		{"may be run", "A=" + value, 0o700, gputide.ErrInvalid},
		{"no equals sign", "A " + value, 0o600, gputide.ErrInvalid},
		{"bad name", "1A=" + value, 0o600, gputide.ErrInvalid},
		{"twice", "A=" + value + "\nA=" + value, 0o600, gputide.ErrInvalid},
		{"long line", "A=" + strings.Repeat(value, 10_000), 0o600, gputide.ErrTooLarge},
		{"large", strings.Repeat("# "+value+"\n", 10_000), 0o600, gputide.ErrTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readCredentials(writeFile(t, tt.text, tt.mode))
			if !errors.Is(err, tt.err) {
				t.Fatalf("error %v, want %v", err, tt.err)
			}
			if strings.Contains(err.Error(), value) {
				t.Errorf("the error repeats a credential: %v", err)
			}
			if he, ok := errors.AsType[*gputide.HintError](err); tt.mode != 0o600 && (!ok || !strings.HasPrefix(he.Hint, "chmod 600 ")) {
				t.Errorf("no hint to change the mode: %v", err)
			}
		})
	}
	if _, err := readCredentials(t.TempDir()); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("a folder: %v", err)
	}
}

func TestSecretsOrder(t *testing.T) {
	c := testMain(t)
	path := writeFile(t, "GPUTIDE_A_KEY=file\nGPUTIDE_B_KEY=file\n", 0o600)
	c.env["GPUTIDE_A_KEY"] = "environment"
	c.opt.creds = path
	s, err := c.loadSecrets()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"GPUTIDE_A_KEY": "environment", "GPUTIDE_B_KEY": "file", "GPUTIDE_C_KEY": ""} {
		if got := s.get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	c.opt.creds = ""
	if s, err := c.loadSecrets(); err != nil || s.get("GPUTIDE_B_KEY") != "" {
		t.Errorf("without a file: %v", err)
	}
	c.opt.creds = filepath.Join(t.TempDir(), "missing")
	if _, err := c.loadSecrets(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a named file that is missing: %v", err)
	}
}

func FuzzParseCredentials(f *testing.F) {
	f.Add("A=b\n# c\nD = \"e\"\n")
	f.Add("=\n")
	f.Fuzz(func(t *testing.T, text string) {
		values, err := parseCredentials(strings.NewReader(text))
		if err != nil {
			return
		}
		for name := range values {
			if !isEnvName(name) {
				t.Errorf("name %q of %q", name, text)
			}
		}
	})
}
