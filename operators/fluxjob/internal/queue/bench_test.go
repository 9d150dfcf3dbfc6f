package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// waitingJobs returns a full queue with so many jobs that wait.
func waitingJobs(n int, strict bool) State {
	s := State{Now: noon, Setups: []Setup{{
		Quota: Amounts{1000, 4000, 16_000_000, Unlimited}, Borrow: make(Amounts, 4), Lend: make(Amounts, 4), Strict: strict, Preempts: true,
	}}}
	for i := range 1000 {
		s.Holders = append(s.Holders, holder(i, 0, int32(i%3), 1, 4, 16_000, 1<<30))
	}
	for i := range n {
		j := job(0, 0, int32(i*7%5), 1, 4, 16_000, 1<<30)
		j.Name = fmt.Sprintf("job-%d", i*7919%n)
		j.Since = noon.Add(time.Duration(i*104729%n) * time.Second)
		s.Jobs = append(s.Jobs, j)
	}
	return s
}

// BenchmarkDecide is one pass over a full queue: no one is admitted, and all are looked at.
func BenchmarkDecide(b *testing.B) {
	for _, strict := range []bool{true, false} {
		for _, n := range []int{1000, 10_000, 20_000, 100_000} {
			s := waitingJobs(n, strict)
			for i := range s.Holders {
				s.Holders[i].Priority = 9
			}
			b.Run(fmt.Sprintf("strict=%t/waiting=%d", strict, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if d := Decide(s); len(d.Admitted) > 0 {
						b.Fatal("there is no room")
					}
				}
			})
		}
	}
}

// BenchmarkDecideAdmitting is a pass over an empty queue, which admits as many as fit.
func BenchmarkDecideAdmitting(b *testing.B) {
	for _, n := range []int{1000, 10_000, 20_000, 100_000} {
		s := waitingJobs(n, false)
		s.Holders = nil
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			for b.Loop() {
				if d := Decide(s); len(d.Admitted) != 1000 {
					b.Fatal("1000 fit")
				}
			}
		})
	}
}

// BenchmarkDecidePreempting is a pass in which the waiting push out hundreds.
func BenchmarkDecidePreempting(b *testing.B) {
	for _, n := range []int{1000, 10_000, 20_000, 100_000} {
		s := waitingJobs(n, false)
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			for b.Loop() {
				if d := Decide(s); len(d.Evicted) == 0 {
					b.Fatal("some have a lower priority")
				}
			}
		})
	}
}

// BenchmarkDecideMixed is a pass over jobs of all sizes and priorities, of which some push out others and most look in
// vain for someone to push out.
func BenchmarkDecideMixed(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1000, 10_000, 20_000, 100_000} {
		s := waitingJobs(n, false)
		for i := range s.Holders {
			s.Holders[i].Priority = int32(random.IntN(5))
			s.Holders[i].Holds = Amounts{1, random.Int64N(8), random.Int64N(32_000), 0}
		}
		for i := range s.Jobs {
			s.Jobs[i].Priority = int32(random.IntN(5))
			s.Jobs[i].Needs = Amounts{1, random.Int64N(64), random.Int64N(256_000), 0}
		}
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			for b.Loop() {
				Decide(s)
			}
		})
	}
}

// BenchmarkDecideInVain is a pass over jobs that all look in vain for someone to push out, none of which needs as much of
// everything as another.
func BenchmarkDecideInVain(b *testing.B) {
	for _, n := range []int{1000, 10_000, 20_000, 100_000} {
		s := waitingJobs(n, false)
		for i := range s.Holders {
			s.Holders[i].Priority = int32(i % 10)
		}
		for i := range s.Jobs {
			s.Jobs[i].Priority = int32(1 + i%5)
			s.Jobs[i].Needs = Amounts{1, 3000 + int64(i)*900/int64(n), 15_000_000 - int64(i), 0}
		}
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			for b.Loop() {
				if d := Decide(s); len(d.Evicted) > 0 {
					b.Fatal("there is no one to push out")
				}
			}
		})
	}
}
