package soakplan

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Script is the whole soak: first a storm, then a calm in which one load is repeated in waves.
type Script struct {
	Seed     uint64
	Duration time.Duration
	// Storm has its steps by time, from the beginning. Until StormEnds all faults are over.
	Storm     []Step
	StormEnds time.Duration
	// Objects are those that the storm creates.
	Objects []*Object
	// Wave is the load of each wave of the calm, and Gusts are the faults of each, of which none ends a manager.
	Wave  []*Object
	Gusts []Step
}

// Object is what a user makes, and how it has to end.
type Object struct {
	// Story says in a word what happens to it, for whoever reads the log.
	Story string
	Made  client.Object
	// Final is the object as it is after the user's last change, as far as its end depends on it.
	Final  client.Object
	Expect Expect
}

// Kind of the object, such as JobFlow.
func (o *Object) Kind() string {
	_, kind, _ := strings.Cut(fmt.Sprintf("%T", o.Made), ".")
	return kind
}

func (o *Object) String() string { return o.Kind() + " " + o.Made.GetName() + " (" + o.Story + ")" }

// Action is what a step does.
type Action string

// What users do, to the object of the step.
const (
	Create Action = "create"
	// Patch merges the step's patch into the object.
	Patch  Action = "patch"
	Delete Action = "delete"
)

// What goes wrong.
const (
	KillManager   Action = "kill a manager"
	KillComponent Action = "kill"
	FreezeKubelet Action = "freeze the kubelet of"
	Cordon        Action = "cordon"
	Drain         Action = "drain"
	DeletePod     Action = "delete a pod"
	DeleteJob     Action = "delete a Job"
)

// Step is one thing that happens.
type Step struct {
	At     time.Duration
	Action Action
	Object *Object
	// Why names a patch, and Patch is its JSON.
	Why, Patch string
	// Target is a component of the control plane, or a node.
	Target string
	// For is how long it lasts.
	For time.Duration
	// Pick chooses one of those that are there: pods, Jobs, managers.
	Pick uint64
}

func (s Step) String() string {
	words := []string{fmt.Sprintf("%6.1fs", s.At.Seconds()), string(s.Action)}
	if s.Why != "" {
		words = append(words, "("+s.Why+")")
	}
	if s.Object != nil {
		words = append(words, s.Object.String())
	}
	if s.Target != "" {
		words = append(words, s.Target)
	}
	if s.For > 0 {
		words = append(words, "for "+s.For.String())
	}
	return strings.Join(words, " ")
}

// stormShare is how much of the duration the storm takes. The rest is for what was begun to end, and for the calm.
const stormShare = 0.55

// New plans a soak.
func New(seed uint64, duration time.Duration) *Script {
	s := &Script{Seed: seed, Duration: duration, StormEnds: time.Duration(float64(duration) * stormShare)}
	d := &draw{rand.New(rand.NewPCG(seed, 0))}
	s.users(d)
	s.faults(d)
	slices.SortStableFunc(s.Storm, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	s.wave(d)
	return s
}

// users plans what is made and what is asked of it: an object every few seconds.
func (s *Script) users(d *draw) {
	queue := setup()
	s.Objects = append(s.Objects, queue)
	s.Storm = append(s.Storm, Step{Action: Create, Object: queue})
	for at := time.Second; at < s.StormEnds-10*time.Second; at += d.between(2*time.Second, 8*time.Second) {
		var steps []Step
		object := d.object(len(s.Objects), at, &steps)
		s.Objects = append(s.Objects, object)
		s.Storm = append(s.Storm, steps...)
	}
}

// object draws one with a story, and its steps, of which the first creates it.
func (d *draw) object(number int, at time.Duration, steps *[]Step) *Object {
	tell := &telling{draw: d, name: fmt.Sprintf("o%d", number), at: at, steps: steps}
	switch n := d.IntN(20); {
	case n < 10:
		return tell.flow()
	case n < 13:
		return tell.daemonJob()
	case n < 16:
		return tell.replicaJob()
	case n < 19:
		return tell.fluxJob()
	default:
		return tell.miniCluster()
	}
}

// wave plans the load that is repeated: one of each kind and two flows, none of which a user does anything to.
func (s *Script) wave(d *draw) {
	tell := func(name string) *telling { return &telling{draw: d, name: name, steps: new([]Step)} }
	s.Wave = []*Object{
		setup(), tell("w1").plainFlow(8), tell("w2").plainFlow(5), tell("w3").plainDaemonJob(), tell("w4").plainReplicaJob(),
		tell("w5").plainFluxJob(), tell("w6").plainMiniCluster(),
	}
	s.Gusts = []Step{
		{Action: DeletePod, Pick: d.Uint64()},
		{Action: DeleteJob, Pick: d.Uint64()},
		{Action: KillComponent, Target: []string{"kube-controller-manager", "kube-scheduler"}[d.IntN(2)]},
		{Action: FreezeKubelet, Target: nodes[d.IntN(len(nodes))], For: 3 * time.Second},
		{Action: KillComponent, Target: "kube-apiserver"},
	}
	for i := range s.Gusts {
		s.Gusts[i].At = time.Duration(i+1) * 2 * time.Second
	}
}
