package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const usage = `want one of
  put NAMESPACE STORE KEY VALUE
  get NAMESPACE STORE KEY
  load NAMESPACE STORE READERS DURATION    read keys again and again; fails if a read is lost`

// Commands are those that use a store.
var Commands = []string{"put", "get", "load"}

// RunCommand uses a store.
func RunCommand(ctx context.Context, args []string) error {
	if len(args) < 4 {
		return errors.New(usage)
	}
	api, err := newClient()
	if err != nil {
		return err
	}
	c := NewClient(api, args[1], args[2])
	switch {
	case args[0] == "put" && len(args) == 5:
		return c.Put(ctx, args[3], args[4])
	case args[0] == "get" && len(args) == 4:
		data, found, err := c.Get(ctx, args[3])
		if err == nil && !found {
			err = fmt.Errorf("%s has no value", args[3])
		}
		fmt.Println(data)
		return err
	case args[0] == "load" && len(args) == 5:
		var readers int
		if _, err := fmt.Sscan(args[3], &readers); err != nil {
			return fmt.Errorf("READERS is %q; want a number", args[3])
		}
		d, err := time.ParseDuration(args[4])
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		l, err := StartLoad(ctx, c, readers)
		if err != nil {
			return err
		}
		reads, lost := l.Wait()
		fmt.Fprintf(os.Stdout, "%d reads, %d lost\n", reads, lost)
		if lost > 0 {
			return fmt.Errorf("the first one: %w", l.first)
		}
		return nil
	default:
		return errors.New(usage)
	}
}

// Load reads keys again and again.
type Load struct {
	group       sync.WaitGroup
	reads, lost atomic.Int64
	once        sync.Once
	first       error
}

// keysOfLoad is how many keys a load has.
const keysOfLoad = 50

// StartLoad writes some keys, and lets readers read them until ctx ends.
func StartLoad(ctx context.Context, c *Client, readers int) (*Load, error) {
	for i := range keysOfLoad {
		if err := c.Put(ctx, keyOfLoad(i), fmt.Sprint("value of ", i)); err != nil {
			return nil, err
		}
	}
	l := &Load{}
	for r := range readers {
		l.group.Go(func() {
			for i := r; ctx.Err() == nil; i++ {
				l.read(ctx, c, i%keysOfLoad)
			}
		})
	}
	return l, nil
}

func keyOfLoad(i int) string { return fmt.Sprint("load-", i) }

func (l *Load) read(ctx context.Context, c *Client, i int) {
	data, found, err := c.Get(ctx, keyOfLoad(i))
	switch {
	case ctx.Err() != nil:
		return
	case err == nil && (!found || data != fmt.Sprint("value of ", i)):
		err = fmt.Errorf("%s has %q (found: %t)", keyOfLoad(i), data, found)
	}
	l.reads.Add(1)
	if err != nil {
		l.lost.Add(1)
		l.once.Do(func() { l.first = err })
	}
}

// Wait returns how many reads there were, and how many of them did not get their value.
func (l *Load) Wait() (reads, lost int64) {
	l.group.Wait()
	return l.reads.Load(), l.lost.Load()
}

// First is what went wrong with the first read that was lost.
func (l *Load) First() error { return l.first }

func readAll(r *http.Response) (string, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 2<<20))
	return string(body), err
}
