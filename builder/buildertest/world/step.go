package world

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Controller imitates one controller of a cluster. It must be a pure function of the state: no memory, no clock, no random numbers.
// Then the order of steps is the only thing that varies between two runs.
type Controller interface {
	// Name names the controller in steps, and is its client's name in the record of calls.
	Name() string
	// Changes returns the writes that the controller can make now. Each is possible without the others, and none is a write without a
	// change. After each one the world asks again.
	Changes(s *State) []Change
}

// Step is one thing that can happen next: one write of a controller, or one pass of a manager. Two steps of the same state can be run in
// either order; a step that another has made obsolete does nothing.
type Step struct {
	// Actor is a controller's or a manager's name.
	Actor string
	// Does is a [Verb], or "reconcile", "start" or "catch up" of a manager.
	Does string
	// Kind, Namespace and Name are the object that is written or reconciled; empty for "start" and "catch up".
	Kind      schema.GroupKind
	Namespace string
	Name      string

	group string // the object about which a controller makes several steps
	root  string // the object that controls the changed one, or that itself
	local bool   // it reads and writes only its object and what that controls; a scheduler and others read more
	run   func(context.Context) error
}

// String names the step in one line, such as "job-controller: create Pod default/demo-1". It is unique among the steps of a state.
func (s Step) String() string {
	if s.Kind.Kind == "" {
		return s.Actor + ": " + s.Does
	}
	key := types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
	if s.Namespace == "" {
		return fmt.Sprintf("%s: %s %s %s", s.Actor, s.Does, s.Kind.Kind, s.Name)
	}
	return fmt.Sprintf("%s: %s %s %s", s.Actor, s.Does, s.Kind.Kind, key)
}

// Run runs the step. It is no error if another step came first: the object has changed, exists or is gone, or the API server refuses a
// creation, as with an exceeded quota. Its controller tries again while the reason lasts, whenever something has changed.
func (s Step) Run(ctx context.Context) error { return s.run(ctx) }

// workloads are the kinds of which each object has a controller's steps to itself, by the controller's name.
var workloads = map[string]string{
	jobController.Name(jobController{}):                 "Job",
	deploymentController.Name(deploymentController{}):   "Deployment",
	replicaSetController.Name(replicaSetController{}):   "ReplicaSet",
	statefulSetController.Name(statefulSetController{}): "StatefulSet",
	daemonSetController.Name(daemonSetController{}):     "DaemonSet",
}

// groupOf returns the object about which a controller of workloads makes a change; empty for other controllers.
func groupOf(actor, kind string, c Change) string {
	owner, ok := workloads[actor]
	if !ok || c.readsMore {
		return ""
	}
	name := c.Object.GetName()
	if ref := c.controllerRef(); ref != nil && kind != owner {
		name = ref.Name
	}
	return fmt.Sprintf("%s %s/%s", owner, c.Object.GetNamespace(), name)
}

// rootOf names the workload to which the object of a change belongs, or the object itself. That of a Deployment's pod is the Deployment.
func rootOf(s *State, kind string, c Change) string {
	name := c.Object.GetName()
	ref := c.controllerRef()
	for ref != nil && slices.Contains(slices.Collect(maps.Values(workloads)), ref.Kind) {
		kind, name = ref.Kind, ref.Name
		ref = controllerOfReplicaSet(s, ref.UID)
	}
	return fmt.Sprintf("%s %s/%s", kind, c.Object.GetNamespace(), name)
}

// controllerOfReplicaSet returns the controller of the ReplicaSet with a UID; nil if there is none.
func controllerOfReplicaSet(s *State, uid types.UID) *metav1.OwnerReference {
	for _, set := range All[*appsv1.ReplicaSet](s) {
		if set.UID == uid {
			return metav1.GetControllerOfNoCopy(set)
		}
	}
	return nil
}

// stepOf returns the step that makes a change.
func (w *World) stepOf(s *State, actor string, with client.Client, c Change) (Step, error) {
	gvk, err := apiutil.GVKForObject(c.Object, w.scheme)
	if err != nil {
		return Step{}, err
	}
	group := groupOf(actor, gvk.Kind, c)
	local := group != "" && !hasQuota(s, c.Object.GetNamespace()) || actor == kubelet.Name(kubelet{}) && !c.readsMore
	return Step{
		group: group, root: rootOf(s, gvk.Kind, c), local: local,
		Actor: actor, Does: string(c.Verb), Kind: gvk.GroupKind(), Namespace: c.Object.GetNamespace(), Name: c.Object.GetName(),
		run: func(ctx context.Context) error {
			err := c.apply(ctx, with)
			if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
				return nil
			}
			if c.Verb == VerbCreate && isRefusedByQuota(err) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s: %w", actor, err)
			}
			return nil
		},
	}, nil
}

// isRefusedByQuota reports whether a ResourceQuota refuses a pod after all: a former step has used up the quota, or has created it.
func isRefusedByQuota(err error) bool {
	return apierrors.IsForbidden(err) && (strings.Contains(err.Error(), "exceeded quota: ") || strings.Contains(err.Error(), "failed quota: "))
}
