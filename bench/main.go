package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

type options struct {
	sizes  []int
	runs   int
	docs   string
	binary string
}

func main() {
	o := options{}
	sizes := flag.String("sizes", "10,100,1000", "numbers of Deployments")
	flag.IntVar(&o.runs, "runs", 5, "how often each peer has its turn; the median counts")
	flag.StringVar(&o.docs, "docs", "../docs", "where benchmarks.md and benchmarks.svg are")
	flag.StringVar(&o.binary, "devcluster", "../bin/devcluster", "the devcluster binary")
	flag.Parse()
	for s := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 4 {
			fmt.Fprintf(os.Stderr, "bench: -sizes: %q: must be numbers of 4 or more\n", s)
			os.Exit(2)
		}
		o.sizes = append(o.sizes, n)
	}
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	c, err := startCluster(o.binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	cfg, err := c.config()
	if err != nil {
		return err
	}
	all, err := measureAll(ctx, cfg, o)
	if err != nil {
		return err
	}
	if err := plotTo(filepath.Join(o.docs, "benchmarks.svg"), all); err != nil {
		return err
	}
	return all.writeTo(filepath.Join(o.docs, "benchmarks.md"), c.version, o.runs)
}

// tooSlow is the length of a turn after which a peer gets no other in that size.
const tooSlow = time.Minute

// measureAll lets the peers take turns.
func measureAll(ctx context.Context, cfg *rest.Config, o options) (results, error) {
	all := results{sizes: o.sizes, samples: map[cell][]sample{}, slow: map[cell]bool{}}
	for _, n := range o.sizes {
		for run := range o.runs {
			for i := range peers {
				p := peers[(run+i)%len(peers)] // nobody is always first
				if all.slow[cell{p.name, "", n}] {
					continue
				}
				if err := turn(ctx, p, cfg, n, all); err != nil {
					return all, fmt.Errorf("%s, %d Deployments: %w", p.name, n, err)
				}
			}
		}
	}
	return all, nil
}

// turn measures one peer once, in one size.
func turn(ctx context.Context, p peer, cfg *rest.Config, n int, all results) error {
	began := time.Now()
	c, err := start(ctx, p, cfg)
	if err != nil {
		return err
	}
	got, err := c.run(ctx, n)
	if err = errors.Join(err, c.stop()); err != nil {
		return err
	}
	for scenario, s := range got {
		key := cell{p.name, scenario, n}
		all.samples[key] = append(all.samples[key], s)
	}
	all.slow[cell{p.name, "", n}] = time.Since(began) > tooSlow
	fmt.Fprintf(os.Stderr, "%5d  %-22s %5.1fs\n", n, p.name, time.Since(began).Seconds())
	return nil
}
