package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gputide/gputide"
)

// Defaults of an [Archive].
const (
	DefaultArchiveAge   = 30 * 24 * time.Hour
	DefaultArchiveBytes = 10 << 30
	DefaultReduceOver   = 32 << 20
)

// ArchiveOptions bounds an [Archive]. The zero value holds the defaults.
type ArchiveOptions struct {
	MaxAge     time.Duration    // what is older is pruned; 0 is 30 days
	MaxBytes   int64            // of all compressed bodies; 0 is 10 GiB
	ReduceOver int64            // larger bodies keep the lines their request names only; 0 is 32 MiB
	Now        func() time.Time // nil is time.Now
}

// Archive keeps the bodies of past runs: each once, under the SHA-256 of its
// bytes, compressed with zstd. Beside them lie an index of every run, from which
// [Archive.Replay] serves it again, and the validators of conditional requests.
//
//	objects/<2 hex>/<hash>.zst     bodies
//	runs/<provider>/<time>.ndjson  one line of manifest head, then one exchange a line
//	latest/<provider>/<hash>.json  ETag and date of the newest body of an address
//	tmp/                           bodies that are being read
//
// Several processes may use one directory.
type Archive struct {
	dir    string
	opt    ArchiveOptions
	codecs *codecs
}

// OpenArchive opens, and makes if need be, the archive in a directory.
func OpenArchive(dir string, opt ArchiveOptions) (*Archive, error) {
	if opt.MaxAge <= 0 {
		opt.MaxAge = DefaultArchiveAge
	}
	if opt.MaxBytes <= 0 {
		opt.MaxBytes = DefaultArchiveBytes
	}
	if opt.ReduceOver <= 0 {
		opt.ReduceOver = DefaultReduceOver
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	for _, sub := range []string{"objects", "runs", "latest", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, fmt.Errorf("archive: %w", err)
		}
	}
	return &Archive{dir: dir, opt: opt, codecs: newCodecs()}, nil
}

// Open returns an archived body by its hash. Its reader fails at the end when
// the bytes are no longer those of the hash. An unknown hash is ErrNotFound.
func (a *Archive) Open(hash string) (io.ReadCloser, error) {
	if !isHash(hash) {
		return nil, fmt.Errorf("archive: %w: %q is no hash", gputide.ErrInvalid, hash)
	}
	f, err := os.Open(a.object(hash))
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = gputide.ErrNotFound
		}
		return nil, fmt.Errorf("archive: body %s: %w", hash, err)
	}
	r, release, err := a.codecs.unzstd(f)
	if err != nil {
		closeQuietly(f)
		return nil, fmt.Errorf("archive: body %s: %w: %w", hash, errObject, err)
	}
	return &object{file: f, r: r, release: release, hash: hash, sum: sha256.New()}, nil
}

// Has reports whether the archive holds a body.
func (a *Archive) Has(hash string) bool {
	if !isHash(hash) {
		return false
	}
	_, err := os.Stat(a.object(hash))
	return err == nil
}

func (a *Archive) object(hash string) string {
	return filepath.Join(a.dir, "objects", hash[:2], hash+".zst")
}

func isHash(s string) bool {
	if len(s) != 2*sha256.Size {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// object reads one archived body and verifies it.
type object struct {
	file    *os.File
	r       io.Reader
	release func()
	hash    string
	sum     hash.Hash
	closed  bool
}

func (o *object) Read(p []byte) (int, error) {
	if o.closed {
		return 0, os.ErrClosed
	}
	n, err := o.r.Read(p)
	o.sum.Write(p[:n])
	switch {
	case err == io.EOF:
		if got := hex.EncodeToString(o.sum.Sum(nil)); got != o.hash {
			return n, fmt.Errorf("%w: %s", errObject, o.hash)
		}
	case err != nil:
		err = fmt.Errorf("%w: %s: %w", errObject, o.hash, err)
	}
	return n, err
}

func (o *object) Close() error {
	if o.closed {
		return nil
	}
	o.closed = true
	o.release()
	return o.file.Close()
}
