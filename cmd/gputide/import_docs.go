package main

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/normalize/importcsv"
)

// importDoc is one file of an import. It is opened twice.
type importDoc struct {
	name     string
	provider string    // word for the provider of a file whose rows do not name it
	at       time.Time // moment observed, where the file does not say so itself
	inside   bool      // one of several: errors name it
	open     func() (io.ReadCloser, error)
}

// documents returns the files of the import, and what to call when they were read.
func (im *importRun) documents(ctx context.Context) (iter.Seq2[importDoc, error], func() error, error) {
	none := func() error { return nil }
	if im.file == "-" {
		return im.piped(ctx, im.m.Stdin)
	}
	info, err := os.Stat(im.file)
	if err != nil {
		return nil, none, bare(err)
	}
	switch {
	case info.IsDir():
		docs, err := im.folder(ctx)
		return docs, none, err
	case info.Mode().IsRegular():
		if info.Size() > importcsv.MaxBytes {
			return nil, none, fmt.Errorf("%w: %s", gputide.ErrTooLarge, bytesText(info.Size()))
		}
		return im.single(im.file, im.file)
	case info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0:
		f, err := os.Open(im.file)
		if err != nil {
			return nil, none, bare(err)
		}
		defer f.Close()
		return im.piped(ctx, f)
	}
	return nil, none, fmt.Errorf("%w: not a file", gputide.ErrInvalid)
}

// bare is the error of a file without its name, which the caller says.
func bare(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// piped keeps what comes through a pipe in a file until it was read: it is read
// twice.
func (im *importRun) piped(ctx context.Context, r io.Reader) (iter.Seq2[importDoc, error], func() error, error) {
	none := func() error { return nil }
	if r == nil {
		return nil, none, fmt.Errorf("%w: there is no standard input", gputide.ErrInvalid)
	}
	f, err := os.CreateTemp("", "gputide-import-*")
	if err != nil {
		return nil, none, err
	}
	remove := func() error { return os.Remove(f.Name()) }
	n, err := io.Copy(f, io.LimitReader(&cancelled{ctx, r}, importcsv.MaxBytes+1))
	if err == nil && n > importcsv.MaxBytes {
		err = fmt.Errorf("%w: more than %s", gputide.ErrTooLarge, bytesText(importcsv.MaxBytes))
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, none, errors.Join(err, remove())
	}
	docs, done, err := im.single(f.Name(), im.file)
	if err != nil {
		return nil, none, errors.Join(err, done(), remove())
	}
	return docs, func() error { return errors.Join(done(), remove()) }, nil
}

// cancelled is a reader that ends with its context.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

// Read reads unless the context is done.
func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// single returns a file, or those of a zip. shown is its name for people.
func (im *importRun) single(file, shown string) (iter.Seq2[importDoc, error], func() error, error) {
	none := func() error { return nil }
	zipped, err := isZip(file)
	if err != nil {
		return nil, none, bare(err)
	}
	if zipped {
		return im.zipped(file)
	}
	doc := importDoc{name: shown, at: im.at, open: func() (io.ReadCloser, error) {
		f, err := os.Open(file)
		if err != nil {
			return nil, bare(err)
		}
		return f, nil
	}}
	if im.profile.Files != nil {
		if doc.provider = im.profile.Files.ProviderOf(filepath.ToSlash(file)); im.at.IsZero() {
			return nil, none, im.needsTime()
		}
	}
	return func(yield func(importDoc, error) bool) { yield(doc, nil) }, none, nil
}

func (im *importRun) needsTime() error {
	return &gputide.HintError{
		Err:  fmt.Errorf("%w: nothing says when it was observed", gputide.ErrInvalid),
		Hint: "tell the moment with --at",
	}
}

func isZip(file string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var magic [4]byte
	n, err := io.ReadFull(f, magic[:])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n == len(magic) && string(magic[:]) == "PK\x03\x04", err
}

// maxVersion bounds the version file of an archive.
const maxVersion = 64

// zipped returns the files of an archive: those the profile reads, or its only
// one. A file named version tells the day it was made.
func (im *importRun) zipped(file string) (iter.Seq2[importDoc, error], func() error, error) {
	none := func() error { return nil }
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil, none, fmt.Errorf("%w: zip: %w", gputide.ErrInvalid, bare(err))
	}
	docs, err := im.archived(&z.Reader)
	if err != nil {
		return nil, none, errors.Join(err, z.Close())
	}
	return func(yield func(importDoc, error) bool) {
		for _, doc := range docs {
			if !yield(doc, nil) {
				return
			}
		}
	}, z.Close, nil
}

func (im *importRun) archived(z *zip.Reader) ([]importDoc, error) {
	at := im.at
	var docs []importDoc
	for _, f := range z.File {
		if path.Base(f.Name) == "version" && im.profile.Files != nil && at.IsZero() {
			var err error
			if at, err = versionDay(f); err != nil {
				return nil, err
			}
			continue
		}
		doc := importDoc{name: f.Name, inside: true, open: f.Open}
		if im.profile.Files != nil {
			if !trailing(im.profile.Files.Path, f.Name) {
				continue
			}
			doc.provider = im.profile.Files.ProviderOf(f.Name)
		}
		if !f.FileInfo().IsDir() {
			docs = append(docs, doc)
		}
	}
	switch {
	case len(docs) == 0:
		return nil, fmt.Errorf("%w: the archive has no file that profile %s reads", gputide.ErrEmpty, im.profile.Name)
	case im.profile.Files == nil && len(docs) > 1:
		return nil, fmt.Errorf("%w: the archive has %d files, and profile %s reads one", gputide.ErrInvalid, len(docs), im.profile.Name)
	case im.profile.Files != nil && at.IsZero():
		return nil, im.needsTime()
	}
	for i := range docs {
		docs[i].at = at
	}
	return docs, nil
}

// versionDay reads the day a catalogue was built: 20240508 or 20240508-123.
func versionDay(f *zip.File) (time.Time, error) {
	r, err := f.Open()
	if err != nil {
		return time.Time{}, fmt.Errorf("version: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxVersion))
	if err := errors.Join(err, r.Close()); err != nil {
		return time.Time{}, fmt.Errorf("version: %w", err)
	}
	day, _, _ := strings.Cut(strings.TrimSpace(string(text)), "-")
	at, err := time.Parse("20060102", day)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: version %q of the archive is no day", gputide.ErrInvalid, clip(string(text)))
	}
	return at, nil
}

// trailing reports whether the end of a path matches a pattern.
func trailing(pattern, name string) bool {
	parts := strings.Split(name, "/")
	n := strings.Count(pattern, "/") + 1
	if len(parts) < n {
		return false
	}
	ok, err := path.Match(pattern, strings.Join(parts[len(parts)-n:], "/"))
	return ok && err == nil
}

// folder returns the files of a folder, or those of every commit of a clone. A
// moment told on the command line makes a clone a folder.
func (im *importRun) folder(ctx context.Context) (iter.Seq2[importDoc, error], error) {
	if im.profile.Files == nil {
		return nil, fmt.Errorf("%w: it is a folder, and profile %s reads one file", gputide.ErrInvalid, im.profile.Name)
	}
	if im.at.IsZero() {
		if isClone(im.file) {
			return im.commits(ctx), nil
		}
		return nil, im.needsTime()
	}
	dir, err := filepath.Abs(im.file)
	if err != nil {
		return nil, err
	}
	newest := make(map[string]string) // by provider
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		slashed := filepath.ToSlash(name)
		if !d.Type().IsRegular() || !trailing(im.profile.Files.Path, slashed) {
			return nil
		}
		p := im.profile.Files.ProviderOf(slashed)
		if old := newest[p]; old == "" || later(slashed, old) {
			newest[p] = slashed
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(newest) == 0 {
		return nil, fmt.Errorf("%w: no file %s in it", gputide.ErrEmpty, im.profile.Files.Path)
	}
	return func(yield func(importDoc, error) bool) {
		for _, p := range slices.Sorted(maps.Keys(newest)) {
			name := newest[p]
			doc := importDoc{name: name, provider: p, at: im.at, inside: true, open: func() (io.ReadCloser, error) { return os.Open(name) }}
			if !yield(doc, nil) {
				return
			}
		}
	}, nil
}

// later reports whether one of two versions of a file is the later: v10 is after
// v9.
func later(a, b string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a > b
}
