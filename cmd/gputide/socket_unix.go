//go:build unix

package main

import (
	"context"
	"net"
	"syscall"
)

// listenPrivate makes a socket that never was open to others, not even before
// its permissions could be set.
func listenPrivate(ctx context.Context, path string) (net.Listener, error) {
	before := syscall.Umask(0o177)
	defer syscall.Umask(before)
	return new(net.ListenConfig).Listen(ctx, "unix", path)
}
