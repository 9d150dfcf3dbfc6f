package builder_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// ruled is a client that refuses what a rule of a custom resource's schema does, by its field, which buildertest's server doesn't run.
type ruled struct {
	client.Client
	rule func(before, after map[string]any) (field, message string)
}

func (r ruled) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	before, after := &unstructured.Unstructured{}, obj.DeepCopyObject().(*unstructured.Unstructured)
	before.SetGroupVersionKind(oddityKind)
	if err := r.Get(ctx, client.ObjectKeyFromObject(obj), before); err != nil {
		return err
	}
	if err := r.Client.Patch(ctx, after, patch, append(opts, client.DryRunAll)...); err != nil {
		return err
	}
	spec := func(u *unstructured.Unstructured) map[string]any { return u.Object["spec"].(map[string]any) }
	if field, message := r.rule(spec(before), spec(after)); field != "" {
		err := apierrors.NewInvalid(oddityKind.GroupKind(), obj.GetName(), nil)
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: message}}
		return err
	}
	return r.Client.Patch(ctx, obj, patch, opts...)
}

var oddityKind = schema.GroupVersionKind{Group: "test.armature.dev", Version: "v1", Kind: "Oddity"}

func oddity(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte("metadata: {namespace: default, name: o}\nspec: " + spec))
	require.NoError(t, err)
	u.Object = map[string]any{}
	require.NoError(t, yaml.Unmarshal(data, &u.Object))
	u.SetGroupVersionKind(oddityKind)
	return u
}

// oddities is a cluster with the custom resource, and what one pass does in it.
func oddities(t *testing.T, rule func(before, after map[string]any) (field, message string)) (c *cluster, want func(spec, label string) error) {
	t.Helper()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "blog"}}
	server := buildertest.NewServer(scheme.Scheme, buildertest.WithObjects(owner), buildertest.WithCRDs("../test/integration/builder/testdata/oddities"))
	c = &cluster{Client: server.Client("example"), server: server, owner: owner}
	c.get(owner)
	engine := builder.NewEngine(ruled{c.Client, rule}, builder.Options{Name: "example"})
	return c, func(spec, label string) error {
		desired := oddity(t, spec)
		desired.SetLabels(map[string]string{"label": label})
		_, err := engine.For(owner).Object(desired, builder.RecreateImmutable("")).Reconcile(t.Context())
		return err
	}
}

func noRule(_, _ map[string]any) (field, message string) { return "", "" }

func TestDriftOfACustomResourceIsPutBack(t *testing.T) {
	both := func(a, b, field, message string) func(_, after map[string]any) (string, string) {
		return func(_, after map[string]any) (string, string) {
			in := after
			if ports, ok := after["ports"].([]any); ok {
				in = ports[0].(map[string]any)
			}
			if in[a] == nil || in[b] == nil {
				return "", ""
			}
			return field, message
		}
	}
	for name, c := range map[string]struct {
		desired, edited string
		rule            func(before, after map[string]any) (field, message string)
	}{
		"a rule of the object":             {`{a: x}`, `{b: x}`, both("a", "b", "<nil>", "pick one")},
		"an element of a defaulted key":    {`{ports: [{port: 80, x: x}]}`, `{ports: [{port: 80, z: x}]}`, both("x", "z", "spec.ports[0]", "x or z")},
		"a key in a map that is one value": {`{one: {a: x}}`, `{one: {a: x, b: x}}`, noRule},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, want := oddities(t, c.rule)
			require.NoError(t, want(c.desired, "1"))
			before := oddity(t, "{}")
			cluster.get(before)
			for _, label := range []string{"1", "2", "2"} {
				found := oddity(t, "{}")
				cluster.get(found)
				found.Object["spec"] = oddity(t, c.edited).Object["spec"]
				require.NoError(t, cluster.server.Client("someone").Update(t.Context(), found))
				require.NoError(t, want(c.desired, label))
				cluster.get(found)
				assert.Equal(t, before.GetUID(), found.GetUID())
				assert.Equal(t, before.Object["spec"], found.Object["spec"])
				writes := len(cluster.server.Ledger().Writes())
				require.NoError(t, want(c.desired, label))
				assert.Len(t, cluster.server.Ledger().Writes(), writes)
			}
		})
	}
}

// What others have enlarged, and a rule of the object as a whole lets no one make smaller, is no reason to delete it.
func TestCustomResourceThatGrewIsNotDeleted(t *testing.T) {
	cluster, want := oddities(t, func(before, after map[string]any) (string, string) {
		was, _ := before["grows"].(int64)
		is, _ := after["grows"].(int64)
		if is < was {
			return "<nil>", "may only grow"
		}
		return "", ""
	})
	require.NoError(t, want("{grows: 1}", "1"))
	before := oddity(t, "{}")
	cluster.get(before)
	found := oddity(t, "{grows: 5}")
	found.SetResourceVersion(before.GetResourceVersion())
	cluster.edit(found, `{"spec": {"grows": 5}}`)
	for _, label := range []string{"1", "2"} {
		err := want("{grows: 1}", label)
		require.ErrorContains(t, err, "someone")
		require.NotErrorIs(t, err, builder.ErrImmutable)
		cluster.get(found)
		assert.Equal(t, before.GetUID(), found.GetUID())
	}
}
