package apply

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestIgnoredFieldsAreCreatedAndThenLeftAlone(t *testing.T) {
	wanted := deployment("web")
	wanted.Annotations = map[string]string{"example.com/x": "1"}
	options := &Options{Ignored: []string{
		"spec.replicas", "metadata.annotations[example.com/x]", "spec.template.spec.containers[name=web].image",
	}}
	for name, obj := range map[string]client.Object{"typed": wanted, "unstructured": untyped(t, wanted, "apps/v1", "Deployment")} {
		t.Run(name, func(t *testing.T) {
			before := obj.DeepCopyObject()
			d := stamped(t, Child{Object: obj, Options: options})
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
					assert.True(t, newCluster(t).contains(d, found), "what is there isn't compared")
					assert.Equal(t, d.Digest, stamped(t, Child{Object: again, Options: options}).Digest, "what is wanted doesn't count")
				} else {
					assert.True(t, newCluster(t).contains(d, untyped(t, found, "apps/v1", "Deployment")))
					assert.Equal(t, d.Digest, stamped(t, Child{Object: untyped(t, again, "apps/v1", "Deployment"), Options: options}).Digest)
				}
			}
			assert.NotEqual(t, d.Digest, stamped(t, Child{Object: obj}).Digest, "switched on, it is another wish")
		})
	}
}
