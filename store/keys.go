package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// errCorrupt is returned when stored bytes are not what format.md says.
var errCorrupt = errors.New("database is corrupt")

func corrupt(bucket, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", errCorrupt, bucket, fmt.Sprintf(format, args...))
}

func compareBytes(a, b []byte) int { return bytes.Compare(a, b) }

// key32 is the key of a dense id.
func key32(id uint32) []byte { return binary.BigEndian.AppendUint32(nil, id) }

// key64 is the key of a run or a log block.
func key64(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

// keyPair is an id followed by a time or a second id.
func keyPair(a, b uint32) []byte { return binary.BigEndian.AppendUint32(key32(a), b) }

// reader takes varints and bytes off a value; the first error sticks.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) u32() uint32 {
	v := r.uvarint()
	if v > 1<<32-1 {
		r.bad = true
		return 0
	}
	return uint32(v)
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) text() string { return string(r.bytes(r.uvarint())) }

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// wide takes eight big-endian bytes.
func (r *reader) wide() int64 {
	v := r.bytes(8)
	if v == nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(v))
}

func be32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }

func putKey(k *[4]byte, id uint32) { binary.BigEndian.PutUint32(k[:], id) }
