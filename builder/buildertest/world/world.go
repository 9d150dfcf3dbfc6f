package world

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-dev/armature/builder/buildertest"
)

// maxSteps is the largest number of steps without a movement of the clock.
const maxSteps = 10_000

// Options configure a World. The zero value is the default.
type Options struct {
	// Seed selects the order in which Settle and Wait run the steps of a state. Equal seeds give equal runs. Default: 0, the order of
	// Steps.
	Seed uint64
	// Controllers are further controllers, beside those of a cluster. Default: nil, none.
	Controllers []Controller
	// Pods returns what a pod does for which [World.Script] has set nothing. It must be a pure function. Default: pods run until they are
	// deleted.
	Pods func(pod *corev1.Pod) Script
}

// World is a simulated cluster: an API server in memory and the controllers, schedulers and kubelets around it. Nothing happens between
// two steps, so a World isn't safe for concurrent use.
type World struct {
	server      *buildertest.Server
	options     Options
	scheme      *runtime.Scheme
	controllers []actor
	managers    []*Manager
	scripts     []rule
	random      *rand.Rand // nil: no random order
}

// actor is a controller with its client.
type actor struct {
	Controller
	client *buildertest.Client
}

// New returns a world around a server. It writes nothing yet.
func New(server *buildertest.Server, o Options) *World {
	w := &World{server: server, options: o, scheme: server.Client().Scheme()}
	for _, c := range append(clusterControllers(), o.Controllers...) {
		w.controllers = append(w.controllers, actor{c, server.Client(c.Name())})
	}
	if o.Seed != 0 {
		w.random = rand.New(rand.NewPCG(o.Seed, 0))
	}
	return w
}

// clusterControllers are the controllers of each cluster, in the order of their steps.
func clusterControllers() []Controller {
	return []Controller{
		scheduler{}, kubelet{}, nodeLifecycle{}, podCollector{}, jobController{}, ttlController{}, deploymentController{}, replicaSetController{},
		statefulSetController{}, daemonSetController{}, volumeController{}, disruptionController{},
	}
}

// Server returns the world's server.
func (w *World) Server() *buildertest.Server { return w.server }

// Now returns the time.
func (w *World) Now() time.Time { return w.server.Clock().Now() }

// Steps returns what can happen next, in an order that depends only on the state: the controllers', then the managers'. An error means
// that the world can't imitate the cluster from here on, and names the object.
func (w *World) Steps() ([]Step, error) {
	steps, _, err := w.look()
	return steps, err
}

// look returns the present steps, and the earliest time that adds a further one (zero: none).
func (w *World) look() ([]Step, time.Time, error) {
	s, err := observe(w.server, w.scheme)
	if err != nil {
		return nil, time.Time{}, err
	}
	s.script = w.scriptOf
	var steps []Step
	for _, c := range w.controllers {
		changes, _ := withinQuota(s, c.Changes(s))
		for _, change := range changes {
			step, err := w.stepOf(s, c.Name(), c.client, change)
			if err != nil {
				return nil, time.Time{}, err
			}
			steps = append(steps, step)
		}
	}
	for _, m := range w.managers {
		steps = append(steps, m.steps(s)...)
	}
	return steps, s.next, s.err
}

// Around returns a world around another server, with the same controllers and scripts, and without managers.
func (w *World) Around(server *buildertest.Server) *World {
	other := New(server, w.options)
	other.scripts = slices.Clone(w.scripts)
	return other
}

// Next implements [buildertest.Cluster], for buildertest.Explore, which runs the operators itself.
func (w *World) Next() ([]buildertest.ClusterStep, time.Time, error) {
	steps, next, err := w.look()
	var all []buildertest.ClusterStep
	for _, s := range steps {
		all = append(all, buildertest.ClusterStep{
			Name: s.String(), Actor: s.Actor, Kind: s.Kind, Group: s.group, Local: s.local, Run: s.run,
			Root: s.root, OfRoot: s.root == fmt.Sprintf("%s %s/%s", s.Kind.Kind, s.Namespace, s.Name),
		})
	}
	return all, next, err
}

// Settle runs steps until there is none, while the clock stands. It returns an error if a step fails, or if the steps don't end.
func (w *World) Settle(ctx context.Context) error {
	_, err := w.settle(ctx, nil)
	return err
}

// SettleOnly is Settle with only the steps for which a function returns true. Everything else in the world stands still.
func (w *World) SettleOnly(ctx context.Context, runs func(Step) bool) error {
	_, err := w.settle(ctx, runs)
	return err
}

// settle runs the steps for which runs returns true; nil: all.
func (w *World) settle(ctx context.Context, runs func(Step) bool) (next time.Time, err error) {
	var last []Step
	for ran := 0; ; {
		steps, next, err := w.look()
		if runs != nil {
			steps = slices.DeleteFunc(steps, func(s Step) bool { return !runs(s) })
		}
		if err != nil || len(steps) == 0 {
			return next, err
		}
		if ran += len(steps); ran > maxSteps {
			return next, fmt.Errorf("the world doesn't come to rest; the last steps of %d were\n%s", ran, lines(last))
		}
		if w.random != nil {
			w.random.Shuffle(len(steps), reflect.Swapper(steps))
		}
		for _, step := range steps {
			if err := step.Run(ctx); err != nil {
				return next, err
			}
		}
		last = steps
	}
}

// Wait settles and moves the clock to each time for which a controller or a manager waits, until the duration has passed and the world
// is settled. It must not be negative.
func (w *World) Wait(ctx context.Context, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("can't wait for %s; a duration of at least 0 is accepted", d)
	}
	end := w.Now().Add(d)
	for {
		next, err := w.settle(ctx, nil)
		if err != nil {
			return err
		}
		now := w.Now()
		if !now.Before(end) {
			return nil
		}
		if next.IsZero() || next.After(end) {
			next = end
		}
		w.server.Clock().Step(next.Sub(now))
	}
}

// Idle settles and moves the clock like Wait, until no controller and no manager waits for a later time. It returns an error if that
// takes longer than most.
func (w *World) Idle(ctx context.Context, most time.Duration) error {
	for end := w.Now().Add(most); ; {
		next, err := w.settle(ctx, nil)
		if err != nil || next.IsZero() {
			return err
		}
		if next.After(end) {
			return fmt.Errorf("after %s the cluster still waits, until %s", most, next.Format(time.TimeOnly))
		}
		w.server.Clock().Step(next.Sub(w.Now()))
	}
}

func lines(steps []Step) string {
	var all []string
	for _, s := range steps {
		all = append(all, s.String())
	}
	return strings.Join(all, "\n")
}
