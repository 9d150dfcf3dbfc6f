// Package reconciler is source-compatible with package reconciler of github.com/datainfrahq/operator-runtime v0.0.7:
// what a Builder can do, as an interface. See package github.com/armature-dev/armature/compat/builder.
package reconciler

import (
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/armature-dev/armature/compat/builder"
)

// ReconcileInterface is the methods of a Builder that make and prune the objects of an owner.
type ReconcileInterface interface {
	ReconcileConfigMap() (controllerutil.OperationResult, error)
	ReconcileDeployOrSts() (controllerutil.OperationResult, error)
	ReconcileStorage() (controllerutil.OperationResult, error)
	ReconcileService() (controllerutil.OperationResult, error)
	ReconcileNetworkPolicy() (controllerutil.OperationResult, error)
	ReconcileStore() error
}

// Reconciler is an empty Builder: it makes nothing.
var Reconciler ReconcileInterface = builder.NewBuilder()
