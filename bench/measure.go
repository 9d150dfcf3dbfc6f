package main

import (
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
)

// counter counts the requests of a connection.
type counter struct {
	reads, writes atomic.Int64
}

// watch makes the counter see the requests of a connection: all but events and the caches' own watches.
func (c *counter) watch(cfg *rest.Config) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/events") || strings.Contains(r.URL.RawQuery, "watch="):
			case r.Method == http.MethodGet:
				c.reads.Add(1)
			default:
				c.writes.Add(1)
			}
			return next.RoundTrip(r)
		})
	}
	return cfg
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// sample is what one pass took.
type sample struct {
	reads, writes int64
	time          time.Duration
	cpu           time.Duration // of this process: unlike the time it does not depend on what else the machine does
	allocs, bytes uint64
	reached       bool // what was wanted is there
}

// measure runs something n times and returns what one time took.
func (c *counter) measure(n int, do func(i int) error) (sample, error) {
	runtime.GC()
	var before, after runtime.MemStats
	reads, writes := c.reads.Load(), c.writes.Load()
	runtime.ReadMemStats(&before)
	cpu, start := cpuTime(), time.Now()
	for i := range n {
		if err := do(i); err != nil {
			return sample{}, err
		}
	}
	took, cpu := time.Since(start), cpuTime()-cpu
	runtime.ReadMemStats(&after)
	return sample{
		reads: (c.reads.Load() - reads) / int64(n), writes: (c.writes.Load() - writes) / int64(n),
		time: took / time.Duration(n), cpu: cpu / time.Duration(n),
		allocs: (after.Mallocs - before.Mallocs) / uint64(n), bytes: (after.TotalAlloc - before.TotalAlloc) / uint64(n),
	}, nil
}

// cpuTime is what this process has used so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// median takes each number's median by itself. What was wanted was reached if it was each time.
func median(samples []sample) sample {
	out := sample{reached: true}
	for _, s := range samples {
		out.reached = out.reached && s.reached
	}
	out.reads = middle(samples, func(s sample) int64 { return s.reads })
	out.writes = middle(samples, func(s sample) int64 { return s.writes })
	out.time = middle(samples, func(s sample) time.Duration { return s.time })
	out.cpu = middle(samples, func(s sample) time.Duration { return s.cpu })
	out.allocs = middle(samples, func(s sample) uint64 { return s.allocs })
	out.bytes = middle(samples, func(s sample) uint64 { return s.bytes })
	return out
}

func middle[T int64 | uint64 | time.Duration](samples []sample, of func(sample) T) T {
	if len(samples) == 0 {
		return 0
	}
	var all []T
	for _, s := range samples {
		all = append(all, of(s))
	}
	slices.Sort(all)
	return all[len(all)/2]
}
