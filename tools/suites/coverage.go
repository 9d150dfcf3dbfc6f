package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/tools/cover"
)

const (
	// minCoverage is the percentage of its statements of which tests must run more in each package that isn't a known gap.
	minCoverage = 90
	// gapClosed is the percentage at which a known gap isn't one any more. It is larger than minCoverage, because tests that wait for a
	// cluster run a few statements more or less each time.
	gapClosed = 92
)

// coverage is how many of the statements of a package tests run: those without a cluster, and all.
type coverage struct {
	pkg                    string
	statements, unit, both int
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(1, whole)) }

// coverageOf prints how much of each package tests run, by the profiles of the tests without a cluster and of all tests. It fails if a
// package has too little and isn't a known gap, or if a known gap is none.
func coverageOf(packages []string, gaps map[string]string, unitProfile, bothProfile string, out io.Writer) error {
	unit, err := readProfile(unitProfile)
	if err != nil {
		return err
	}
	both, err := readProfile(bothProfile)
	if err != nil {
		return err
	}
	var all []coverage
	total := coverage{pkg: "all"}
	for _, pkg := range packages {
		c := coverage{short(pkg), both[pkg].all, unit[pkg].ran, both[pkg].ran}
		all = append(all, c)
		total.statements, total.unit, total.both = total.statements+c.statements, total.unit+c.unit, total.both+c.both
	}
	slices.SortFunc(all, func(a, b coverage) int {
		return cmp.Or(cmp.Compare(percent(b.both, b.statements), percent(a.both, a.statements)), strings.Compare(a.pkg, b.pkg))
	})
	if err := printCoverage(out, append(all, total), gaps); err != nil {
		return err
	}
	return checkCoverage(out, all, gaps)
}

func printCoverage(out io.Writer, all []coverage, gaps map[string]string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nPACKAGE\tSTATEMENTS\tUNIT %\tBOTH %\tKNOWN GAP")
	for _, c := range all {
		fmt.Fprintf(w, "%s\t%d\t%.1f\t%.1f\t%s\n", c.pkg, c.statements, percent(c.unit, c.statements), percent(c.both, c.statements), gaps[c.pkg])
	}
	return w.Flush()
}

func checkCoverage(out io.Writer, all []coverage, gaps map[string]string) error {
	var failed failures
	fail := func(pkg, format string, args ...any) {
		fmt.Fprintf(out, "\nFAILED: %s "+format+"\n", append([]any{pkg}, args...)...)
		failed = append(failed, pkg)
	}
	measured := map[string]bool{}
	for _, c := range all {
		measured[c.pkg] = true
		known, p := gaps[c.pkg] != "", percent(c.both, c.statements)
		switch {
		case c.statements == 0:
			fail(c.pkg, "is in no test: nothing is known of it")
		case !known && p <= minCoverage:
			fail(c.pkg, "has tests of %.1f %% of its statements; more than %d %% are required, or a line among the known gaps", p, minCoverage)
		case known && p >= gapClosed:
			fail(c.pkg, "has tests of %.1f %% of its statements, and is no gap any more: remove its line from the known gaps", p)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(gaps)) {
		if !measured[pkg] {
			fail(pkg, "is a known gap, but isn't measured: remove its line")
		}
	}
	if len(failed) > 0 {
		return failed
	}
	return nil
}

// statements are how many a package has, and how many of them ran.
type statements struct{ all, ran int }

// readProfile reads the statements of each package.
func readProfile(file string) (map[string]statements, error) {
	profiles, err := cover.ParseProfiles(file)
	if err != nil {
		return nil, err
	}
	packages := map[string]statements{}
	for _, p := range profiles {
		of := packages[path.Dir(p.FileName)]
		for _, block := range p.Blocks {
			of.all += block.NumStmt
			if block.Count > 0 {
				of.ran += block.NumStmt
			}
		}
		packages[path.Dir(p.FileName)] = of
	}
	return packages, nil
}

// parseGaps reads the known gaps: in each line a package and the reason why its tests run too little of it.
func parseGaps(text string) (map[string]string, error) {
	gaps := map[string]string{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		pkg, reason, _ := strings.Cut(line, " ")
		if reason = strings.TrimSpace(reason); reason == "" {
			return nil, fmt.Errorf("line %d: %s has no reason", n, pkg)
		}
		if gaps[pkg] != "" {
			return nil, fmt.Errorf("line %d: %s has a line already", n, pkg)
		}
		gaps[pkg] = reason
	}
	return gaps, nil
}
