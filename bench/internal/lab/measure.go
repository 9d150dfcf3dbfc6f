package lab

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

// Counter counts the requests of a connection.
type Counter struct {
	reads, writes atomic.Int64
}

// Watch makes the counter see the requests of a connection: all but events and the caches' own watches.
func (c *Counter) Watch(cfg *rest.Config) *rest.Config {
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

// Sample is what one time of something took.
type Sample struct {
	Reads, Writes int64 // requests
	Time          time.Duration
	CPU           time.Duration // of this process: unlike the time it does not depend on what else the machine does
	Allocs, Bytes uint64        // of this process
	Reached       bool          // what was wanted is there
}

// Measure does something n times and returns what one time took. What comes before each, to prepare it, isn't in it.
func (c *Counter) Measure(n int, prepare func(i int), do func(i int) error) (Sample, error) {
	var sum Sample
	var before, after runtime.MemStats
	for i := range n {
		prepare(i)
		runtime.GC() // what was thrown away before is not to be collected in the time that is measured
		reads, writes := c.reads.Load(), c.writes.Load()
		runtime.ReadMemStats(&before)
		cpu, start := cpuTime(), time.Now()
		if err := do(i); err != nil {
			return Sample{}, err
		}
		sum.Time += time.Since(start)
		sum.CPU += cpuTime() - cpu
		runtime.ReadMemStats(&after)
		sum.Allocs += after.Mallocs - before.Mallocs
		sum.Bytes += after.TotalAlloc - before.TotalAlloc
		sum.Reads += c.reads.Load() - reads
		sum.Writes += c.writes.Load() - writes
	}
	times := time.Duration(n)
	return Sample{
		Reads: rounded(sum.Reads, n), Writes: rounded(sum.Writes, n), Time: sum.Time / times, CPU: sum.CPU / times,
		Allocs: sum.Allocs / uint64(n), Bytes: sum.Bytes / uint64(n),
	}, nil
}

// rounded is the mean, rounded up: a single request is not none.
func rounded(sum int64, n int) int64 { return (sum + int64(n) - 1) / int64(n) }

// cpuTime is what this process has used so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Median takes each number's median by itself. What was wanted was reached if it was each time.
func Median(samples []Sample) Sample {
	out := Sample{Reached: true}
	for _, s := range samples {
		out.Reached = out.Reached && s.Reached
	}
	out.Reads = middle(samples, func(s Sample) int64 { return s.Reads })
	out.Writes = middle(samples, func(s Sample) int64 { return s.Writes })
	out.Time = middle(samples, func(s Sample) time.Duration { return s.Time })
	out.CPU = middle(samples, func(s Sample) time.Duration { return s.CPU })
	out.Allocs = middle(samples, func(s Sample) uint64 { return s.Allocs })
	out.Bytes = middle(samples, func(s Sample) uint64 { return s.Bytes })
	return out
}

func middle[T int64 | uint64 | time.Duration](samples []Sample, of func(Sample) T) T {
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
