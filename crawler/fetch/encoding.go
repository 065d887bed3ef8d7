package fetch

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that a zstd body may ask for.
const maxWindow = 32 << 20

// codecs keeps decoders and encoders for reuse: each holds megabytes.
type codecs struct {
	zstdReaders sync.Pool
	gzipReaders sync.Pool
	zstdWriters sync.Pool
}

func newCodecs() *codecs { return &codecs{} }

// decode returns the reader of a body with the given content encoding, and a
// function that gives the decoder back.
func (c *codecs) decode(encoding string, r io.Reader) (io.Reader, func(), error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return r, func() {}, nil
	case "gzip", "x-gzip":
		return c.gunzip(r)
	case "zstd":
		return c.unzstd(r)
	}
	return nil, nil, fmt.Errorf("content encoding %q was not asked for", encoding)
}

func (c *codecs) gunzip(r io.Reader) (io.Reader, func(), error) {
	z, ok := c.gzipReaders.Get().(*gzip.Reader)
	if !ok {
		z = new(gzip.Reader)
	}
	if err := z.Reset(r); err != nil {
		c.gzipReaders.Put(z)
		if err == io.EOF { // an empty body is no gzip stream
			err = io.ErrUnexpectedEOF
		}
		return nil, nil, err
	}
	return z, func() { c.gzipReaders.Put(z) }, nil
}

func (c *codecs) unzstd(r io.Reader) (io.Reader, func(), error) {
	z, ok := c.zstdReaders.Get().(*zstd.Decoder)
	if !ok {
		var err error
		z, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
	}
	if err := z.Reset(r); err != nil {
		return nil, nil, err
	}
	return z, func() {
		_ = z.Reset(nil)
		c.zstdReaders.Put(z)
	}, nil
}

func (c *codecs) zstdWriter(w io.Writer) (*zstd.Encoder, error) {
	z, ok := c.zstdWriters.Get().(*zstd.Encoder)
	if !ok {
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true))
	}
	z.Reset(w)
	return z, nil
}

func (c *codecs) putZstdWriter(z *zstd.Encoder) {
	z.Reset(nil)
	c.zstdWriters.Put(z)
}
