package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/store"
)

// filled commits nights, the odd ones of half the offers only, so that the file
// has pages to give back.
func fill(t *testing.T, db *store.DB, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		r := killRun(n)
		if n%2 == 1 {
			r.Offers = r.Offers[:killOffers/2]
			r.Specs = append(r.Specs, gputide.Spec{Provider: "acme", InstanceType: "t001", Device: gputide.Device{Name: fmt.Sprint(n)}})
			r.Signals = append(r.Signals, gputide.Signal{Key: r.Offers[0].Key, Name: gputide.SignalListings, Value: int64(n), Source: "api"})
		}
		mustCommit(t, db, r)
	}
}

// contents returns every entry of a database file, packed or not, and every
// sequence, as text.
func contents(t *testing.T, path string) []string {
	t.Helper()
	db, err := store.Open(path, store.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	out, err := db.Contents()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// names lists the files of a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

func TestCompactKeepsEverything(t *testing.T) {
	dir := t.TempDir()
	path, before := filepath.Join(dir, "gputide.db"), filepath.Join(t.TempDir(), "before.db")
	if err := os.WriteFile(path+".compact", []byte("left over"), 0o600); err != nil {
		t.Fatal(err)
	}
	db := openAt(t, path, store.Options{})
	if got := names(t, dir); !slices.Equal(got, []string{"gputide.db", "gputide.db.lock"}) {
		t.Errorf("files after open: %q", got)
	}
	fill(t, db, 0, 40)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Backup(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	size, err := db.Compact(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if size.After <= 0 || size.After > size.Before*8/10 {
		t.Errorf("%+v, want a smaller file", size)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != size.After || info.Mode().Perm() != 0o640 {
		t.Errorf("file of %d bytes, mode %v, %v; want %d", info.Size(), info.Mode(), err, size.After)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"gputide.db", "gputide.db.lock"}) {
		t.Errorf("files after compaction: %q", got)
	}
	copied := filepath.Join(t.TempDir(), "after.db")
	if _, err := db.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	if a, b := contents(t, before), contents(t, copied); !slices.Equal(a, b) {
		t.Errorf("compaction changed the contents: %d entries, %d after", len(a), len(b))
	}
	if _, err := db.Compact(t.Context()); err != nil { // of what is packed
		t.Fatal(err)
	}
	if _, err := db.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	if a, b := contents(t, before), contents(t, copied); !slices.Equal(a, b) {
		t.Errorf("another compaction changed the contents: %d entries, %d after", len(a), len(b))
	}
	// What is cached of the old file serves the new one.
	twin := openAt(t, before, store.Options{})
	fill(t, db, 40, 50)
	fill(t, twin, 40, 50)
	if a, b := exported(t, db), exported(t, twin); !slices.Equal(a, b) {
		t.Errorf("the compacted database goes on to %d observations, its twin to %d, or they differ", len(a), len(b))
	}
}

// A compacted database must not swell when it is written to again: pages packed
// to the brim would.
func TestCompactLeavesRoomToGrow(t *testing.T) {
	db, twin := open(t, store.Options{}), open(t, store.Options{})
	fill(t, db, 0, 30)
	fill(t, twin, 0, 30)
	if _, err := db.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	fill(t, db, 30, 60)
	fill(t, twin, 30, 60)
	a, err := db.Stats(t.Context())
	b, err2 := twin.Stats(t.Context())
	if err := errors.Join(err, err2); err != nil || a.UsedBytes*10 > b.UsedBytes*11 {
		t.Errorf("%d bytes in use, %d without compaction, %v", a.UsedBytes, b.UsedBytes, err)
	}
}

func TestCompactRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gputide.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, db, 0, 2)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := db.Compact(stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if got := names(t, filepath.Dir(path)); len(got) != 2 {
		t.Errorf("files after a stopped compaction: %q", got)
	}
	if _, err := db.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	if err := errors.Join(db.Check(t.Context()), db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Compact(t.Context()); err == nil {
		t.Error("a closed database is compacted")
	}
	reader := openAt(t, path, store.Options{ReadOnly: true})
	if _, err := reader.Compact(t.Context()); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("a reader compacts: %v", err)
	}
}

// A link stays a link: the file it leads to is replaced.
func TestCompactThroughLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.db"), filepath.Join(dir, "link.db")
	if err := errors.Join(os.WriteFile(real, nil, 0o600), os.Symlink(real, link)); err != nil {
		t.Fatal(err)
	}
	db := openAt(t, link, store.Options{})
	fill(t, db, 0, 5)
	if _, err := store.Open(real, store.Options{LockTimeout: time.Millisecond}); !errors.Is(err, gputide.ErrStoreLocked) {
		t.Errorf("by its other name: %v", err)
	}
	if _, err := db.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
}

// TestCompactUnderLoad reads, commits and compacts at once: every read is of
// whole nights, and nothing waits for ever.
func TestCompactUnderLoad(t *testing.T) {
	db := open(t, store.Options{})
	fill(t, db, 0, 2)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for ctx.Err() == nil {
				var nights [2]int
				err := db.Consistent(ctx, func() error {
					for i := range nights {
						runs, err := db.Runs(ctx, "acme", 0)
						if err != nil {
							return err
						}
						nights[i] = len(runs)
					}
					return nil
				})
				if err != nil && ctx.Err() == nil || nights[0] != nights[1] && err == nil {
					t.Errorf("%d and %d nights at one moment, %v", nights[0], nights[1], err)
				}
				if _, err := db.Quotes(ctx, gputide.Selection{}, killNight(3)); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	for n := 2; n < 22; n++ {
		mustCommit(t, db, killRun(n))
		if _, err := db.Compact(t.Context()); err != nil {
			t.Error(err)
		}
	}
	stop()
	wg.Wait()
}

// TestSecondProcessDuringCompactions has processes try to open the database,
// for reading and for writing, while another commits and compacts and sometimes
// lets go of it. Whoever gets in finds a sound database of whole nights, and
// nobody writes beside a writer.
func TestSecondProcessDuringCompactions(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes for some seconds")
	}
	const sessions, compactions = 3, 15
	path := filepath.Join(t.TempDir(), "gputide.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	peers := []*peer{newPeer(t, "tryread", path), newPeer(t, "tryread", path), newPeer(t, "trywrite", path)}
	for session := range sessions {
		if err := os.Mkdir(path+".held", 0o700); err != nil {
			t.Fatal(err)
		}
		for i := range compactions {
			mustCommit(t, db, killRun(session*compactions+i))
			if _, err := db.Compact(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if err := errors.Join(os.Remove(path+".held"), db.Close()); err != nil {
			t.Fatal(err)
		}
		for _, p := range peers {
			p.wasIn(t)
		}
		if db, err = store.Open(path, store.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, p := range peers {
			fmt.Fprintln(p.in, "again")
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range peers {
		p.wasIn(t)
		if err := errors.Join(p.in.Close(), p.cmd.Wait()); err != nil {
			t.Error(err)
		}
	}
	if nights := wholeNights(t, path); nights != sessions*compactions {
		t.Errorf("%d nights, want %d", nights, sessions*compactions)
	}
}

// peer is a process that tries to open the database.
type peer struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	said *bufio.Scanner
}

func newPeer(t *testing.T, mode, path string) *peer {
	t.Helper()
	p := &peer{cmd: childCommand(t, mode, path, 0)}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.said = bufio.NewScanner(out)
	return p
}

// wasIn waits until the process had the database open and closed it.
func (p *peer) wasIn(t *testing.T) {
	t.Helper()
	if !p.said.Scan() || !strings.HasPrefix(p.said.Text(), "in ") {
		t.Fatalf("%s: %q", p.cmd, p.said.Text())
	}
	t.Log(p.said.Text())
}

// tryOpen opens the database again and again until it can, looks it through,
// and does so again for every line it reads. It returns 1 when it ever finds the
// database missing, unsound or written by another too.
func tryOpen(path string, readOnly bool) int {
	locked, held := 0, path+".held"
	asked := bufio.NewScanner(os.Stdin)
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		db, err := store.Open(path, store.Options{ReadOnly: readOnly, LockTimeout: time.Duration(1+rand.IntN(60)) * time.Millisecond})
		if errors.Is(err, gputide.ErrStoreLocked) {
			locked++
			continue
		}
		if err != nil {
			fmt.Println("open:", err)
			return 1
		}
		// Both fail when a writer is inside, which makes this folder.
		if readOnly {
			if _, err = os.Stat(held); err == nil {
				err = fs.ErrExist
			} else {
				err = nil
			}
		} else {
			err = os.Mkdir(held, 0o700)
		}
		if err = errors.Join(err, db.Check(context.Background())); err == nil {
			_, err = nightsOf(context.Background(), db)
		}
		if !readOnly {
			_, compactErr := db.Compact(context.Background())
			err = errors.Join(err, compactErr, os.Remove(held))
		}
		if err = errors.Join(err, db.Close()); err != nil {
			fmt.Println("inside:", err)
			return 1
		}
		fmt.Printf("in after %d times locked out, read only %t\n", locked, readOnly)
		if !asked.Scan() {
			return 0
		}
	}
	fmt.Println("never let in")
	return 1
}
