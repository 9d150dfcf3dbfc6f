package rbac_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/effects"
	"github.com/armature-dev/armature/builder/rbac"
	"github.com/armature-dev/armature/builder/undo"
)

// owner is the kind that the tests' operators run; its plan is given.
type owner = appsv1.Deployment

func setup(plan builder.PlanFunc[*owner], describe func(*builder.Operator[*owner])) func(manager.Manager) error {
	return func(mgr manager.Manager) error {
		o := builder.NewOperator[*owner](mgr, "test").Plan(plan)
		describe(o)
		return o.Complete()
	}
}

func nothing(*owner, builder.View) builder.Plan[*owner] { return builder.Plan[*owner]{} }

// derived returns the permissions in words, without those that every operator has.
func derived(t *testing.T, o rbac.Options) []string {
	t.Helper()
	o.Scheme = scheme.Scheme
	rules, err := rbac.Derive(o)
	require.NoError(t, err)
	every, err := rbac.Derive(rbac.Options{Scheme: scheme.Scheme, Setup: setup(nothing, func(*builder.Operator[*owner]) {})})
	require.NoError(t, err)
	var words []string
	for _, c := range rbac.Diff(every, rules) {
		words = append(words, c.String())
	}
	return words
}

func TestEveryOperator(t *testing.T) {
	rules, err := rbac.Derive(rbac.Options{Scheme: scheme.Scheme, Setup: setup(nothing, func(*builder.Operator[*owner]) {})})
	require.NoError(t, err)
	assert.Equal(t, []rbacv1.PolicyRule{
		{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{"apps"}, Resources: []string{"deployments/status"}, Verbs: []string{"patch"}},
		{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	}, rules)
}

// Without a sample, an operator may do with its children what any plan may do.
func TestDeclarations(t *testing.T) {
	assert.Equal(t, []string{
		"+ get configmaps", "+ list configmaps", "+ watch configmaps", "+ create configmaps", "+ patch configmaps", "+ delete configmaps",
		"+ list nodes", "+ watch nodes",
		"+ list pods", "+ watch pods",
		"+ get secrets", "+ create secrets", "+ patch secrets", "+ delete secrets",
		"+ patch deployments.apps", "+ update deployments/finalizers.apps",
		"+ get jobs.batch", "+ list jobs.batch", "+ watch jobs.batch", "+ create jobs.batch", "+ patch jobs.batch", "+ delete jobs.batch",
		"+ get storageclasses.storage.k8s.io", "+ list storageclasses.storage.k8s.io", "+ watch storageclasses.storage.k8s.io",
		"+ create storageclasses.storage.k8s.io", "+ patch storageclasses.storage.k8s.io", "+ delete storageclasses.storage.k8s.io",
	}, derived(t, rbac.Options{Setup: setup(nothing, func(o *builder.Operator[*owner]) {
		o.Owns(&corev1.ConfigMap{}).
			Owns(&corev1.Secret{}, builder.ByName(func(o *owner) []string { return []string{o.Name} })).
			Owns(&batchv1.Job{}, builder.Dependents(&corev1.Pod{})).
			Owns(&storagev1.StorageClass{}, builder.CrossNamespace()).
			Watches(&corev1.Node{}, builder.ObservedByAll())
	})}))
}

// What a plan does with a sample decides about patch and delete.
func TestSamples(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "default", Name: "a"}
	plan := func(o *owner, _ builder.View) builder.Plan[*owner] {
		p := builder.Plan[*owner]{
			Children: []builder.Child{
				builder.Want(&corev1.ConfigMap{ObjectMeta: meta}),
				builder.Want(&batchv1.Job{ObjectMeta: meta}, builder.CreateOnly()),
				builder.Want(&appsv1.StatefulSet{ObjectMeta: meta}, builder.RecreateImmutable(metav1.DeletePropagationForeground)),
			},
			Prune: []client.Object{&batchv1.Job{}},
		}
		p.PruneAll = o.Name == "all"
		return p
	}
	options := rbac.Options{
		Samples: []client.Object{&owner{ObjectMeta: meta}},
		Setup: setup(plan, func(o *builder.Operator[*owner]) {
			o.Owns(&corev1.ConfigMap{}).Owns(&batchv1.Job{}).Owns(&appsv1.StatefulSet{})
		}),
	}
	assert.Equal(t, []string{
		"+ get configmaps", "+ list configmaps", "+ watch configmaps", "+ create configmaps", "+ patch configmaps",
		"+ update deployments/finalizers.apps", "- patch deployments/status.apps", // the plan has no status
		"+ get statefulsets.apps", "+ list statefulsets.apps", "+ watch statefulsets.apps", "+ create statefulsets.apps",
		"+ patch statefulsets.apps", "+ delete statefulsets.apps",
		"+ get jobs.batch", "+ list jobs.batch", "+ watch jobs.batch", "+ create jobs.batch", "+ patch jobs.batch", "+ delete jobs.batch",
	}, derived(t, options))

	all := options
	all.Samples = []client.Object{&owner{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "all"}}}
	more := derived(t, all)
	assert.Contains(t, more, "+ patch deployments.apps", "the record of kinds")
	assert.Contains(t, more, "+ delete configmaps")
}

// An owner of a cluster-scoped kind of Kubernetes is in no namespace, so that its children may be in any.
func TestBuiltInClusterScopedOwner(t *testing.T) {
	rules, err := rbac.Derive(rbac.Options{
		Scheme: scheme.Scheme, Samples: []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}},
		Setup: func(mgr manager.Manager) error {
			return builder.NewOperator[*corev1.Namespace](mgr, "test").Owns(&corev1.ConfigMap{}).
				Plan(func(o *corev1.Namespace, _ builder.View) builder.Plan[*corev1.Namespace] {
					return builder.Plan[*corev1.Namespace]{Children: []builder.Child{
						builder.Want(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: o.Name, Name: "defaults"}}),
					}}
				}).Complete()
		},
	})
	require.NoError(t, err)
	assert.True(t, rbac.Allows(rules, rbac.Permission{Verb: "create", Resource: "configmaps"}))
	assert.False(t, rbac.Allows(rules, rbac.Permission{Verb: "delete", Resource: "configmaps"}))
}

// PruneAll lists a kind past the cache, also one whose children are read by name.
func TestPruneAllListsKindsByName(t *testing.T) {
	plan := func(o *owner, _ builder.View) builder.Plan[*owner] {
		return builder.Plan[*owner]{PruneAll: o.Name == "all"}
	}
	permissions := func(name string) []string {
		return derived(t, rbac.Options{
			Samples: []client.Object{&owner{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}},
			Setup: setup(plan, func(o *builder.Operator[*owner]) {
				o.Owns(&corev1.Secret{}, builder.ByName(func(o *owner) []string { return []string{o.Name} }))
			}),
		})
	}
	assert.Contains(t, permissions("all"), "+ list secrets")
	assert.Contains(t, permissions("all"), "+ delete secrets")
	assert.NotContains(t, permissions("some"), "+ list secrets")
}

func TestMore(t *testing.T) {
	assert.Equal(t, []string{"+ delete deployments.apps", "+ get nonResourceURL /metrics"}, derived(t, rbac.Options{
		Setup: setup(nothing, func(*builder.Operator[*owner]) {}),
		More: []rbacv1.PolicyRule{
			{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"delete"}},
			{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}},
		},
	}))
}

func TestErrors(t *testing.T) {
	bare := func(*builder.Operator[*owner]) {}
	for want, o := range map[string]rbac.Options{
		"rbac: the setup completes no operator": {Setup: func(manager.Manager) error { return nil }},
		"rbac: the sample *v1.Pod a is of no operator's kind": {
			Setup: setup(nothing, bare), Samples: []client.Object{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}},
		},
		"there is no Plan": {Setup: setup(nil, bare)},
		"no-such-file":     {Setup: setup(nothing, bare), CRDs: []string{"no-such-file"}},
		"*v1.Deployment x/a": {
			Setup:   setup(func(*owner, builder.View) builder.Plan[*owner] { panic("no") }, bare),
			Samples: []client.Object{&owner{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "a"}}},
		},
	} {
		o.Scheme = scheme.Scheme
		_, err := rbac.Derive(o)
		assert.ErrorContains(t, err, want)
	}
}

// A CRD names its resource, which need not be the plural that one would guess.
func TestCRDsNameResources(t *testing.T) {
	file := filepath.Join(t.TempDir(), "crd.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`kind: CustomResourceDefinition
spec:
  group: apps
  names: {kind: Deployment, plural: deploymentz}
`), 0o600))
	rules, err := rbac.Derive(rbac.Options{Scheme: scheme.Scheme, CRDs: []string{file}, Setup: setup(nothing, func(*builder.Operator[*owner]) {})})
	require.NoError(t, err)
	assert.Equal(t, []string{"deploymentz"}, rules[0].Resources)
}

func TestRoleIsTheSameText(t *testing.T) {
	role, err := rbac.Role(rbac.Options{Name: "test-operator", Scheme: scheme.Scheme, Setup: setup(nothing, func(o *builder.Operator[*owner]) {
		o.Owns(&corev1.ConfigMap{}).Owns(&corev1.Service{})
	})})
	require.NoError(t, err)
	text := rbac.Marshal(role)
	assert.Contains(t, string(text), "- apiGroups: [\"\"]\n  resources: [configmaps, services]\n  verbs: [get, list, watch, create, patch, delete]\n")
	file := filepath.Join(t.TempDir(), "role.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	read, err := rbac.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, role.Rules, read)
}

// An operator that keeps former states for an undo needs ControllerRevisions.
func TestUndo(t *testing.T) {
	assert.Equal(t, []string{
		"+ get controllerrevisions.apps", "+ create controllerrevisions.apps", "+ delete controllerrevisions.apps",
	}, derived(t, rbac.Options{Setup: func(mgr manager.Manager) error {
		with, err := undo.Around(mgr, undo.Options{Build: "1"})
		if err != nil {
			return err
		}
		return setup(nothing, func(*builder.Operator[*owner]) {})(with)
	}}))
}

// An operator with external effects writes their journals, and a finalizer on owners.
func TestEffects(t *testing.T) {
	assert.Equal(t, []string{
		"+ get controllerrevisions.apps", "+ list controllerrevisions.apps", "+ watch controllerrevisions.apps",
		"+ create controllerrevisions.apps", "+ patch controllerrevisions.apps", "+ delete controllerrevisions.apps",
		"+ patch deployments.apps", "+ update deployments/finalizers.apps",
	}, derived(t, rbac.Options{Samples: []client.Object{&owner{}}, Setup: setup(nothing, func(o *builder.Operator[*owner]) {
		o.Owns(&appsv1.ControllerRevision{}, effects.PerformedBy("outside", performer{}, effects.Options{}))
	})}))
}

type performer struct{ effects.Performer }
