package builder

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Builder has the desired objects of one owner. Make one for each reconcile with [NewBuilder], and use it in one goroutine. Call the
// Reconcile methods in the order in which the objects depend on each other, and [Builder.ReconcileStore] last.
//
// All fields are optional. Without a Recorder it writes no events, without a Context it uses context.Background, and without a Store
// it prunes nothing.
type Builder struct {
	ConfigMaps []BuilderConfigMap
	// ConfigHash are the objects whose changed content rolls the pods; see [ToNewBuilderConfigMapHash].
	ConfigHash              []BuilderConfigMapHash
	DeploymentOrStatefulset []BuilderDeploymentStatefulSet
	StorageConfig           []BuilderStorageConfig
	Service                 []BuilderService
	NetworkPolicy           []BuilderNetworkPolicy
	Recorder                BuilderRecorder
	Context                 BuilderContext
	Store                   InternalStore

	declared map[schema.GroupKind]bool // kinds of which an option set all objects, possibly none
	failed   map[string]error          // the error of the last call of each Reconcile method
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

// BuilderContext is the context of a pass. Default: context.Background.
type BuilderContext struct {
	Context context.Context
}

// ToNewBuilderContext sets the context of the pass.
func ToNewBuilderContext(builder BuilderContext) func(*Builder) {
	return func(s *Builder) { s.Context = builder }
}

func (s *Builder) context() context.Context { return contextOr(s.Context.Context) }

// contextOr returns ctx, or a default, because callers of the original may leave it nil.
func contextOr(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// declare records that an option set all objects of some kinds.
func (s *Builder) declare(kinds ...schema.GroupKind) {
	if s.declared == nil {
		s.declared = map[schema.GroupKind]bool{}
	}
	for _, k := range kinds {
		s.declared[k] = true
	}
}

// run applies objects of the Builder in parallel. what names the call, err is the error of making the objects.
func (s *Builder) run(what string, objects []desired, err error) (controllerutil.OperationResult, error) {
	result := controllerutil.OperationResultNone
	if err == nil {
		s.put(objects)
		result, err = s.apply(what, objects)
	}
	return result, s.ended(what, err)
}

// ended records the error of a call, because the Builder prunes nothing after an error.
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

// Kinds that a Builder creates.
var (
	kindConfigMap     = corev1.SchemeGroupVersion.WithKind("ConfigMap").GroupKind()
	kindService       = corev1.SchemeGroupVersion.WithKind("Service").GroupKind()
	kindClaim         = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim").GroupKind()
	kindDeployment    = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	kindStatefulSet   = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	kindNetworkPolicy = schema.GroupKind{Group: "networking.k8s.io", Kind: "NetworkPolicy"}
)
