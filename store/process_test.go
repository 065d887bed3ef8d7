package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gputide/gputide"
	"github.com/gputide/gputide/store"
)

// The tests of more than one process run this binary again with these set.
const (
	envChild = "GPUTIDE_STORE_CHILD" // what the child does: open, read, write, compact, tryread, trywrite
	envPath  = "GPUTIDE_STORE_PATH"
	envFrom  = "GPUTIDE_STORE_FROM" // first night the child writes
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(envChild); mode != "" {
		os.Exit(child(mode, os.Getenv(envPath)))
	}
	os.Exit(m.Run())
}

// child returns 0 when it could do what was asked, 3 when the database was in
// use and 1 for anything else.
func child(mode, path string) int {
	if mode == "tryread" || mode == "trywrite" {
		return tryOpen(path, mode == "tryread")
	}
	db, err := store.Open(path, store.Options{ReadOnly: mode == "read", LockTimeout: 300 * time.Millisecond})
	if errors.Is(err, gputide.ErrStoreLocked) {
		fmt.Println(err)
		return 3
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer db.Close()
	if mode != "write" && mode != "compact" {
		return 0
	}
	from, _ := strconv.Atoi(os.Getenv(envFrom))
	for n := from; ; n++ {
		run := killRun(n)
		fmt.Printf("mark %d\n", n)
		if _, err := db.CommitRun(context.Background(), run); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Printf("ack %d\n", n)
		if mode == "write" {
			continue
		}
		fmt.Printf("compact %d\n", n)
		if _, err := db.Compact(context.Background()); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Printf("done %d\n", n)
	}
}

func childCommand(t *testing.T, mode, path string, from int) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), envChild+"="+mode, envPath+"="+path, envFrom+"="+strconv.Itoa(from))
	return cmd
}

func TestSecondProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gputide.db")
	try := func(mode string) (int, string) {
		t.Helper()
		start := time.Now()
		out, err := childCommand(t, mode, path, 0).CombinedOutput()
		if time.Since(start) > 10*time.Second {
			t.Errorf("%s answered after %s", mode, time.Since(start))
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return exit.ExitCode(), string(out)
		}
		return 0, string(out)
	}
	if code, out := try("read"); code != 1 || !strings.Contains(out, "gputide crawl") {
		t.Errorf("reading a database that is not there: exit %d, %s", code, out)
	}
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"open", "read"} {
		if code, out := try(mode); code != 3 || !strings.Contains(out, "daemon") {
			t.Errorf("%s beside a writer: exit %d, %s", mode, code, out)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	reader := openAt(t, path, store.Options{ReadOnly: true})
	if code, out := try("read"); code != 0 {
		t.Errorf("read beside a reader: exit %d, %s", code, out)
	}
	if code, out := try("open"); code != 3 {
		t.Errorf("write beside a reader: exit %d, %s", code, out)
	}
	if _, err := reader.CommitRun(t.Context(), killRun(0)); !errors.Is(err, gputide.ErrInvalid) {
		t.Errorf("a write to a reader: %v, want ErrInvalid", err)
	}
}

// A lock on the database file stays with its inode: a file renamed over it, as
// compaction and restore do, would be open to a second writer.
func TestLockOutlivesRename(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gputide.db")
	db := openAt(t, path, store.Options{})
	copied, err := os.Create(filepath.Join(dir, "copy"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Snapshot(copied), copied.Close(), os.Rename(copied.Name(), path)); err != nil {
		t.Fatal(err)
	}
	out, err := childCommand(t, "open", path, 0).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 {
		t.Errorf("a second writer after a rename: %v, %s", err, out)
	}
}

const killOffers = 400

func killNight(n int) time.Time { return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n) }

func killPrice(n int) gputide.Nano { return gputide.Nano(1_000_000 * (n + 1)) }

// killRun is the run of night n: every price of the night is told by its number,
// so a half-written night shows.
func killRun(n int) *gputide.Run {
	r := &gputide.Run{
		Provider: "acme", At: killNight(n), Cause: gputide.CauseCrawl, Cadence: 24 * time.Hour,
		Scopes: []gputide.ScopeRun{{Scope: gputide.Scope{Market: gputide.Spot}, Status: gputide.ScopeDone, Source: "api", Count: killOffers}},
	}
	for i := range killOffers {
		price := killPrice(n)
		r.Offers = append(r.Offers, gputide.Offer{
			Key:   gputide.Key{Provider: "acme", InstanceType: fmt.Sprintf("t%03d", i), Market: gputide.Spot, Stat: gputide.StatList, Currency: "USD"},
			Price: price, Source: "api", SKU: fmt.Sprintf("s%d-%d", i, n),
			Published: gputide.Published{Amount: price.String(), Unit: gputide.PerHour, Basis: gputide.BasisInstance},
		})
	}
	return r
}

// TestKill kills a writer again and again while it commits. Every night it
// acknowledged must be whole, none half, and the next night must come out as in
// a database that was never killed. GPUTIDE_KILLS sets how many kills must fall
// inside a commit.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	testKill(t, "write", 20)
}

// TestKillCompaction is TestKill with a writer that compacts after every night
// and is killed while it does.
func TestKillCompaction(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for some seconds")
	}
	testKill(t, "compact", 20)
}

func testKill(t *testing.T, mode string, want int) {
	if n, err := strconv.Atoi(os.Getenv("GPUTIDE_KILLS")); err == nil {
		want = n
	}
	path := filepath.Join(t.TempDir(), "killed.db")
	rng := rand.New(rand.NewPCG(1, 1))
	inside, kills, next := 0, 0, 0
	for inside < want {
		if kills++; kills > 20*want {
			t.Fatalf("%d of %d kills fell inside a %s", inside, kills, mode)
		}
		k := killOnce(t, mode, path, next, rng)
		if k.inside {
			inside++
		}
		nights := wholeNights(t, path)
		if nights < k.acked+1 || nights > k.marked+1 {
			t.Fatalf("acknowledged through night %d, marked %d, but %d nights are stored", k.acked, k.marked, nights)
		}
		if list, err := filepath.Glob(path + ".*"); err != nil || !slices.Equal(list, []string{path + ".lock"}) {
			t.Fatalf("files left: %q, %v", list, err)
		}
		next = nights
	}
	t.Logf("%d kills, %d inside a %s, %d nights", kills, inside, mode, next)
	killed, twin := openAt(t, path, store.Options{}), open(t, store.Options{})
	for n := range next {
		mustCommit(t, twin, killRun(n))
	}
	mustCommit(t, killed, killRun(next))
	mustCommit(t, twin, killRun(next))
	if a, b := exported(t, killed), exported(t, twin); !slices.Equal(a, b) {
		t.Errorf("the killed database has %d observations, its twin %d, or they differ", len(a), len(b))
	}
}

// killed is what a writer that was killed had told.
type killed struct {
	acked, marked int  // last night acknowledged and begun; from - 1 for none
	inside        bool // it had begun what it was to be killed in, and not ended
}

// killOnce runs a writer and kills it in a commit or a compaction.
func killOnce(t *testing.T, mode, path string, from int, rng *rand.Rand) killed {
	t.Helper()
	cmd := childCommand(t, mode, path, from)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begin, end, longest := "mark", "ack", 4000
	if mode == "compact" {
		begin, end, longest = "compact", "done", 30_000
	}
	k := killed{acked: from - 1, marked: from - 1}
	stop := from + rng.IntN(3)
	for lines := bufio.NewScanner(out); lines.Scan(); { // to what it wrote before it died
		word, num, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.Atoi(num)
		if err != nil {
			t.Fatalf("child: %s", lines.Text())
		}
		switch word {
		case "mark":
			k.marked = n
		case "ack":
			k.acked = n
		}
		if word == begin || word == end {
			k.inside = word == begin
		}
		if word == begin && n == stop {
			spin(time.Duration(rng.IntN(longest)) * time.Microsecond)
			_ = cmd.Process.Kill()
		}
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait()
	return k
}

// spin waits without giving the processor up: a kill must fall at a moment a
// scheduler does not choose.
func spin(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

// wholeNights checks a database and returns how many nights are in it, each with
// every offer at the price of the night.
func wholeNights(t *testing.T, path string) int {
	t.Helper()
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	nights, err := nightsOf(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return nights
}

func nightsOf(ctx context.Context, db *store.DB) (int, error) {
	nights := -1
	for s, err := range db.Export(ctx) {
		if err != nil {
			return 0, err
		}
		if nights >= 0 && len(s.Times) != nights {
			return 0, fmt.Errorf("%s has %d nights, others %d", s.Key.InstanceType, len(s.Times), nights)
		}
		nights = len(s.Times)
		for n := range s.Times {
			if s.Times[n] != killNight(n).Unix() || s.Prices[n] != killPrice(n) {
				return 0, fmt.Errorf("night %d of %s: %d at %d", n, s.Key.InstanceType, s.Prices[n], s.Times[n])
			}
		}
	}
	return max(nights, 0), nil
}

func mustCommit(t *testing.T, db *store.DB, r *gputide.Run) gputide.CommitResult {
	t.Helper()
	res, err := db.CommitRun(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// exported returns every observation as text, in order.
func exported(t *testing.T, db *store.DB) []string {
	t.Helper()
	var out []string
	for s, err := range db.Export(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Times {
			out = append(out, fmt.Sprintf("%s %s %d %s", s.ID(), s.State, s.Times[i], s.Prices[i]))
		}
	}
	slices.Sort(out)
	return out
}
