package reconciler

import (
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/armature-dev/armature/compat/builder"
)

// ReconcileInterface has the methods of a Builder that create and prune the objects of an owner.
type ReconcileInterface interface {
	ReconcileConfigMap() (controllerutil.OperationResult, error)
	ReconcileDeployOrSts() (controllerutil.OperationResult, error)
	ReconcileStorage() (controllerutil.OperationResult, error)
	ReconcileService() (controllerutil.OperationResult, error)
	ReconcileNetworkPolicy() (controllerutil.OperationResult, error)
	ReconcileStore() error
}

// Reconciler is an empty Builder: it creates nothing.
var Reconciler ReconcileInterface = builder.NewBuilder()
