package story

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/internal/testsize"
)

// The words with which the lines begin that only CrashEverywhere has.
const (
	lags = "lags"
	long = "long" // an option of lags
	end  = "end"
)

// CrashEverywhere runs buildertest.CrashEverywhere on the scenarios of a file, or of all files in a directory. They are written as for
// [Scenario]: lines that prepare the cluster, and lines with the word then, each of which runs when nothing changes any more. All of
// Config.Operators are one process. At least one line with the word end follows. It shows the state at the end, which each run must reach
// wherever the process crashes:
//
//	then edit JobFlow/demo
//	spec: {suspend: true}
//	----
//
//	end list JobFlow
//	----
//	JobFlow demo Suspended
//
// A line such as "lags 0 1 3" repeats the test with caches that lag by so many changes; without it they don't lag. With more than 1 the
// operators' own writes lag too. Those of an option, as in "lags 3 long=(0,1)", are only for runs with the environment variable
// ARMATURE_LONG. With update CrashEverywhere writes the outputs of the lines with end.
func CrashEverywhere(t *testing.T, path string, update bool, c Config) {
	t.Helper()
	eachFile(t, path, update, func(t *testing.T, file string) {
		scenario, lags := crashScenario(t, file, c)
		for _, lag := range lags {
			t.Run("lag "+strconv.Itoa(lag), func(t *testing.T) {
				scenario.Lag, scenario.LagOwnWrites = lag, lag > 1
				buildertest.CrashEverywhere(t, scenario)
			})
		}
	})
}

// crashScenario reads a file, and runs its lines. It returns the scenario and its lags.
func crashScenario(t *testing.T, file string, c Config) (buildertest.Scenario, []int) {
	b, err := newBeginning(c)
	if err != nil {
		t.Fatal(err)
	}
	r := &crashReader{beginning: b, lags: []int{0}}
	datadriven.RunTest(t, file, r.line)
	if r.atEnd == nil {
		t.Fatalf("%s has no line that begins with end, such as: end list Job", file)
	}
	return b.scenario, r.lags
}

// crashReader reads a file of CrashEverywhere.
type crashReader struct {
	*beginning
	lags  []int
	atEnd *Story // nil before the first line with end
}

// line runs a line, and returns its output.
func (r *crashReader) line(t *testing.T, d *datadriven.TestData) string {
	line := lineOf(d)
	switch {
	case line.Command == end:
		if r.atEnd == nil {
			r.describeOneProcess()
			r.atEnd = r.around(r.world.Around(buildertest.Settle(t, r.scenario)))
		}
		text, err := r.atEnd.Do(t.Context(), without(t, d, line))
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return text
	case r.atEnd != nil:
		d.Fatalf(t, "%s: only lines that begin with end follow the first of them", line.Command)
	case line.Command == lags:
		if err := noText(line); err != nil {
			d.Fatalf(t, "%v", err)
		}
		ofLong := numbersOf(t, d, line.Options[long]) // checked in each run
		r.lags = numbersOf(t, d, line.Words)
		if testsize.Long() {
			r.lags = slices.Concat(ofLong, r.lags)
		}
		return d.Expected
	}
	return r.beginning.line(t, d)
}

// numbersOf reads the lags of a line.
func numbersOf(t *testing.T, d *datadriven.TestData, words []string) []int {
	numbers := make([]int, len(words))
	for i, word := range words {
		var err error
		if numbers[i], err = strconv.Atoi(word); err != nil {
			d.Fatalf(t, "lags: %q is no number of changes, such as 3", word)
		}
	}
	return numbers
}

// around returns the story in another cluster.
func (s *Story) around(w *world.World) *Story {
	with := *s
	with.world, with.user = w, w.Server().Client(user)
	return &with
}

// describeOneProcess completes the scenario of the present cluster, with all operators in one process.
func (b *beginning) describeOneProcess() {
	s, scenario := b.Story, &b.scenario
	scenario.Scheme, scenario.Options, scenario.Objects = s.config.Scheme, s.config.Options, s.world.Server().Objects()
	var present *Story // in the cluster of the present run
	scenario.Cluster = func(server *buildertest.Server) buildertest.Cluster { return newCrashCluster(s, server, &present) }
	scenario.Requests = []reconcile.Request{{NamespacedName: types.NamespacedName{Name: "all"}}}
	scenario.Reconciler = func(c *buildertest.Client) (reconcile.Reconciler, error) {
		return newOneProcess(c, s.config.Operators)
	}
	scenario.Foreign = func(obj client.Object) bool {
		return !s.isOwner(obj) && metav1.GetControllerOfNoCopy(obj) == nil
	}
	for _, line := range b.later {
		scenario.Then = append(scenario.Then, func(ctx context.Context, _ client.Client) error { return present.do(ctx, line) })
	}
}

// crashCluster is the cluster of a run: that of a story whose lines can change it, with the operators that don't crash. It checks the
// invariants before its steps.
type crashCluster struct {
	*Story
	present **Story // set before each line that runs later
	err     error   // of its beginning
}

// newCrashCluster returns the cluster of a story around another server.
func newCrashCluster(s *Story, server *buildertest.Server, present **Story) crashCluster {
	c := crashCluster{Story: s.around(s.world.Around(server)), present: present}
	c.err = c.addOthers()
	return c
}

// Copy implements buildertest.ClusterWithMemory.
func (c crashCluster) Copy(server *buildertest.Server) buildertest.Cluster {
	return newCrashCluster(c.Story, server, c.present)
}

// Next implements buildertest.Cluster.
func (c crashCluster) Next() ([]buildertest.ClusterStep, time.Time, error) {
	if c.err != nil {
		return nil, time.Time{}, c.err
	}
	*c.present = c.Story
	for _, holds := range c.config.Invariants {
		if err := holds(context.Background(), c.user); err != nil {
			return nil, time.Time{}, err
		}
	}
	return c.world.Next()
}

// isOwner reports whether an object is of a kind that an operator reconciles.
func (s *Story) isOwner(obj client.Object) bool {
	kind, err := apiutil.GVKForObject(obj, s.config.Scheme)
	for _, o := range s.config.Operators {
		if of, ofErr := apiutil.GVKForObject(o.Owner, s.config.Scheme); errors.Join(err, ofErr) == nil && of == kind {
			return true
		}
	}
	return false
}

// oneProcess runs the passes of several operators over all their owners, one operator after the other, whatever the request is.
type oneProcess struct {
	client    *buildertest.Client
	operators []operator
	results   []reconcile.Result
}

// operator is an operator of a process.
type operator struct {
	reconcile.Reconciler
	owners schema.GroupVersionKind
}

func newOneProcess(c *buildertest.Client, operators []world.Operator) (reconcile.Reconciler, error) {
	p := &oneProcess{client: c}
	for _, o := range operators {
		kind, err := apiutil.GVKForObject(o.Owner, c.Scheme())
		if err != nil {
			return nil, err
		}
		r, err := o.Reconciler(c)
		if err != nil {
			return nil, err
		}
		p.operators = append(p.operators, operator{r, kind})
	}
	return p, nil
}

// Results returns what the last passes without an error asked for.
func (p *oneProcess) Results() []reconcile.Result { return p.results }

// Reconcile returns the errors.
func (p *oneProcess) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	p.results = nil
	var errs []error
	for _, o := range p.operators {
		owners := &unstructured.UnstructuredList{}
		owners.SetGroupVersionKind(o.owners)
		if err := p.client.List(ctx, owners); err != nil {
			return reconcile.Result{}, err
		}
		for i := range owners.Items {
			result, err := o.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&owners.Items[i])})
			if errs = append(errs, err); err == nil {
				p.results = append(p.results, result)
			}
		}
	}
	return reconcile.Result{}, errors.Join(errs...)
}
