package main

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/api"
)

// socketPath returns the socket of the daemon of a database.
func (m *Main) socketPath(db string) string {
	if p := m.envText("GPUTIDE_SOCKET"); p != "" {
		return p
	}
	return db + ".sock"
}

// listenSocket makes the socket, which only its owner can open. A file left by a
// daemon that died is removed; the caller holds the lock of the database, so no
// living daemon of it can be there.
func listenSocket(ctx context.Context, path string) (net.Listener, error) {
	if len(path) > api.MaxSocketPath {
		return nil, &gputide.HintError{
			Err:  fmt.Errorf("socket: %w: %s is %d bytes long, a socket takes %d", gputide.ErrInvalid, path, len(path), api.MaxSocketPath),
			Hint: "set GPUTIDE_SOCKET to a shorter path, for the daemon and for those who ask it",
		}
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != fs.ModeSocket {
			return nil, &gputide.HintError{
				Err:  fmt.Errorf("socket: %w: %s exists and is no socket", gputide.ErrInvalid, path),
				Hint: "move the file away, or set GPUTIDE_SOCKET to another path",
			}
		}
		client, err := api.Dial(ctx, path)
		if client != nil {
			client.Close()
			return nil, &gputide.HintError{
				Err:  fmt.Errorf("socket: %w: another process answers at %s", gputide.ErrConflict, path),
				Hint: "stop it, or set GPUTIDE_SOCKET to another path",
			}
		}
		if err != nil {
			return nil, err
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("socket: %w", err)
		}
	}
	l, err := listenPrivate(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	return l, nil
}

// dial returns a client of the daemon that has the database open, and nil when
// there is none.
func (m *Main) dial(ctx context.Context) (*api.Client, error) {
	path, err := m.dbPath()
	if err != nil {
		return nil, err
	}
	client, err := api.Dial(ctx, m.socketPath(path))
	if client == nil || err != nil {
		return nil, err
	}
	health, err := client.Health(ctx)
	if err != nil {
		client.Close()
		return nil, err
	}
	if !sameFile(path, health.Database) {
		client.Close() // the daemon of another database, named by GPUTIDE_SOCKET
		return nil, nil
	}
	return client, nil
}

// sameFile reports whether two paths are one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
