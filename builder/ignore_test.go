package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/internal/wellknown"
)

func stampedWith(t *testing.T, obj client.Object, opts ...ChildOption) *desired {
	p, err := engineWith(interceptor.Funcs{}).newPass(owner())
	require.NoError(t, err)
	d, err := p.desire(Want(obj, opts...))
	require.NoError(t, err)
	require.NoError(t, d.stamp(p))
	return d
}

func untyped(t *testing.T, obj client.Object, apiVersion, kind string) *unstructured.Unstructured {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	require.NoError(t, err)
	u := &unstructured.Unstructured{Object: fields}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	return u
}

func TestIgnoredFieldsAreCreatedAndThenLeftAlone(t *testing.T) {
	wanted := deployment("web")
	wanted.Annotations = map[string]string{"example.com/x": "1"}
	option := Ignore("spec.replicas", "metadata.annotations[example.com/x]", "spec.template.spec.containers[name=web].image")
	for name, obj := range map[string]client.Object{"typed": wanted, "unstructured": untyped(t, wanted, "apps/v1", "Deployment")} {
		t.Run(name, func(t *testing.T) {
			before := obj.DeepCopyObject()
			d := stampedWith(t, obj, option)
			assert.Equal(t, before, obj)

			created := untyped(t, d.object, "apps/v1", "Deployment")
			replicas, _, _ := unstructured.NestedFieldNoCopy(created.Object, "spec", "replicas")
			assert.EqualValues(t, 2, replicas, "the first value is sent")
			assert.Equal(t, "1", created.GetAnnotations()["example.com/x"])
			_, applied, _ := unstructured.NestedFieldNoCopy(d.fields, "spec", "replicas")
			assert.False(t, applied)

			for _, change := range []func(*appsv1.Deployment){
				func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](9) },
				func(d *appsv1.Deployment) { delete(d.Annotations, "example.com/x") },
				func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "other" },
			} {
				found := &appsv1.Deployment{}
				require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(created.Object, found))
				change(found)
				again := wanted.DeepCopy()
				change(again)
				found.TypeMeta.Kind, found.APIVersion = "", ""
				if name == "typed" {
					assert.True(t, engineWith(interceptor.Funcs{}).contains(d, found), "what is there isn't compared")
					assert.Equal(t, d.digest, stampedWith(t, again, option).digest, "what is wanted doesn't count")
				} else {
					assert.True(t, engineWith(interceptor.Funcs{}).contains(d, untyped(t, found, "apps/v1", "Deployment")))
					assert.Equal(t, d.digest, stampedWith(t, untyped(t, again, "apps/v1", "Deployment"), option).digest)
				}
			}
			assert.NotEqual(t, d.digest, stampedWith(t, obj).digest, "switched on, it is another wish")
		})
	}
}

func TestPathsToIgnoreAreChecked(t *testing.T) {
	for path, says := range map[string]string{
		"spec.replcas":                    "replcas of spec is unknown",
		"spec..replicas":                  "name of a field is wanted",
		"":                                "is empty",
		"metadata.name":                   "builder needs",
		"metadata":                        "builder needs",
		"metadata.labels":                 "builder needs",
		"metadata.ownerReferences[uid=x]": "builder needs",
		"metadata.annotations[" + wellknown.AnnotationDigest + "]": "builder needs",
		"kind":            "never left to others",
		"status.replicas": "never written",
	} {
		e := engineWith(interceptor.Funcs{})
		_, err := e.For(owner()).Deployment(deployment("web"), Ignore("spec.paused", path)).Reconcile(t.Context())
		require.ErrorIs(t, err, ErrMisuse, path)
		assert.ErrorContains(t, err, says)
		assert.ErrorContains(t, err, `path "`+path+`" to ignore of Deployment.apps default/web`)
	}
}

func TestOptionsAreInTheHash(t *testing.T) {
	hash := func(opts ...ChildOption) uint64 {
		h, ok := Want(deployment("web"), opts...).hash()
		require.True(t, ok)
		return h
	}
	assert.Equal(t, hash(), hash())
	assert.Equal(t, hash(Ignore("a", "b")), hash(Ignore("a"), Ignore("b")))
	assert.NotEqual(t, hash(), hash(Ignore("a")))
	assert.NotEqual(t, hash(Ignore("b")), hash(Ignore("a")))
}
