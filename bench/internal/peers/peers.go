package peers

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// peer is a way to make what is wanted exist.
type peer struct {
	name    string
	module  string                // whose version is shown; empty: controller-runtime
	options func() client.Options // of its manager's client; nil: the defaults
	cache   bool                  // it has one
	onlyNew bool                  // it can only create
	setUp   func(manager.Manager) (reconciler, error)
}

// reconciler makes an owner have these Deployments and no others. It may change what it is given.
type reconciler func(ctx context.Context, owner *corev1.ConfigMap, wanted []*appsv1.Deployment) error

const (
	armature        = "Armature"
	operatorRuntime = "operator-runtime"
	operatorTools   = "operator-tools"
	fluxSSA         = "fluxcd ssa"
	createOrUpdate  = "CreateOrUpdate"
	bareCached      = "parallel creates with a cache"
	bare            = "parallel creates"
)

var peers = []peer{
	{name: armature, module: "github.com/armature-dev/armature", options: readYourWrites, cache: true, setUp: setUpArmature},
	{name: operatorRuntime, module: "github.com/datainfrahq/operator-runtime", cache: true, setUp: setUpOperatorRuntime},
	{name: operatorTools, module: "github.com/cisco-open/operator-tools", cache: true, setUp: setUpOperatorTools},
	{name: fluxSSA, module: "github.com/fluxcd/pkg/ssa", cache: true, setUp: setUpFluxSSA},
	{name: createOrUpdate, cache: true, setUp: setUpCreateOrUpdate},
	{name: bareCached, cache: true, onlyNew: true, setUp: setUpBare},
	{name: bare, onlyNew: true, setUp: setUpBare},
}
