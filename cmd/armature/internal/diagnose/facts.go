package diagnose

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/leader"
)

// Facts are the observed state of an object and its environment at one time.
type Facts struct {
	// Now is that time.
	Now time.Time
	// Root is the requested object.
	Root *Object
	// Nodes are those of the cluster; nil if they could not be read.
	Nodes []corev1.Node
	// Claims are the namespace's PersistentVolumeClaims by name.
	Claims map[string]*corev1.PersistentVolumeClaim
	// Classes are the cluster's StorageClasses; nil if they could not be read.
	Classes []storagev1.StorageClass
	// ClaimEvents are the latest events about claims, by claim name.
	ClaimEvents map[string]Event
	// Absent are Secrets and ConfigMaps that pods name and that don't exist: "Secret/name".
	Absent map[string]bool
	// Queue is the FluxSetup of a FluxJob; nil if there is none.
	Queue *v1alpha1.FluxSetup
	// Managers are the managers with a leader election lease; nil if the leases could not be read.
	Managers []leader.Manager
}

// Event is an event about an object.
type Event struct {
	Type, Reason, Message string
	// Last is the time of the last occurrence.
	Last time.Time
}

// grace is the time in which a controller is expected to process a new object.
const grace = 5 * time.Second

// isNew reports whether an object was created within grace.
func (f *Facts) isNew(o *Object) bool { return f.Now.Sub(o.GetCreationTimestamp().Time) < grace }

// node returns a node of the cluster.
func (f *Facts) node(name string) *corev1.Node {
	i := slices.IndexFunc(f.Nodes, func(n corev1.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return &f.Nodes[i]
}
