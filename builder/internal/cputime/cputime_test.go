package cputime

import "testing"

func BenchmarkOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Of(func() {})
	}
}
