package replicajob

import (
	"cmp"
	"net"
	"slices"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// Replica is one replica of a job.
type Replica struct {
	// Type is its type, in the spelling of the spec.
	Type v1alpha1.ReplicaType
	// Index is its place among those of its type, from 0.
	Index int
	// Rank is its place in the whole job, from 0; see [World.Types].
	Rank int
}

// World is the description of a whole job that each of its replicas receives: their number, their ranks and their
// addresses. It follows the current spec; replicas that are created after a change of the spec receive another World.
type World struct {
	job       string
	specs     map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec
	types     []v1alpha1.ReplicaType
	first     map[v1alpha1.ReplicaType]int // rank of index 0
	size      int
	leader    v1alpha1.ReplicaType // empty if none leads
	port      int32
	portName  string
	container string // the name of the one that counts
}

func newWorld(p *pass, portName string, port int32) *World {
	w := &World{
		job: p.name, specs: p.spec.ReplicaSpecs, first: make(map[v1alpha1.ReplicaType]int, len(p.spec.ReplicaSpecs)),
		port: port, portName: portName, container: p.container,
	}
	precedence := func(t v1alpha1.ReplicaType) int {
		if i := slices.IndexFunc(p.leaders, func(l v1alpha1.ReplicaType) bool { return sameType(l, t) }); i >= 0 {
			return i
		}
		return len(p.leaders)
	}
	for t := range w.specs {
		w.types = append(w.types, t)
	}
	slices.SortFunc(w.types, func(a, b v1alpha1.ReplicaType) int {
		return cmp.Or(cmp.Compare(precedence(a), precedence(b)), cmp.Compare(a, b))
	})
	for _, t := range w.types {
		if w.leader == "" && precedence(t) < len(p.leaders) && w.Replicas(t) > 0 {
			w.leader = t
		}
		w.first[t] = w.size
		w.size += w.Replicas(t)
	}
	return w
}

// Types returns the job's types in the order of their ranks: those that lead, then the others by name.
func (w *World) Types() []v1alpha1.ReplicaType { return slices.Clone(w.types) }

// Has reports whether the job has replicas of a type, in the spelling of the spec.
func (w *World) Has(t v1alpha1.ReplicaType) bool { return w.Replicas(t) > 0 }

// Replicas returns how many replicas a type has: 0 if there is no such type.
func (w *World) Replicas(t v1alpha1.ReplicaType) int {
	spec, ok := w.specs[t]
	if !ok {
		return 0
	}
	return max(0, int(ptr.Deref(spec.Replicas, 1)))
}

// Size returns how many replicas there are of all types.
func (w *World) Size() int { return w.size }

// Replica returns a replica of the job.
func (w *World) Replica(t v1alpha1.ReplicaType, index int) Replica {
	return Replica{Type: t, Index: index, Rank: w.first[t] + index}
}

// Coordinator returns the replica of rank 0, and false for a job without replicas.
func (w *World) Coordinator() (Replica, bool) {
	for _, t := range w.types {
		if w.Has(t) {
			return w.Replica(t, 0), true
		}
	}
	return Replica{}, false
}

// Leads reports whether a replica leads: it is of the leading type, or, in a job without one, Worker 0.
// Kubeflow called it IsMasterRole.
func (w *World) Leads(r Replica) bool {
	if w.leader != "" {
		return r.Type == w.leader
	}
	return r.Index == 0 && sameType(r.Type, v1alpha1.ReplicaWorker)
}

// Host returns the name in DNS of a replica, within the job's namespace: <pod>.<service>.
func (w *World) Host(t v1alpha1.ReplicaType, index int) string {
	return PodName(w.job, t, index) + "." + ServiceName(w.job)
}

// Hosts returns the names in DNS of all replicas of a type, by index.
func (w *World) Hosts(t v1alpha1.ReplicaType) []string {
	hosts := make([]string, w.Replicas(t))
	for i := range hosts {
		hosts[i] = w.Host(t, i)
	}
	return hosts
}

// Port returns the port of a type's replicas: the one of the kind's PortName in the container that counts, or the
// kind's Port.
func (w *World) Port(t v1alpha1.ReplicaType) int32 {
	spec := w.specs[t]
	if c := outcome.DefaultContainer(&spec.Template.Spec, w.container); c != nil && w.portName != "" {
		for i := range c.Ports {
			if c.Ports[i].Name == w.portName {
				return c.Ports[i].ContainerPort
			}
		}
	}
	return w.port
}

// Addresses returns host and port of all replicas of a type, by index.
func (w *World) Addresses(t v1alpha1.ReplicaType) []string {
	port := strconv.Itoa(int(w.Port(t)))
	addresses := w.Hosts(t)
	for i, host := range addresses {
		addresses[i] = net.JoinHostPort(host, port)
	}
	return addresses
}
