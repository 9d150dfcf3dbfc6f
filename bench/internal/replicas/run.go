package replicas

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/armature-dev/armature/bench/internal/lab"
)

// page is the name of the part of benchmarks.md that is written.
const page = "replicas"

// Main runs the benchmark and writes its part of docs/benchmarks.md.
func Main(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("replicas", flag.ContinueOnError)
	binary := f.String("devcluster", "../bin/devcluster", "the devcluster `binary`")
	crds := f.String("crds", "../config/crd", "the `directory` of the CRDs")
	docs := f.String("docs", "../docs", "the `directory` of benchmarks.md; empty prints the results")
	idle := f.Duration("idle", 5*time.Second, "how long requests are counted after the work is done")
	settle := f.Duration("settle", 6*time.Second, "how long an operator is given for its last requests, such as counts that may wait")
	warm := f.Bool("warm", true, "run the smallest number once before, to fill everybody's caches")
	clears := f.Bool("clear", true, "delete each run's namespace and wait until all of it is gone, "+
		"so that the next run has the cluster for itself")
	sizes := f.String("pods", "10,100,1000", "the numbers of pods, separated by commas")
	r := &results{}
	f.IntVar(&r.runs, "runs", 3, "how often each is run")
	f.IntVar(&r.nodes, "nodes", 200, "simulated nodes")
	f.IntVar(&r.bigN, "big", 10000, "pods of the big job; 0 leaves it out")
	if err := f.Parse(args); err != nil {
		return err
	}
	for text := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-pods: %q is no number of pods", text)
		}
		r.sizes = append(r.sizes, n)
	}
	cluster, err := lab.StartCluster(*binary, "--nodes", "0", "--fake-nodes", strconv.Itoa(r.nodes))
	if err != nil {
		return err
	}
	r.cluster = cluster.Version
	adjust := func(w *world) { w.idleTime, w.settle, w.warm, w.clears = *idle, *settle, *warm, *clears }
	if err := errors.Join(r.measure(ctx, cluster, *crds, adjust), cluster.Stop()); err != nil {
		return err
	}
	if *docs == "" {
		fmt.Print(r.page())
		return nil
	}
	return lab.WritePage(filepath.Join(*docs, "benchmarks.md"), page, r.page())
}

func (r *results) measure(ctx context.Context, cluster *lab.Cluster, crds string, set func(*world)) error {
	cfg, err := cluster.Config()
	if err != nil {
		return err
	}
	w, err := newWorld(ctx, cfg, crds)
	if err != nil {
		return err
	}
	set(w)
	ours, stopOurs, err := startArmature(ctx, cfg)
	if err != nil {
		return err
	}
	theirs, stopTheirs, err := startKubeflow(ctx, cfg)
	if err != nil {
		return errors.Join(err, stopOurs())
	}
	err = r.all(ctx, w, ours, theirs)
	// The big job is run without the other operator, whose caches would be in the same memory.
	err = errors.Join(err, stopTheirs())
	if err == nil && r.bigN > 0 {
		r.big, err = w.inNamespace(ctx, "big", func(namespace string) (outcome, error) { return w.run(ctx, ours, namespace, r.bigN) })
	}
	return errors.Join(err, stopOurs())
}

// all lets the peers take turns, each time in another order.
func (r *results) all(ctx context.Context, w *world, ours, theirs *operator) error {
	runs := []struct {
		peer peer
		run  func(namespace string, n int) (outcome, error)
	}{
		{bare, func(namespace string, n int) (outcome, error) { return w.bare(ctx, namespace, n) }},
		{armature, func(namespace string, n int) (outcome, error) { return w.run(ctx, ours, namespace, n) }},
		{kubeflowCommon, func(namespace string, n int) (outcome, error) { return w.run(ctx, theirs, namespace, n) }},
	}
	r.of = map[peer]map[int][]outcome{bare: {}, armature: {}, kubeflowCommon: {}}
	for turn := range r.runs + 1 { // the first only warms
		for _, n := range r.sizes {
			if turn == 0 && (n != r.sizes[0] || !w.warm) {
				continue
			}
			for _, one := range runs {
				out, err := w.inNamespace(ctx, "replicas", func(namespace string) (outcome, error) { return one.run(namespace, n) })
				if err != nil {
					return fmt.Errorf("%s, %d pods: %w", one.peer, n, err)
				}
				if turn == 0 {
					continue
				}
				fmt.Printf("%-16s %5d pods: created in %s, succeeded in %s; %s; idle: %s\n",
					one.peer, n, show(out.created), show(out.succeeded), list(out.requests), list(out.idle))
				r.of[one.peer][n] = append(r.of[one.peer][n], out)
			}
		}
		slices.Reverse(runs)
	}
	return nil
}

// inNamespace runs something in a namespace of its own, which is gone afterwards, if that was asked for.
func (w *world) inNamespace(ctx context.Context, prefix string, run func(namespace string) (outcome, error)) (outcome, error) {
	namespace, err := lab.Namespace(ctx, w.typed, prefix)
	if err != nil {
		return outcome{}, err
	}
	out, err := run(namespace)
	if err != nil || !w.clears {
		return out, err
	}
	return out, lab.Clear(ctx, w.typed, namespace, patience)
}
