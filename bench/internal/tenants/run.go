package tenants

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/bench/internal/lab"
)

// page is the name of the part of the page that is written.
const page = "tenants"

// version is a manager to attack, and the CRDs that belong to it.
type version struct{ name, binary, crds string }

// options are the flags.
type options struct {
	devcluster string
	sizes      sizes
	probes     int
	only       *regexp.Regexp
	share      bool
	shared     map[string]*lab.Cluster // by version, if all attacks on one share a cluster
}

// Main runs the benchmark and writes its part of docs/benchmarks.md.
func Main(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("tenants", flag.ContinueOnError)
	o := options{}
	now, before := version{name: "now"}, version{name: "before"}
	f.StringVar(&o.devcluster, "devcluster", "../bin/devcluster", "the devcluster `binary`")
	f.StringVar(&now.binary, "manager", "../bin/armature", "the `binary` of the manager")
	f.StringVar(&now.crds, "crds", "../config/crd", "the `directory` of its CRDs")
	f.StringVar(&before.binary, "before", "", "the `binary` of an earlier manager, to compare with; empty: none")
	f.StringVar(&before.crds, "before-crds", "", "the `directory` of the CRDs of that")
	docs := f.String("docs", "../docs", "the `directory` of benchmarks.md; empty prints the results")
	f.IntVar(&o.sizes.fluxJobs, "fluxjobs", 10000, "FluxJobs of the attacker")
	f.IntVar(&o.sizes.flows, "flows", 6000, "JobFlows of the attacker")
	f.IntVar(&o.sizes.others, "others", 6000, "ReplicaJobs, DaemonJobs and MiniClusters of the attacker, of each kind")
	f.IntVar(&o.sizes.sharing, "sharing", 4000, "JobFlows of the attacker that share a JobTemplate")
	f.IntVar(&o.sizes.bombs, "bombs", 10, "JobFlows of the attacker whose expressions take long, or that have long lists")
	f.IntVar(&o.sizes.nodes, "nodes", 5000, "nodes of each of these; lists: a fiftieth")
	f.DurationVar(&o.sizes.last, "last", 20*time.Second, "how long the attacks go on that have no other end")
	f.BoolVar(&o.share, "share", false, "let attacks on a manager share a cluster: quicker, but each finds what the others left")
	f.IntVar(&o.probes, "probes", 30, "objects of the other tenant, alone; and the fewest under attack")
	only := f.String("only", "", "a `regular expression` of the attacks: "+shortNames()+". The page stays as it is then")
	if err := f.Parse(args); err != nil {
		return err
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	versions := []version{now}
	if before.binary != "" {
		versions = []version{before, now}
	}
	r := results{compares: before.binary != "", probes: o.probes}
	o.shared = map[string]*lab.Cluster{}
	if err := errors.Join(o.all(ctx, versions, &r), o.stopShared()); err != nil {
		return err
	}
	if *only != "" || *docs == "" {
		fmt.Print(r.page())
		return nil
	}
	return lab.WritePage(filepath.Join(*docs, "benchmarks.md"), page, r.page())
}

// shortNames lists the attacks, as -only names them.
func shortNames() string {
	var names []string
	for _, a := range attacks(sizes{}) {
		names = append(names, a.short)
	}
	return strings.Join(names, ", ")
}

// all runs each attack on each version.
func (o *options) all(ctx context.Context, versions []version, r *results) error {
	for _, a := range attacks(o.sizes) {
		if !o.only.MatchString(a.short) {
			continue
		}
		row := row{attack: a.name, probe: a.probe.name}
		for _, v := range versions {
			m, err := o.measure(ctx, a, v, r)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", a.short, v.name, err)
			}
			fmt.Printf("%-12s %-7s %s\n", a.short, v.name, m)
			row.of = append(row.of, m)
		}
		r.rows = append(r.rows, row)
	}
	return nil
}

// measure attacks one manager, on a cluster of its own or on the one that is shared.
func (o *options) measure(ctx context.Context, a attack, v version, r *results) (measured, error) {
	cluster := o.shared[v.name]
	if cluster == nil {
		var err error
		if cluster, err = lab.StartCluster(o.devcluster, "--nodes", "0", "--fake-nodes", "1"); err != nil {
			return measured{}, err
		}
		r.cluster = cluster.Version
	}
	m, err := o.attack(ctx, cluster, a, v)
	if o.share {
		o.shared[v.name] = cluster
		return m, errors.Join(err, clearTenants(ctx, cluster, tenantsOf(a.short)))
	}
	return m, errors.Join(err, cluster.Stop())
}

// clearTenants deletes the tenants' objects. The next manager on the cluster would otherwise work through those of all earlier attacks, and
// its first probes would not be alone.
func clearTenants(ctx context.Context, cluster *lab.Cluster, of tenants) error {
	c, err := newClient(cluster)
	if err != nil {
		return err
	}
	var errs []error
	for _, namespace := range []string{of.victim, of.attacker} {
		for _, obj := range []client.Object{
			&v1alpha1.JobFlow{}, &v1alpha1.DaemonJob{}, &v1alpha1.ReplicaJob{}, &v1alpha1.FluxJob{}, &v1alpha1.MiniCluster{},
		} {
			errs = append(errs, c.DeleteAllOf(ctx, obj, client.InNamespace(namespace)))
		}
	}
	return errors.Join(errs...)
}

// stopShared stops the clusters that attacks have shared.
func (o *options) stopShared() (err error) {
	for _, cluster := range o.shared {
		err = errors.Join(err, cluster.Stop())
	}
	return err
}

func (o *options) attack(ctx context.Context, cluster *lab.Cluster, a attack, v version) (m measured, err error) {
	of := tenantsOf(a.short)
	c, err := o.prepare(ctx, cluster, v, of)
	if err != nil {
		return m, err
	}
	dir, err := os.MkdirTemp("", "armature-bench-manager-")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	manager, err := startManager(ctx, v.binary, cluster.Kubeconfig(), dir)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, manager.stop()) }()
	p, err := newProber(ctx, c, a.probe, of.victim)
	if err != nil {
		return m, err
	}
	defer p.stop()

	if _, err := p.alone(ctx, manager.ended, 5); err != nil { // warms all caches
		return m, err
	}
	if m.alone, err = p.alone(ctx, manager.ended, o.probes); err != nil {
		return m, err
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sent, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(sent)
		failed <- a.run(ctx, &target{client: c, manager: manager, namespace: of.attacker, queue: of.victim})
	}()
	if m.attacked, err = p.until(ctx, sent, manager.ended, o.probes); err != nil {
		return m, err
	}
	m.died, m.memory = manager.hasEnded(), manager.memory()
	if m.died {
		return m, nil
	}
	return m, <-failed
}

// prepare makes what both tenants have before the manager starts.
func (o *options) prepare(ctx context.Context, cluster *lab.Cluster, v version, of tenants) (client.WithWatch, error) {
	c, err := newClient(cluster)
	if err != nil {
		return nil, err
	}
	if err := lab.InstallCRDs(ctx, c, v.crds); err != nil {
		return nil, err
	}
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		for _, list := range []client.ObjectList{
			&v1alpha1.JobFlowList{}, &v1alpha1.JobTemplateList{}, &v1alpha1.DaemonJobList{}, &v1alpha1.ReplicaJobList{},
			&v1alpha1.MiniClusterList{}, &v1alpha1.FluxJobList{}, &v1alpha1.FluxSetupList{},
		} {
			if c.List(ctx, list) != nil {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(makeNamespaces(ctx, c, of), makeQueues(ctx, c, of)); err != nil {
		return nil, err
	}
	return c, cluster.StopControllers()
}

func newClient(cluster *lab.Cluster) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	cfg, err := cluster.Config()
	if err != nil {
		return nil, err
	}
	return client.NewWithWatch(cfg, client.Options{Scheme: scheme})
}
