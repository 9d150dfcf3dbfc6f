package builder_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/test/testcluster"
)

// createOrUpdate makes an object of the owner's as an operator does that was written with controllerutil. A manager that
// is empty is what a client without a field owner is called: its program.
func createOrUpdate[T client.Object](w *world, manager string, obj T, mutate func(T)) {
	w.t.Helper()
	c, err := client.New(testcluster.Config(w.t), client.Options{Scheme: testScheme()})
	require.NoError(w.t, err)
	if manager != "" {
		c = client.WithFieldOwner(c, manager)
	}
	obj.SetNamespace(w.ns)
	_, err = controllerutil.CreateOrUpdate(w.ctx, c, obj, func() error {
		mutate(obj)
		return controllerutil.SetControllerReference(w.owner, obj, testScheme())
	})
	require.NoError(w.t, err)
	w.settle(obj)
}

func data(pairs ...string) func(*corev1.ConfigMap) {
	return func(c *corev1.ConfigMap) {
		if c.Data == nil {
			c.Data = map[string]string{}
		}
		for i := 0; i < len(pairs); i += 2 {
			c.Data[pairs[i]] = pairs[i+1]
		}
	}
}

func (w *world) data(name string) map[string]string {
	return w.get(configMap(name)).(*corev1.ConfigMap).Data
}

// The operator was written with CreateOrUpdate, and its next version with the builder: what isn't desired any more goes,
// without an option, since both are one program. What others have set stays.
func TestLeavingCreateOrUpdate(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	createOrUpdate(w, "", configMap("c"), data("a", "1", "gone", "1"))
	createOrUpdate(w, "", configMap("c"), data("later", "1"))
	createOrUpdate(w, "kubectl-edit", configMap("c"), data("theirs", "1"))
	require.Contains(t, managers(w.get(configMap("c"))), filepath.Base(os.Args[0]))

	diff, err := w.engine.For(w.owner).ConfigMap(configMap("c", "a", "1")).Diff(w.ctx)
	require.NoError(t, err)
	assert.Contains(t, diff.String(), `-     data.gone: "1"`)
	assert.NotContains(t, diff.String(), "theirs")

	w.mustWant(true, "the first pass", configMap("c", "a", "1"))
	assert.Equal(t, map[string]string{"a": "1", "theirs": "1"}, w.data("c"))
	w.mustWant(false, "taken over", configMap("c", "a", "1"))
	assert.Equal(t, []string{"Normal Updated Apply: Updated ConfigMap c"}, w.told.take())

	createOrUpdate(w, "", configMap("c"), data("new", "1"))
	w.mustWant(false, "what the program writes besides, later on, is left", configMap("c", "a", "1"))
	w.mustWant(true, "also at a change", configMap("c", "a", "2"))
	assert.Equal(t, map[string]string{"a": "2", "theirs": "1", "new": "1"}, w.data("c"))
}

// Under another name it might be anyone: what stays is told, with what would remove it, and that works at once.
func TestLeavingAnOperatorOfAnotherName(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	createOrUpdate(w, "old-operator", configMap("c"), data("a", "1", "gone", "1", "nginx.conf", "x"))
	createOrUpdate(w, "kubectl-edit", configMap("c"), data("theirs", "1"))
	wanted := configMap("c", "a", "1")

	diff, err := w.engine.For(w.owner).ConfigMap(wanted).Diff(w.ctx)
	require.NoError(t, err)
	assert.Contains(t, diff.String(), `!     kept by field manager old-operator: data.gone, data["nginx.conf"]`)
	assert.Empty(t, w.told.take())

	w.mustWant(true, "the first pass", wanted)
	assert.Equal(t, map[string]string{"a": "1", "gone": "1", "nginx.conf": "x", "theirs": "1"}, w.data("c"))
	told := w.told.take()
	require.Len(t, told, 2)
	assert.Equal(t, "Normal Updated Apply: Updated ConfigMap c", told[0])
	assert.Equal(t, `Warning FieldsLeft Apply: ConfigMap c keeps data.gone, data["nginx.conf"], which aren't desired: field manager old-operator has set them. `+
		`If that is a former version of this program, give the child builder.Adopt(builder.AdoptOptions{OwnedOnly: true, FormerManagers: []string{"old-operator"}}), and they go`, told[1])
	w.mustWant(false, "told once", wanted)

	adopt := builder.Adopt(builder.AdoptOptions{OwnedOnly: true, FormerManagers: []string{"old-operator"}})
	diff, err = w.engine.For(w.owner).ConfigMap(wanted, adopt).Diff(w.ctx)
	require.NoError(t, err)
	assert.Contains(t, diff.String(), `-     data.gone: "1"`)
	w.mustWant(true, "adopted later, and nothing else has changed", wanted, adopt)
	assert.Equal(t, map[string]string{"a": "1", "theirs": "1"}, w.data("c"))
	w.mustWant(false, "done", wanted, adopt)
	assert.Equal(t, []string{"Normal Updated Apply: Updated ConfigMap c"}, w.told.take())
}

// The API server's defaults are on record as the former manager's. They aren't left, they would come back.
func TestOnlyWhatIsLeftIsTold(t *testing.T) {
	w := newWorld(t, &appsv1.Deployment{})
	old := webDeployment()
	createOrUpdate(w, "old-operator", old.DeepCopy(), func(d *appsv1.Deployment) { d.Spec = *old.Spec.DeepCopy() })
	w.mustWant(true, "nothing is left", webDeployment())
	assert.Equal(t, []string{"Normal Updated Apply: Updated Deployment web"}, w.told.take())

	w = newWorld(t, &appsv1.Deployment{})
	old.Spec.Template.Spec.HostNetwork = true
	old.Spec.Template.Spec.Containers[0].Env = append(old.Spec.Template.Spec.Containers[0].Env, corev1.EnvVar{Name: "OLD", Value: "x"})
	createOrUpdate(w, "old-operator", old.DeepCopy(), func(d *appsv1.Deployment) { d.Spec = *old.Spec.DeepCopy() })
	w.mustWant(true, "two fields are left", webDeployment())
	told := strings.Join(w.told.take(), "\n")
	assert.Contains(t, told, "spec.template.spec.hostNetwork, ")
	assert.Contains(t, told, "env[name=OLD]")
	assert.NotContains(t, told, "dnsPolicy")
	w.mustWant(true, "adopted", webDeployment(), builder.Adopt(builder.AdoptOptions{OwnedOnly: true, FormerManagers: []string{"old-operator"}}))
	got := w.get(webDeployment()).(*appsv1.Deployment).Spec.Template.Spec
	assert.False(t, got.HostNetwork)
	assert.Len(t, got.Containers[0].Env, len(webDeployment().Spec.Template.Spec.Containers[0].Env))
}

// A predecessor's object is known by its labels, and its fields by its manager.
func TestLabelledOrphanLosesFormerKeys(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	for _, name := range []string{"c", "d"} {
		theirs := configMap(name, "gone", "1")
		theirs.Labels = map[string]string{"cluster": "a", "old": "x"}
		theirs.Annotations = map[string]string{"old": "x"}
		w.made(theirs, map[string]string{"c": "old-operator", "d": filepath.Base(os.Args[0])}[name])
		labelled := map[string]string{"cluster": "a"}
		_, sent, err := w.want(configMap(name, "a", "1"), builder.Adopt(builder.AdoptOptions{Labels: labelled}))
		require.ErrorIs(t, err, builder.ErrNotOwned, "anyone can label")
		assert.Empty(t, sent)
		w.mustWant(true, "adopt", configMap(name, "a", "1"), builder.Adopt(builder.AdoptOptions{
			Labels: labelled, FormerManagers: []string{"old-operator", filepath.Base(os.Args[0])},
		}))
		got := w.get(configMap(name)).(*corev1.ConfigMap)
		assert.Equal(t, map[string]string{"a": "1"}, got.Data)
		assert.NotContains(t, got.Labels, "old")
		assert.NotContains(t, got.Annotations, "old")
	}
}

func managers(obj client.Object) (names []string) {
	for _, entry := range obj.GetManagedFields() {
		names = append(names, entry.Manager)
	}
	return names
}
