package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// A child that was deleted and made again behind a stale cache has another UID. The API server calls the apply invalid;
// to us it is a conflict: the next pass sees the new one.
func TestAChildReplacedBehindAStaleCacheIsTriedAgain(t *testing.T) {
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner", UID: "owner-uid"}}
	child := func(value string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "child"}, Data: map[string]string{"a": value}}
	}
	server := buildertest.NewServer(clientgoscheme.Scheme, buildertest.WithObjects(owner))
	ours, others := server.Client("ours"), server.Client("others")
	require.NoError(t, others.Get(t.Context(), client.ObjectKeyFromObject(owner), owner))
	engine := builder.NewEngine(ours, builder.Options{})

	for _, value := range []string{"1", "2"} { // created, then applied
		_, err := engine.For(owner).ConfigMap(child(value)).Reconcile(t.Context())
		require.NoError(t, err)
	}
	ours.Freeze()
	live := child("")
	require.NoError(t, others.Get(t.Context(), client.ObjectKeyFromObject(live), live))
	require.NoError(t, others.Delete(t.Context(), live))
	live.ResourceVersion, live.UID = "", ""
	require.NoError(t, others.Create(t.Context(), live))

	for _, options := range [][]builder.ChildOption{nil, {builder.KeepImmutable()}} {
		_, err := engine.For(owner).Object(child("3"), options...).Reconcile(t.Context())
		require.ErrorContains(t, err, "metadata.uid")
		assert.NotErrorIs(t, err, builder.ErrImmutable)
		assert.False(t, builder.IsTerminal(err), "%v", err)
	}

	ours.Refresh()
	res, err := engine.For(owner).ConfigMap(child("3")).Reconcile(t.Context())
	require.NoError(t, err)
	assert.Len(t, res.Changes, 1)
}

// An apply of a Service names the version that the cache shows, so a write of another that it doesn't show yet is a conflict. Without the
// version the API server may lose the node port that it allocates meanwhile.
func TestServiceIsAppliedInTheObservedVersion(t *testing.T) {
	c, ctx := newCluster(), t.Context()
	want := func(kind corev1.ServiceType) error {
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}, Spec: corev1.ServiceSpec{
			Type: kind, Ports: []corev1.ServicePort{{Port: 80}},
		}}
		_, err := c.engine.For(c.owner).Service(s).Reconcile(ctx)
		return err
	}
	require.NoError(t, want(corev1.ServiceTypeClusterIP))
	c.Freeze()
	live := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}}
	someone := c.server.Client("someone")
	require.NoError(t, someone.Get(ctx, client.ObjectKeyFromObject(live), live))
	live.Labels = map[string]string{"theirs": "1"}
	require.NoError(t, someone.Update(ctx, live))
	err := want(corev1.ServiceTypeNodePort)
	require.Error(t, err)
	assert.True(t, apierrors.IsConflict(err), "%v", err)

	c.Refresh()
	require.NoError(t, want(corev1.ServiceTypeNodePort))
	require.NoError(t, someone.Get(ctx, client.ObjectKeyFromObject(live), live))
	assert.Equal(t, corev1.ServiceTypeNodePort, live.Spec.Type)
	assert.Equal(t, "1", live.Labels["theirs"])
}
