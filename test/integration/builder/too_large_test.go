package builder_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/builder"
)

// What is too large is said by the API server in four ways, of which none names the field that is large.
func TestTooLargeChild(t *testing.T) {
	large := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct {
		grow  func(*appsv1.Deployment, *corev1.ConfigMap)
		about string
		field string
		says  []string
	}{
		"data of a ConfigMap": {
			func(_ *appsv1.Deployment, c *corev1.ConfigMap) {
				c.Data = map[string]string{"small": large(1000), "large.txt": large(1100 * 1024)}
			},
			"ConfigMap", "data[large.txt]", []string{"data[large.txt] has 1126400 bytes", "at most 1048576 bytes"},
		},
		"many keys": {
			func(_ *appsv1.Deployment, c *corev1.ConfigMap) {
				c.Data = map[string]string{}
				for _, k := range "abcdefghijkl" {
					c.Data[string(k)] = large(100 * 1024)
				}
			},
			"ConfigMap", "data", []string{"data has 12", "in 12 parts", "at most 1048576 bytes"},
		},
		"annotations": {
			func(_ *appsv1.Deployment, c *corev1.ConfigMap) {
				c.Annotations = map[string]string{"a": "b", "example.com/large": large(300 * 1024)}
			},
			"ConfigMap", "metadata.annotations[example.com/large]", []string{"has 307200 bytes", "at most 262144 bytes"},
		},
		"what etcd stores": {
			func(d *appsv1.Deployment, _ *corev1.ConfigMap) {
				d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "a"}, {Name: "LARGE", Value: large(1700 * 1024)}}
			},
			"Deployment", "spec.template.spec.containers[name=web].env[name=LARGE].value", []string{"has 1740800 bytes", "at most 1572864 bytes"},
		},
		"what etcd is sent": {
			func(d *appsv1.Deployment, _ *corev1.ConfigMap) {
				d.Spec.Template.Spec.Containers[0].Args = []string{"a", large(2500 * 1024)}
			},
			"Deployment", "spec.template.spec.containers[name=web].args[1]", []string{"has 2560000 bytes"},
		},
		"a request": {
			func(_ *appsv1.Deployment, c *corev1.ConfigMap) { c.Data = map[string]string{"large": large(4 << 20)} },
			"ConfigMap", "data.large", []string{"data.large has 4194304 bytes", "at most 3145728 bytes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, &corev1.ConfigMap{}, &appsv1.Deployment{})
			recreate := builder.RecreateImmutable("")
			check := func(when string) {
				t.Helper()
				d, cm := webDeployment(), configMap("config", "a", "b")
				*d.Spec.Replicas = 0
				c.grow(d, cm)
				var err error
				w.eventually(func() bool { // the Deployment's controller writes its status meanwhile
					_, err = w.engine.For(w.owner).Deployment(d, recreate).ConfigMap(cm, recreate).ConfigMap(configMap("beside-" + when)).Reconcile(w.ctx)
					return err != nil && !apierrors.IsConflict(err)
				}, "%s: an error", when)
				assert.True(t, builder.IsTerminal(err), "%s: it isn't sent again and again: %v", when, err)
				var about *builder.Error
				require.ErrorAs(t, err, &about, when)
				assert.Equal(t, c.about, about.Key.Kind, when)
				assert.Equal(t, []string{c.field}, about.Fields(), when)
				for _, part := range c.says {
					assert.ErrorContains(t, err, part, when)
				}
				assert.Less(t, len(err.Error()), 1500, when)
				assert.NotEmpty(t, w.get(configMap("beside-"+when)).GetUID(), "%s: the other child is made all the same", when)
			}
			check("created")
			d, cm := webDeployment(), configMap("config", "a", "b")
			*d.Spec.Replicas = 0
			res, err := w.engine.For(w.owner).Deployment(d, recreate).ConfigMap(cm, recreate).Reconcile(w.ctx)
			require.NoError(t, err)
			require.NotEmpty(t, res.Changes)
			uids := func() []types.UID { return []types.UID{w.get(d).GetUID(), w.get(cm).GetUID()} }
			want := uids()
			check("changed")
			assert.Equal(t, want, uids(), "nothing is deleted for it")
		})
	}
}
