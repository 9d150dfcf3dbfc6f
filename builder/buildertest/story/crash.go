package story

import (
	"context"
	"errors"
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
)

// end begins the lines that show the end of a scenario.
const end = "end"

// CrashEverywhere runs buildertest.CrashEverywhere on the scenarios of a file, or of all files in a directory. They are written as for
// [Scenario]: lines that prepare the cluster, and lines with the word then, each of which runs when nothing changes any more. All operators
// are one process. At least one line with the word end follows. It shows the state at the end, which each run must reach wherever it
// crashes:
//
//	then edit JobFlow/demo
//	spec: {suspend: true}
//	----
//
//	end list JobFlow
//	----
//	JobFlow demo Suspended
//
// The caches lag by one of lags in a run, by 0 without any. With more than 1 the operators' own writes lag too. With update it writes the
// outputs of the lines with end.
func CrashEverywhere(t *testing.T, path string, update bool, c Config, lags ...int) {
	t.Helper()
	if len(lags) == 0 {
		lags = []int{0}
	}
	eachFile(t, path, update, func(t *testing.T, file string) {
		b, err := newBeginning(c)
		if err != nil {
			t.Fatal(err)
		}
		var atEnd *Story
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			line := lineOf(d)
			switch {
			case line.Command == end:
				if atEnd == nil {
					b.describeOneProcess()
					atEnd = b.around(b.world.Around(buildertest.Settle(t, b.scenario)))
				}
				text, err := atEnd.Do(t.Context(), without(t, d, line))
				if err != nil {
					d.Fatalf(t, "%v", err)
				}
				return text
			case atEnd != nil:
				d.Fatalf(t, "%s: only lines that begin with end follow the first of them", line.Command)
			}
			return b.line(t, d)
		})
		if atEnd == nil {
			t.Fatalf("%s has no line that begins with end, such as: end list Job", file)
		}
		for _, lag := range lags {
			t.Run("lag "+strconv.Itoa(lag), func(t *testing.T) {
				b.scenario.Lag, b.scenario.LagOwnWrites = lag, lag > 1
				buildertest.CrashEverywhere(t, b.scenario)
			})
		}
	})
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
	begin := s.world
	var now *Story // in the present run's cluster: a line such as pod changes it
	scenario.Cluster = func(server *buildertest.Server) buildertest.Cluster {
		now = s.around(begin.Around(server))
		return checked{now.world, now.user, s.config.Invariants}
	}
	scenario.Requests = []reconcile.Request{{NamespacedName: types.NamespacedName{Name: "all"}}}
	scenario.Reconciler = func(c *buildertest.Client) (reconcile.Reconciler, error) {
		return newOneProcess(c, s.config.Operators)
	}
	scenario.Foreign = func(obj client.Object) bool {
		return !s.isOwner(obj) && metav1.GetControllerOfNoCopy(obj) == nil
	}
	for _, line := range b.later {
		scenario.Then = append(scenario.Then, func(ctx context.Context, _ client.Client) error { return now.do(ctx, line) })
	}
}

// checked is a cluster whose invariants are checked before its steps.
type checked struct {
	*world.World
	client     *buildertest.Client
	invariants []buildertest.Invariant
}

// Next implements buildertest.Cluster.
func (c checked) Next() ([]buildertest.ClusterStep, time.Time, error) {
	for _, holds := range c.invariants {
		if err := holds(context.Background(), c.client); err != nil {
			return nil, time.Time{}, err
		}
	}
	return c.World.Next()
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

// Reconcile returns the earliest time for which a pass asks, and the errors.
func (p *oneProcess) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	var soonest time.Duration
	var errs []error
	for _, o := range p.operators {
		owners := &unstructured.UnstructuredList{}
		owners.SetGroupVersionKind(o.owners)
		if err := p.client.List(ctx, owners); err != nil {
			return reconcile.Result{}, err
		}
		for i := range owners.Items {
			result, err := o.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&owners.Items[i])})
			errs = append(errs, err)
			if after := result.RequeueAfter; after > 0 && (soonest == 0 || after < soonest) {
				soonest = after
			}
		}
	}
	return reconcile.Result{RequeueAfter: soonest}, errors.Join(errs...)
}
