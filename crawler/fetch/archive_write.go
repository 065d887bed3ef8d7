package fetch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// maxLine is the longest line that is held to be judged. Longer ones are kept.
const maxLine = 1 << 20

var errSecretInBody = errors.New("the body shows a credential")

// objectWriter copies a body into a temporary file that becomes an object when
// the body is complete. A body that grows beyond the reduction threshold is
// started over with the lines to keep only. The first error ends the copy.
type objectWriter struct {
	a       *Archive
	keep    func([]byte) bool
	secrets [][]byte
	longest int

	file    *os.File
	zw      *zstd.Encoder
	sum     hash.Hash
	n       int64 // bytes of the body
	reduced bool
	line    []byte // start of the line that has not ended yet
	through bool   // that line is too long and already written
	tail    []byte // last bytes seen, for secrets across writes
	err     error
}

// stored names what commit has made.
type stored struct {
	hash    string
	reduced bool
}

func (a *Archive) create(keep func([]byte) bool, secrets []string) (*objectWriter, error) {
	w := &objectWriter{a: a, keep: keep}
	for _, s := range secrets {
		w.secrets = append(w.secrets, []byte(s))
		w.longest = max(w.longest, len(s))
	}
	if err := w.start(); err != nil {
		return nil, err
	}
	return w, nil
}

// start opens a fresh temporary file.
func (w *objectWriter) start() error {
	f, err := os.CreateTemp(filepath.Join(w.a.dir, "tmp"), "body-*")
	if err != nil {
		return err
	}
	zw, err := w.a.codecs.zstdWriter(f)
	if err != nil {
		closeQuietly(f)
		_ = os.Remove(f.Name())
		return err
	}
	w.file, w.zw, w.sum = f, zw, sha256.New()
	return nil
}

// write takes the next bytes of the body.
func (w *objectWriter) write(p []byte) {
	if w.err != nil || len(p) == 0 {
		return
	}
	w.n += int64(len(p))
	if w.err = w.findSecret(p); w.err != nil {
		return
	}
	if !w.reduced && w.keep != nil && w.n > w.a.opt.ReduceOver {
		if w.err = w.reduce(); w.err != nil {
			return
		}
	}
	if w.reduced {
		w.err = w.lines(p)
		return
	}
	w.err = w.put(p)
}

func (w *objectWriter) put(p []byte) error {
	w.sum.Write(p)
	_, err := w.zw.Write(p)
	return err
}

// findSecret refuses a body that echoes a credential.
func (w *objectWriter) findSecret(p []byte) error {
	if w.longest == 0 {
		return nil
	}
	head := append(w.tail, p[:min(len(p), w.longest)]...)
	for _, s := range w.secrets {
		if bytes.Contains(p, s) || bytes.Contains(head, s) {
			return errSecretInBody
		}
	}
	if keep := w.longest - 1; len(p) >= keep {
		w.tail = append(w.tail[:0], p[len(p)-keep:]...)
	} else {
		w.tail = append(w.tail, p...)
		w.tail = w.tail[max(0, len(w.tail)-keep):]
	}
	return nil
}

// reduce starts the copy over, passing what was written so far through keep.
func (w *objectWriter) reduce() error {
	old := w.file
	defer func() {
		closeQuietly(old)
		_ = os.Remove(old.Name())
	}()
	if err := w.zw.Close(); err != nil {
		return err
	}
	w.a.codecs.putZstdWriter(w.zw)
	w.zw = nil
	if _, err := old.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r, release, err := w.a.codecs.unzstd(old)
	if err != nil {
		return err
	}
	defer release()
	if err := w.start(); err != nil {
		w.file = nil
		return err
	}
	w.reduced = true
	_, err = io.Copy(writerFunc(func(p []byte) (int, error) { return len(p), w.lines(p) }), r)
	return err
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// lines passes whole lines to keep.
func (w *objectWriter) lines(p []byte) error {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		part, ends := p, i >= 0
		if ends {
			part = p[:i+1]
		}
		p = p[len(part):]
		if err := w.piece(part, ends); err != nil {
			return err
		}
	}
	return nil
}

// piece takes part of a line; ends says that it is the last part.
func (w *objectWriter) piece(part []byte, ends bool) error {
	if w.through {
		w.through = !ends
		return w.put(part)
	}
	if ends && len(w.line) == 0 {
		return w.judge(part)
	}
	w.line = append(w.line, part...)
	switch {
	case ends:
		err := w.judge(w.line)
		w.line = w.line[:0]
		return err
	case len(w.line) > maxLine:
		err := w.put(w.line)
		w.line, w.through = w.line[:0], true
		return err
	}
	return nil
}

func (w *objectWriter) judge(line []byte) error {
	if w.keep(line) {
		return w.put(line)
	}
	return nil
}

// commit makes the copy an object and returns its hash.
func (w *objectWriter) commit() (stored, error) {
	if w.err == nil && len(w.line) > 0 {
		w.err = w.judge(w.line)
	}
	if w.err == nil {
		w.err = w.zw.Close()
	}
	if w.err != nil {
		err := w.err
		w.abort()
		return stored{}, err
	}
	w.a.codecs.putZstdWriter(w.zw)
	w.zw = nil
	s := stored{hash: hex.EncodeToString(w.sum.Sum(nil)), reduced: w.reduced}
	err := w.place(s.hash)
	w.abort() // removes the temporary file, unless it has become the object
	return s, err
}

// place moves the finished file to its address, or refreshes the object that is
// there already.
func (w *objectWriter) place(hash string) error {
	path, now := w.a.object(hash), w.a.opt.Now()
	if os.Chtimes(path, now, now) == nil {
		return nil
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.Rename(w.file.Name(), path); err != nil {
		return err
	}
	return os.Chtimes(path, now, now)
}

// abort gives the copy up and releases what it holds.
func (w *objectWriter) abort() {
	if w.zw != nil {
		w.a.codecs.putZstdWriter(w.zw)
		w.zw = nil
	}
	if w.file != nil {
		closeQuietly(w.file)
		_ = os.Remove(w.file.Name())
		w.file = nil
	}
}
