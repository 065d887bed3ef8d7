//go:build !unix

package main

import (
	"context"
	"net"
)

// listenPrivate makes a socket with the permissions of its folder.
func listenPrivate(ctx context.Context, path string) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "unix", path)
}
