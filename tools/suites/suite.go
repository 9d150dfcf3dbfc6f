package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// suite is how a suite went.
type suite struct {
	name     string
	packages map[string]*pkg
	builds   map[string]string // what the compiler said, by what was built
	end      *end              // nil if it didn't run to its end
}

// pkg is how a package went.
type pkg struct {
	name   string
	tests  map[string]*test
	output output // outside of its tests
	took   time.Duration
	cached bool // it didn't run, since it passed before
	failed bool // outside of its tests

	failedTestSince bool // in the run of the package that is being read
}

// test is how a test went, or a subtest.
type test struct {
	pkg, name string
	runs      []attempt
}

// attempt is one run of a test.
type attempt struct {
	result string // pass, fail, skip, or nothing if it didn't end
	output output
	took   time.Duration
}

// maxOutput is how much of an output's beginning is kept, and of its end, in bytes. The events have all of it.
const maxOutput = 64 << 10

// output is what was printed, without the middle if it is long: one message can have hundreds of megabytes.
type output struct {
	begin, end []byte
	cut        int // the bytes between
}

func (o *output) add(printed string) {
	n := min(len(printed), maxOutput-len(o.begin))
	o.begin, o.end = append(o.begin, printed[:n]...), append(o.end, printed[n:]...)
	if over := len(o.end) - maxOutput; over > maxOutput { // not each time, as it copies the rest
		o.end, o.cut = slices.Delete(o.end, 0, over), o.cut+over
	}
}

func (o *output) String() string {
	over := max(0, len(o.end)-maxOutput)
	if o.cut+over == 0 {
		return string(o.begin) + string(o.end)
	}
	return fmt.Sprintf("%s\n... %d bytes are left out here; the events have them ...\n%s", o.begin, o.cut+over, o.end[over:])
}

func (t *test) last() *attempt {
	if len(t.runs) == 0 {
		t.runs = append(t.runs, attempt{})
	}
	return &t.runs[len(t.runs)-1]
}

// failed says that it did, each time that it ran, or that it didn't end.
func (t *test) failed() bool { return t.last().result != "pass" && t.last().result != "skip" }

// flaky says that it failed at first.
func (t *test) flaky() bool {
	return !t.failed() && t.runs[0].result != "pass" && t.runs[0].result != "skip"
}

// count says how many tests passed, failed and were skipped. A test that has subtests isn't one itself, unless it fails and they don't.
type count struct{ passed, failed, skipped, flaky int }

func (c count) plus(d count) count {
	return count{c.passed + d.passed, c.failed + d.failed, c.skipped + d.skipped, c.flaky + d.flaky}
}

// leaves are the tests that count, in the order of their names.
func (p *pkg) leaves() []*test {
	parents := map[string]bool{}
	troubled := map[string]bool{} // by a subtest
	for name, t := range p.tests {
		for i, r := range name {
			if r == '/' {
				parents[name[:i]] = true
				troubled[name[:i]] = troubled[name[:i]] || t.failed() || t.flaky()
			}
		}
	}
	var leaves []*test
	for _, name := range slices.Sorted(maps.Keys(p.tests)) {
		t := p.tests[name]
		if !parents[name] || (t.failed() || t.flaky()) && !troubled[name] {
			leaves = append(leaves, t)
		}
	}
	return leaves
}

func (p *pkg) count() count {
	var c count
	if p.failed {
		c.failed++
	}
	for _, t := range p.leaves() {
		switch {
		case t.failed():
			c.failed++
		case t.last().result == "skip":
			c.skipped++
		default:
			c.passed++
		}
		if t.flaky() {
			c.flaky++
		}
	}
	return c
}

func (s *suite) count() count {
	var c count
	for _, p := range s.packages {
		c = c.plus(p.count())
	}
	return c
}

// slowestFirst are the packages that have tests, or failed without.
func (s *suite) slowestFirst() []*pkg {
	var found []*pkg
	for _, p := range s.packages {
		if len(p.tests) > 0 || p.failed {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b *pkg) int { return cmp.Or(cmp.Compare(b.took, a.took), strings.Compare(a.name, b.name)) })
	return found
}

// failed says that the suite did, or that it isn't known.
func (s *suite) failed() bool { return s.end == nil || s.end.Error != "" || s.count().failed > 0 }
