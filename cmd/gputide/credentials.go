package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gputide/gputide"
)

// maxCredentials bounds the size of a credentials file.
const maxCredentials = 64 << 10

// secrets holds credentials by the name of their environment variable. It is
// never printed.
type secrets struct {
	file      map[string]string
	lookupEnv func(string) (string, bool)
}

// loadSecrets reads the credentials file, if there is one. The environment goes
// before the file.
func (m *Main) loadSecrets() (*secrets, error) {
	s := &secrets{lookupEnv: m.LookupEnv}
	path, named := m.opt.creds, m.opt.creds != ""
	if !named {
		dir, err := m.xdg("XDG_CONFIG_HOME", ".config")
		if err != nil {
			return s, nil // without a home there is no default file
		}
		path = filepath.Join(dir, "gputide", "credentials")
	}
	values, err := readCredentials(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && !named {
			return s, nil
		}
		return nil, err
	}
	s.file = values
	return s, nil
}

// get returns a credential, empty when there is none.
func (s *secrets) get(name string) string {
	if v, ok := s.lookupEnv(name); ok && v != "" {
		return v
	}
	return s.file[name]
}

// readCredentials reads NAME=value lines. It refuses a file that others may
// read, and never repeats a line in its errors.
func readCredentials(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("credentials: %w: %s is not a regular file", gputide.ErrInvalid, path)
	}
	if mode := info.Mode().Perm(); mode&^0o600 != 0 {
		return nil, &gputide.HintError{
			Err:  fmt.Errorf("credentials: %w: %s has mode %04o, others may read or run it", gputide.ErrInvalid, path, mode),
			Hint: "chmod 600 " + path,
		}
	}
	values, err := parseCredentials(io.LimitReader(f, maxCredentials+1))
	if err != nil {
		return nil, fmt.Errorf("credentials: %s: %w", path, err)
	}
	return values, nil
}

func parseCredentials(r io.Reader) (map[string]string, error) {
	values := map[string]string{}
	sc := bufio.NewScanner(r)
	size := 0
	for line := 1; sc.Scan(); line++ {
		size += len(sc.Bytes()) + 1
		text := strings.TrimSpace(sc.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		if !ok || !isEnvName(name) {
			return nil, fmt.Errorf("%w: line %d is not NAME=value", gputide.ErrInvalid, line)
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("%w: line %d names %s a second time", gputide.ErrInvalid, line, name)
		}
		values[name] = unquote(strings.TrimSpace(value))
	}
	if err := sc.Err(); err != nil || size > maxCredentials {
		return nil, fmt.Errorf("%w: larger than %d bytes or a line is too long", gputide.ErrTooLarge, maxCredentials)
	}
	return values, nil
}

// unquote removes one pair of equal quotes around a value.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

func isEnvName(s string) bool {
	for i, c := range s {
		letter := c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
