package jobs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/bench/internal/lab"
)

// page is the name of the part of the page that is written.
const page = "jobs"

// Main runs the benchmark and writes its part of docs/benchmarks.md.
func Main(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("jobs", flag.ContinueOnError)
	binary := f.String("devcluster", "../bin/devcluster", "the devcluster `binary`")
	crds := f.String("crds", "../config/crd", "the `directory` of the CRDs")
	docs := f.String("docs", "../docs", "the `directory` of benchmarks.md; empty prints the results")
	runs := f.Int("runs", 3, "how often each is run")
	r := results{}
	f.IntVar(&r.n, "jobs", 1000, "Jobs of the wide flow")
	f.IntVar(&r.nodes, "nodes", 2000, "simulated nodes")
	f.IntVar(&r.chainN, "chain", 20, "Jobs of a chain")
	f.IntVar(&r.bigN, "big", 10000, "Jobs of the big flow; 0 leaves it out")
	only := f.String("only", "", "a `regular expression` of the parts to run: wide, daemon, chain, waiting, handover, big. "+
		"The page stays as it is then")
	f.BoolVar(&r.clear, "clear", true, "delete each run's namespace and wait until all of it is gone, "+
		"so that the next run has the cluster for itself")
	f.DurationVar(&r.idleTime, "idle", 5*time.Second, "how long requests are counted after the work is done")
	if err := f.Parse(args); err != nil {
		return err
	}
	var err error
	if r.only, err = regexp.Compile(*only); err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	r.runs = *runs
	cluster, err := lab.StartCluster(*binary, "--nodes", "0", "--fake-nodes", strconv.Itoa(r.nodes))
	if err != nil {
		return err
	}
	r.cluster = cluster.Version
	err = errors.Join(r.measure(ctx, cluster, *crds), cluster.Stop())
	if err != nil {
		return err
	}
	switch {
	case *only != "":
		return nil
	case *docs == "":
		fmt.Print(r.page())
		return nil
	}
	return lab.WritePage(filepath.Join(*docs, "benchmarks.md"), page, r.page())
}

func (r *results) measure(ctx context.Context, cluster *lab.Cluster, crds string) error {
	cfg, err := cluster.Config()
	if err != nil {
		return err
	}
	w, err := newWorld(ctx, cfg, crds)
	if err != nil {
		return err
	}
	w.idleTime, w.clears = r.idleTime, r.clear
	counter := &lab.Requests{}
	stop, err := startManager(ctx, counter.Watch(cfg))
	if err != nil {
		return err
	}
	return errors.Join(r.all(ctx, w, counter), stop())
}

func (r *results) all(ctx context.Context, w *world, counter *lab.Requests) error {
	if _, err := w.wide(ctx, counter, 0, min(r.n, 100)); err != nil { // warms everybody's caches
		return err
	}
	for turn := range r.runs {
		for _, s := range []struct {
			name string
			to   *[]pair
			run  func() (pair, error)
		}{
			{"wide", &r.wide, func() (pair, error) { return w.wide(ctx, counter, turn, r.n) }},
			{"daemon", &r.daemon, func() (pair, error) { return w.daemon(ctx, counter, turn) }},
			{"chain", &r.chain, func() (pair, error) { return w.chain(ctx, counter, turn, r.chainN, v1alpha1.EndOfJobPods) }},
			{"waiting", &r.waiting, func() (pair, error) { return w.chain(ctx, counter, turn, r.chainN, v1alpha1.EndOfJobCondition) }},
		} {
			if !r.only.MatchString(s.name) {
				continue
			}
			p, err := s.run()
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			fmt.Printf("%-15s bare %s, %s; Armature %s, %s; idle: %s\n", s.name, show(p.bare.created), show(p.bare.succeeded),
				show(p.ours.created), show(p.ours.succeeded), list(p.ours.idle))
			*s.to = append(*s.to, p)
		}
		if !r.only.MatchString("handover") {
			continue
		}
		h, err := w.handover(ctx, counter, turn, r.chainN)
		if err != nil {
			return fmt.Errorf("handover: %w", err)
		}
		fmt.Printf("%-15s bare %s; Armature %s, by default %s\n", "handover", spread(h.bare), spread(h.waiting), spread(h.early))
		r.handover.add(h)
	}
	if r.bigN == 0 || !r.only.MatchString("big") {
		return nil
	}
	var err error
	if r.big, r.heap, err = w.big(ctx, counter, r.bigN); err != nil {
		return fmt.Errorf("big: %w", err)
	}
	return nil
}
