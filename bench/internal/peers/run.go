package peers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/armature-dev/armature/bench/internal/lab"
)

// page is the name of the part of the page that is written.
const page = "builder"

type options struct {
	sizes  []int
	runs   int
	only   []string
	docs   string
	binary string
}

// Main is the subcommand.
func Main(ctx context.Context, args []string) error {
	o := options{}
	flags := flag.NewFlagSet("builder", flag.ExitOnError)
	sizes := flags.String("sizes", "10,100,1000", "numbers of Deployments")
	flags.IntVar(&o.runs, "runs", 5, "how often each peer has its turn; the median counts")
	only := flags.String("peers", "", "names of peers, with commas between them; "+
		"others have no turn, and nothing is written but to the terminal")
	flags.StringVar(&o.docs, "docs", "../docs", "where benchmarks.md and benchmarks.svg are")
	flags.StringVar(&o.binary, "devcluster", "../bin/devcluster", "the devcluster binary")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for s := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 4 {
			return fmt.Errorf("-sizes: %q: must be numbers of 4 or more", s)
		}
		o.sizes = append(o.sizes, n)
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	return run(ctx, o)
}

func run(ctx context.Context, o options) (err error) {
	c, err := lab.StartCluster(o.binary, "--nodes", "0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	// What the controllers would do about Deployments is not to be measured.
	if err := c.StopControllers(); err != nil {
		return err
	}
	cfg, err := c.Config()
	if err != nil {
		return err
	}
	all, err := measureAll(ctx, cfg, o)
	if err != nil {
		return err
	}
	if o.only != nil {
		fmt.Print(all.markdown(c.Version, o.runs))
		return nil
	}
	if err := plotTo(filepath.Join(o.docs, "benchmarks.svg"), all); err != nil {
		return err
	}
	return lab.WritePage(filepath.Join(o.docs, "benchmarks.md"), page, all.markdown(c.Version, o.runs))
}

// tooSlow is the length of a turn after which a peer gets no other in that size.
const tooSlow = time.Minute

// measureAll lets the peers take turns.
func measureAll(ctx context.Context, cfg *rest.Config, o options) (results, error) {
	all := results{sizes: o.sizes, samples: map[cell][]lab.Sample{}, slow: map[cell]bool{}}
	for _, n := range o.sizes {
		for run := range o.runs {
			for i := range peers {
				p := peers[(run+i)%len(peers)] // nobody is always first
				if all.slow[cell{p.name, "", n}] || (o.only != nil && !slices.Contains(o.only, p.name)) {
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
	fmt.Fprintf(os.Stderr, "%5d  %-32s %5.1fs\n", n, p.name, time.Since(began).Seconds())
	return nil
}
