package fairshare

import "testing"

func BenchmarkCPUTime(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		CPUTime(func() {})
	}
}
