package builder_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/internal/wellknown"
)

// diff asks what a pass would do, and makes sure that asking changes nothing.
func (w *world) diff(b *builder.Builder, objs ...client.Object) (builder.Result, []string, error) {
	w.t.Helper()
	before := w.versions()
	w.sent.reset()
	for _, o := range objs {
		b.Object(o)
	}
	d, err := b.Diff(w.ctx)
	sent := w.sent.all()
	for _, s := range sent {
		assert.True(w.t, strings.HasPrefix(s, "GET ") || strings.HasSuffix(s, "(dry run)"), s)
	}
	assert.Equal(w.t, before, w.versions(), "nothing is written")
	assert.Empty(w.t, w.told.take(), "no one is told")
	return d, sent, err
}

// versions returns the resource version of everything that the tests of Diff make.
func (w *world) versions() map[string]string {
	versions := map[string]string{}
	for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, &corev1.SecretList{}} {
		require.NoError(w.t, w.live.List(w.ctx, list, client.InNamespace(w.ns)))
		switch list := list.(type) {
		case *corev1.ConfigMapList:
			for _, o := range list.Items {
				versions["ConfigMap "+o.Name] = o.ResourceVersion
			}
		case *corev1.SecretList:
			for _, o := range list.Items {
				versions["Secret "+o.Name] = o.ResourceVersion
			}
		}
	}
	return versions
}

// lines renders a diff without the namespace.
func (w *world) lines(d builder.Result) string { return strings.ReplaceAll(d.String(), w.ns+"/", "") }

func TestDiffOfALife(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{}, &corev1.Secret{})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: map[string][]byte{"kept": []byte("one"), "token": []byte("hunter2")}}
	start := func() *builder.Builder { return w.engine.For(w.owner).Prune(&corev1.ConfigMap{}) }

	d, sent, err := w.diff(start(), configMap("a", "k", "1"), configMap("b", "k.x", "2"), secret)
	require.NoError(t, err)
	assert.Len(t, sent, 3)
	got := w.lines(d)
	assert.Contains(t, got, "+ ConfigMap a\n+     data.k: \"1\"\n+     metadata.labels[\"app.kubernetes.io/managed-by\"]: \"armature\"\n")
	assert.Contains(t, got, `+     data["k.x"]: "2"`)
	assert.Contains(t, got, "+     data.token: ***\n")
	assert.NotContains(t, got, "hunter2")
	assert.NotContains(t, got, "aHVudGVyMg")
	assert.NotContains(t, got, wellknown.AnnotationDigest)

	res, _, err := w.pass(configMap("a", "k", "1"), configMap("b", "k.x", "2"), secret)
	require.NoError(t, err)
	require.Len(t, res.Changes, len(d.Changes))
	for i, c := range res.Changes {
		assert.Equal(t, c.Key, d.Changes[i].Key)
		assert.Equal(t, c.Reason, d.Changes[i].Reason)
	}
	w.told.take()

	d, sent, err = w.diff(start(), configMap("a", "k", "1"), configMap("b", "k.x", "2"), secret)
	require.NoError(t, err)
	assert.Empty(t, d.Changes)
	assert.Empty(t, sent, "what is as wanted costs no request")
	assert.Empty(t, d.String())
	assert.Equal(t, 3, d.Unchanged)

	secret.Data = map[string][]byte{"kept": []byte("one"), "token": []byte("hunter3"), "new": []byte("x")}
	w.edit(configMap("a"), func(o client.Object) { o.(*corev1.ConfigMap).Data["k"] = "drifted" })
	d, _, err = w.diff(start(), configMap("a", "k", "1"), secret)
	require.NoError(t, err)
	assert.Equal(t, `~ ConfigMap a
-     data.k: "drifted"
+     data.k: "1"
~ Secret s
+     data.new: ***
-     data.token: *** (before)
+     data.token: *** (after)
- ConfigMap b
`, w.lines(d))

	_, _, err = w.passFor(start(), configMap("a", "k", "1"), secret)
	require.NoError(t, err)
	w.told.take()
	d, sent, err = w.diff(start(), configMap("a", "k", "1"), secret)
	require.NoError(t, err)
	assert.Empty(t, d.Changes, d)
	assert.Empty(t, sent)
}

func TestDiffOfRemovedFields(t *testing.T) {
	w := newWorld(t)
	wanted := webDeployment()
	wanted.Spec.Replicas = ptr.To[int32](0)
	_, _, err := w.pass(wanted)
	require.NoError(t, err)
	w.told.take()

	pod := &wanted.Spec.Template.Spec
	pod.Containers[0].Env = pod.Containers[0].Env[:1]
	pod.Containers[0].LivenessProbe = nil
	pod.Tolerations = nil
	pod.NodeSelector = map[string]string{"disk": "ssd"}
	wanted.Spec.Replicas = nil
	want := func() string {
		d, sent, err := w.diff(w.engine.For(w.owner), wanted)
		require.NoError(t, err)
		assert.LessOrEqual(t, len(sent), 2)
		return w.lines(d)
	}
	created := want()
	assert.Contains(t, created, "-     spec.replicas: 0\n+     spec.replicas: 1 (by the API server)\n", "the default comes back")
	assert.Contains(t, created, "-     spec.template.spec.containers[name=web].livenessProbe.")
	assert.NotContains(t, created, "+     spec.template.spec.containers", "nothing is added")
	assert.Contains(t, created, "-     spec.template.spec.tolerations[")
	assert.Contains(t, created, `+     spec.template.spec.nodeSelector.disk: "ssd"`)

	before := w.get(wanted)
	_, _, err = w.pass(wanted)
	require.NoError(t, err)
	w.told.take()
	assert.NotEqual(t, before.GetGeneration(), w.get(wanted).GetGeneration())
	assert.Empty(t, want(), "it has come true")

	pod.NodeSelector = nil
	assert.Equal(t, "~ Deployment.apps web\n-     spec.template.spec.nodeSelector.disk: \"ssd\"\n", want(), "of one that was applied")
}

func TestDiffErrsAsReconcileWould(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	theirs := configMap("theirs")
	theirs.Namespace = w.ns
	require.NoError(t, w.live.Create(w.ctx, theirs))
	w.settle(theirs)
	bad := webDeployment()
	*bad.Spec.Replicas = -1

	d, _, err := w.diff(w.engine.For(w.owner).Prune(&corev1.ConfigMap{}), bad, configMap("theirs"), configMap("good"))
	require.ErrorIs(t, err, builder.ErrNotOwned)
	assert.ErrorContains(t, err, "create Deployment.apps "+w.ns+"/web:")
	assert.ErrorContains(t, err, "spec.replicas")
	require.Len(t, d.Changes, 1, "it tells of the rest")
	assert.Equal(t, "good", d.Changes[0].Key.Name)

	_, _, err = w.diff(w.engine.For(w.owner), configMap(""))
	assert.ErrorIs(t, err, builder.ErrMisuse)

	// What was tried isn't taken for told.
	_, _, err = w.pass(configMap("theirs"))
	require.Error(t, err)
	assert.Len(t, w.told.take(), 1)
}
