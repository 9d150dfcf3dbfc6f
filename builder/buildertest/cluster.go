package buildertest

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Cluster is the rest of a cluster, around a Server and in single steps. Package world has one.
type Cluster interface {
	// Next returns what can happen in the server's present state, in an order that depends only on the state, and the earliest time at
	// which more can (zero: none). It must have no memory. An error means that it can't imitate the cluster from here on.
	Next() ([]ClusterStep, time.Time, error)
}

// ClusterWithMemory is a Cluster that steps of Scenario.Then change, such as the scripts of pods.
type ClusterWithMemory interface {
	Cluster
	// Copy returns the cluster as it is now, around another server in the same state.
	Copy(*Server) Cluster
}

// ClusterStep is one thing that can happen: one write of a controller.
type ClusterStep struct {
	// Name is unique among the steps of a state, such as "job-controller: create Pod default/demo-1".
	Name string
	// Actor is who takes the step, such as "job-controller".
	Actor string
	// Kind is the kind of the object that the step writes.
	Kind schema.GroupKind
	// Group is the object about which an actor takes steps together, such as "Job default/demo"; empty for steps that are taken alone.
	// [Explore] takes the steps of an actor and a group as one, unless Bounds.EachStep.
	Group string
	// Root is the object that controls the object of the step, or that itself, such as "Job default/demo"; empty for steps that concern
	// several. With Bounds.Coarse, Explore takes the steps of a root as one until the root itself has changed.
	Root string
	// OfRoot reports whether the step writes Root itself.
	OfRoot bool
	// Local reports whether the step reads and writes only one object and what that controls. [Explore] takes two local steps of an actor
	// in one order only.
	Local bool
	// Run takes the step.
	Run func(context.Context) error
}
