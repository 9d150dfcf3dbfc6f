package builder

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Builder holds what one owner should have. Make one for each reconcile with [NewBuilder], in one goroutine; call the
// Reconcile methods in the order in which the objects depend on each other, and [Builder.ReconcileStore] last.
//
// Nothing in it is required: without a Recorder no events are written, without a Context the background's is used, and
// without a Store nothing is pruned.
type Builder struct {
	ConfigMaps []BuilderConfigMap
	// ConfigHash are the objects whose content rolls the pods; see [ToNewBuilderConfigMapHash].
	ConfigHash              []BuilderConfigMapHash
	DeploymentOrStatefulset []BuilderDeploymentStatefulSet
	StorageConfig           []BuilderStorageConfig
	Service                 []BuilderService
	NetworkPolicy           []BuilderNetworkPolicy
	Recorder                BuilderRecorder
	Context                 BuilderContext
	Store                   InternalStore

	declared map[schema.GroupKind]bool // kinds of which an option said all there should be, be it none
	failed   map[string]error          // what the last call of each Reconcile method ended with
}

// ToBuilder is an option of [NewBuilder].
type ToBuilder func(opts *Builder)

// NewBuilder returns a Builder with the options applied in order.
func NewBuilder(opts ...ToBuilder) *Builder {
	b := &Builder{}
	for _, opt := range opts {
		if opt != nil {
			opt(b)
		}
	}
	return b
}

// BuilderContext is the context of a pass. The zero value stands for context.Background.
type BuilderContext struct {
	Context context.Context
}

// ToNewBuilderContext sets the context of the pass.
func ToNewBuilderContext(builder BuilderContext) func(*Builder) {
	return func(s *Builder) { s.Context = builder }
}

func (s *Builder) context() context.Context { return contextOr(s.Context.Context) }

// contextOr returns ctx, which callers of the original may leave nil.
func contextOr(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// declare notes that an option said of some kinds all that there should be.
func (s *Builder) declare(kinds ...schema.GroupKind) {
	if s.declared == nil {
		s.declared = map[schema.GroupKind]bool{}
	}
	for _, k := range kinds {
		s.declared[k] = true
	}
}

// run applies objects of the Builder in parallel. what names the call, err is the error of making them.
func (s *Builder) run(what string, objects []desired, err error) (controllerutil.OperationResult, error) {
	result := controllerutil.OperationResultNone
	if err == nil {
		s.put(objects)
		result, err = s.apply(what, objects)
	}
	return result, s.ended(what, err)
}

// ended keeps how a call ended: after an error nothing is pruned.
func (s *Builder) ended(what string, err error) error {
	if err == nil {
		delete(s.failed, what)
		return nil
	}
	if s.failed == nil {
		s.failed = map[string]error{}
	}
	s.failed[what] = err
	return err
}

// Kinds that a Builder makes.
var (
	kindConfigMap     = corev1.SchemeGroupVersion.WithKind("ConfigMap").GroupKind()
	kindService       = corev1.SchemeGroupVersion.WithKind("Service").GroupKind()
	kindClaim         = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim").GroupKind()
	kindDeployment    = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	kindStatefulSet   = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	kindNetworkPolicy = schema.GroupKind{Group: "networking.k8s.io", Kind: "NetworkPolicy"}
)
