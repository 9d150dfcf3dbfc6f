package logscmd

import (
	"container/heap"
	"context"
	"errors"
	"io"
)

// printAll prints what containers have printed until now, in the order of time. All logs are open at once, and of each one line
// is held.
func (s *source) printAll(ctx context.Context, runs []runOf, p *printer) error {
	var queue heads
	var errs []error
	for _, r := range runs {
		l, err := s.open(ctx, r, false)
		if err != nil {
			errs = append(errs, err) // the others are printed all the same
			continue
		}
		defer l.closer.Close()
		if e, err := l.next(); err == nil {
			queue = append(queue, head{e, l})
		} else if !errors.Is(err, io.EOF) {
			errs = append(errs, err)
		}
	}
	heap.Init(&queue)
	for len(queue) > 0 {
		first := queue[0]
		if err := p.print(first.entry); err != nil {
			return err
		}
		e, err := first.lines.next()
		if err == nil {
			if e.at.IsZero() {
				e.at = first.at // a line without a time belongs to the one before
			}
			queue[0].entry = e
			heap.Fix(&queue, 0)
			continue
		}
		if !errors.Is(err, io.EOF) {
			errs = append(errs, err)
		}
		heap.Pop(&queue)
	}
	return errors.Join(errs...)
}

// head is the next line of a log.
type head struct {
	entry
	lines *lines
}

// heads is a heap of them, the oldest first.
type heads []head

func (h heads) Len() int           { return len(h) }
func (h heads) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h heads) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a head.
func (h *heads) Push(x any) { *h = append(*h, x.(head)) }

// Pop takes the last away.
func (h *heads) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
