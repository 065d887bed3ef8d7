package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gputide/gputide/crawler"
)

// The rhythm of the progress line.
const (
	progressAfter = time.Second // work shorter than this shows none
	progressEvery = 200 * time.Millisecond
	progressWidth = 79
)

// progress is one line on a terminal that says how far a crawl, or other work, has
// come.
type progress struct {
	w     io.Writer
	text  func() string // what the line says now
	total int

	mu   sync.Mutex
	seen map[string]map[string]crawler.Progress // provider → source

	done chan struct{}
	gone sync.WaitGroup
}

// startProgress starts the line when standard error is a terminal; else its
// updates are counted and not shown.
func (m *Main) startProgress(total int) *progress {
	p := &progress{w: m.Stderr, total: total, seen: map[string]map[string]crawler.Progress{}, done: make(chan struct{})}
	p.text = p.line
	p.start()
	return p
}

// startLine is startProgress for other work: text says how far it has come and is
// called from another goroutine.
func (m *Main) startLine(text func() string) *progress {
	p := &progress{w: m.Stderr, text: text, done: make(chan struct{})}
	p.start()
	return p
}

func (p *progress) start() {
	if isTerminal(p.w) {
		p.gone.Go(p.show)
	}
}

func (p *progress) update(u crawler.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen[u.Provider] == nil {
		p.seen[u.Provider] = map[string]crawler.Progress{}
	}
	p.seen[u.Provider][u.Source] = u
}

// stop ends the line and clears it.
func (p *progress) stop() {
	close(p.done)
	p.gone.Wait()
}

func (p *progress) show() {
	wait := time.NewTimer(progressAfter)
	defer wait.Stop()
	select {
	case <-p.done:
		return
	case <-wait.C:
	}
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		fmt.Fprintf(p.w, "\r\x1b[K%s", p.text())
		select {
		case <-p.done:
			fmt.Fprint(p.w, "\r\x1b[K")
			return
		case <-tick.C:
		}
	}
}

// line words the state of the crawl, the providers with the most bytes first.
func (p *progress) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	type sum struct {
		name        string
		rows, bytes int64
	}
	var sums []sum
	for name, sources := range p.seen {
		s := sum{name: name}
		for _, u := range sources {
			s.rows += u.Rows
			s.bytes += u.Bytes
		}
		sums = append(sums, s)
	}
	slices.SortFunc(sums, func(a, b sum) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.name, b.name))
	})
	parts := []string{fmt.Sprintf("crawling %d of %d providers", len(sums), p.total)}
	for _, s := range sums {
		parts = append(parts, fmt.Sprintf("%s %d rows %s", s.name, s.rows, bytesText(s.bytes)))
	}
	line := clean(strings.Join(parts, "  "))
	if r := []rune(line); len(r) > progressWidth {
		line = string(r[:progressWidth-1]) + "…"
	}
	return line
}
