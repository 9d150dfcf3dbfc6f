package plans

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/benchmark/parse"

	"github.com/armature-dev/armature/bench/internal/lab"
)

// page is the name of the part of the page that is written.
const page = "plans"

// suites are packages of the root module, and which of their benchmarks are told of.
var suites = []struct{ title, dir, bench string }{
	{"JobFlow: a pass that changes nothing, compiling a graph, and the first pass", "./operators/jobflow", "."},
	{"DaemonJob", "./operators/daemonjob", "."},
	{"ReplicaJob", "./operators/replicajob", "."},
	{"FluxSetup: one pass of the queue", "./operators/fluxjob/internal/queue", "."},
	{"DSOI: a cluster that doesn't change", "./dsoi", "Unchanged"},
}

// Main runs the benchmarks and writes their part of docs/benchmarks.md.
func Main(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("plans", flag.ContinueOnError)
	root := f.String("root", "..", "the `directory` of the root module")
	docs := f.String("docs", "../docs", "the `directory` of benchmarks.md; empty prints the results")
	benchtime := f.String("benchtime", "1s", "as of go test")
	skip := f.String("skip", "", "as of go test: benchmarks to leave out")
	if err := f.Parse(args); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n", lab.Machine())
	for _, s := range suites {
		args := []string{"test", "-vet=off", "-ldflags=-s", s.dir, "-run", "^$", "-bench", s.bench, "-benchmem", "-benchtime", *benchtime}
		if *skip != "" {
			args = append(args, "-skip", *skip)
		}
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir, cmd.Stderr = *root, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", s.dir, err, out)
		}
		rows, err := table(out)
		if err != nil {
			return fmt.Errorf("%s: %w", s.dir, err)
		}
		fmt.Fprintf(&b, "\n%s:\n\n%s", s.title, rows)
	}
	if *docs == "" {
		fmt.Print(b.String())
		return nil
	}
	return lab.WritePage(filepath.Join(*docs, "benchmarks.md"), page, b.String())
}

// table shows what go test has printed.
func table(out []byte) (string, error) {
	set, err := parse.ParseSet(bytes.NewReader(out))
	if err != nil {
		return "", err
	}
	var all []*parse.Benchmark
	for _, same := range set {
		all = append(all, same...)
	}
	if len(all) == 0 {
		return "", fmt.Errorf("no benchmarks in the output:\n%s", out)
	}
	slices.SortFunc(all, func(a, b *parse.Benchmark) int { return a.Ord - b.Ord })
	var b strings.Builder
	b.WriteString("| | time | allocations |\n|---|---:|---:|\n")
	for _, r := range all {
		fmt.Fprintf(&b, "| %s | %s | %d |\n", nameOf(r.Name), show(r.NsPerOp), r.AllocsPerOp)
	}
	return b.String(), nil
}

// nameOf leaves out what all names have: "BenchmarkPlan/wide/1000-2" is "Plan, wide, 1000".
func nameOf(name string) string {
	name = strings.TrimPrefix(name, "Benchmark")
	if i := strings.LastIndex(name, "-"); i > 0 {
		name = name[:i]
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "/", ", "), "_", " ")
}

func show(ns float64) string {
	d := time.Duration(ns)
	if d < time.Millisecond {
		return fmt.Sprintf("%.1f µs", float64(d)/float64(time.Microsecond))
	}
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}
