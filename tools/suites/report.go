package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// slowest is how many of the slowest tests are told.
const slowest = 20

// failures are the names of the suites that failed, or of the packages, as the report says by itself.
type failures []string

func (f failures) Error() string { return "failed: " + strings.Join(f, ", ") }

// report prints how the suites went. It fails if one of them failed.
func report(dir string, names []string, out io.Writer) error {
	var suites []*suite
	var total count
	var failed failures
	for _, name := range names {
		s, err := readSuite(dir, name)
		if err != nil {
			return err
		}
		suites = append(suites, s)
		total = total.plus(s.count())
		if s.failed() {
			total.failed += max(0, 1-s.count().failed) // the suite itself, if not a test of it
			failed = append(failed, name)
		}
	}
	for _, s := range suites {
		s.printFailed(out)
	}
	if err := printTable(out, suites); err != nil {
		return err
	}
	printSlowest(out, suites)
	for _, s := range suites {
		s.printFlaky(out)
	}
	if len(failed) > 0 {
		fmt.Fprintf(out, "\nFAILED: %s\n", strings.Join(failed, ", "))
	}
	fmt.Fprintf(out, "\n%d passed, %d failed, %d skipped\n", total.passed, total.failed, total.skipped)
	if len(failed) > 0 {
		return failed
	}
	return nil
}

func printTable(out io.Writer, suites []*suite) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nSUITE\tPACKAGE\tPASSED\tFAILED\tFLAKY\tSKIPPED\tTIME\tCPU\t")
	var whole count
	var took, cpu time.Duration
	for _, s := range suites {
		c := s.count()
		whole = whole.plus(c)
		if s.end == nil {
			fmt.Fprintf(w, "%s\t\t%d\t%d\t%d\t%d\t\t\tNOT RUN TO ITS END\n", s.name, c.passed, c.failed, c.flaky, c.skipped)
		} else {
			took += seconds(s.end.Seconds)
			cpu += seconds(s.end.CPU)
			row(w, s.name, "", c, round(seconds(s.end.Seconds)), round(seconds(s.end.CPU)), s.failed())
		}
		for _, p := range s.slowestFirst() {
			time := round(p.took)
			if p.cached {
				time = "cached"
			}
			row(w, "", p.short(), p.count(), time, "", p.count().failed > 0)
		}
	}
	row(w, "all", "", whole, round(took), round(cpu), whole.failed > 0)
	return w.Flush()
}

func row(w io.Writer, suite, name string, c count, took, cpu string, failed bool) {
	outcome := ""
	if failed {
		outcome = "FAILED"
	}
	fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", suite, name, c.passed, c.failed, c.flaky, c.skipped, took, cpu, outcome)
}

func printSlowest(out io.Writer, suites []*suite) {
	var tests []*test
	for _, s := range suites {
		for _, p := range s.packages {
			if !p.cached {
				tests = append(tests, p.leaves()...)
			}
		}
	}
	slices.SortFunc(tests, func(a, b *test) int {
		return cmp.Or(cmp.Compare(b.took(), a.took()), strings.Compare(a.pkg+a.name, b.pkg+b.name))
	})
	tests = tests[:min(slowest, len(tests))]
	fmt.Fprintf(out, "\nThe %d slowest tests:\n", len(tests))
	for _, t := range tests {
		fmt.Fprintf(out, "%8s  %s %s\n", round(t.took()), short(t.pkg), t.name)
	}
}

// printFailed prints what failed, with its output.
func (s *suite) printFailed(out io.Writer) {
	for _, p := range s.slowestFirst() {
		for _, t := range p.leaves() {
			if t.failed() {
				fmt.Fprintf(out, "\nFAILED: %s %s\n%s", p.short(), t.name, &t.last().output)
			}
		}
		if p.failed {
			fmt.Fprintf(out, "\nFAILED: %s\n%s", p.short(), &p.output)
		}
	}
	if s.end == nil {
		fmt.Fprintf(out, "\nFAILED: the suite %s was not run to its end\n", s.name)
	} else if s.end.Error != "" {
		fmt.Fprintf(out, "\nFAILED: the suite %s: %s\n", s.name, s.end.Error)
	}
}

// printFlaky prints what failed and then passed, with its output when it failed.
func (s *suite) printFlaky(out io.Writer) {
	for _, p := range s.slowestFirst() {
		for _, t := range p.leaves() {
			if t.flaky() {
				fmt.Fprintf(out, "\n*** FLAKY *** %s %s failed, and passed when it was run again. Fix it now: hack/stress.sh %s -run '^%s$'\n%s",
					p.short(), t.name, p.short(), strings.ReplaceAll(t.name, "/", "$/^"), &t.runs[0].output)
			}
		}
	}
}

// took is how long it took the first time.
func (t *test) took() time.Duration {
	if len(t.runs) == 0 {
		return 0
	}
	return t.runs[0].took
}

func (p *pkg) short() string { return short(p.name) }

// short is the name of a package without what all of them begin with.
func short(pkg string) string { return strings.TrimPrefix(pkg, "github.com/armature-dev/armature/") }

func round(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
