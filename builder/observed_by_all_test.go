package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

func newNode(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func watchesNodes(o *operator) {
	o.Owns(&batchv1.Job{}).Watches(&corev1.Node{}, builder.ObservedByAll())
}

// aJobForEachNode is a plan that reads all nodes.
func aJobForEachNode(_ *appsv1.Deployment, seen builder.View) ownerPlan {
	p := ownerPlan{Prune: []client.Object{&batchv1.Job{}}}
	for _, node := range builder.Watched[*corev1.Node](seen) {
		p.Children = append(p.Children, builder.Want(newJob(node.Name), builder.CreateOnly()))
	}
	return p
}

func TestObservedByAll(t *testing.T) {
	s := perform(t, aJobForEachNode, watchesNodes, newNode("b"), newNode("a"))
	assert.ElementsMatch(t, []string{"create Job.batch default/a", "create Job.batch default/b"}, s.passes())
	require.NoError(t, s.others.Delete(t.Context(), newNode("a")))
	assert.Equal(t, []string{"delete Job.batch default/a"}, s.passes())
}

func TestViewOfWatchedObjects(t *testing.T) {
	seen := buildertest.WithWatched(buildertest.NewView(time.Time{}), newNode("b"), newNode("a"))
	more := buildertest.WithWatched[client.Object](seen, newNode("c"), &corev1.Namespace{})
	names := func(v builder.View) (names []string) {
		for _, node := range builder.Watched[*corev1.Node](v) {
			names = append(names, node.Name)
		}
		return names
	}
	assert.Equal(t, []string{"a", "b", "c"}, names(more))
	assert.Equal(t, []string{"a", "b"}, names(seen), "the first view stays as it was")
	assert.Empty(t, names(builder.View{}))
	assert.Len(t, builder.Watched[*corev1.Namespace](more), 1)
	assert.Empty(t, builder.Owned[*corev1.Node](more), "they are no one's")
}

func TestObservedByAllMisused(t *testing.T) {
	partial := &metav1.PartialObjectMetadata{}
	untyped := &unstructured.Unstructured{}
	for _, obj := range []client.Object{partial, untyped} {
		obj.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Node"))
	}
	for name, kind := range map[string]client.Object{"nil": nil, "metadata": partial, "untyped": untyped} {
		t.Run(name, func(t *testing.T) {
			c := buildertest.NewServer(perform(t, aJobForEachNode, nil).ours.Scheme()).Client()
			_, err := buildertest.NewReconciler(describedBy(aJobForEachNode, func(o *operator) { o.Watches(kind, builder.ObservedByAll()) }), c, c.Now)
			require.ErrorIs(t, err, builder.ErrMisuse)
			assert.ErrorContains(t, err, "Watches")
		})
	}
}

func TestCrashEverywhereWithObservedByAll(t *testing.T) {
	s := scenario(aJobForEachNode, watchesNodes, newNode("a"), newNode("b"), controlled(newJob("c"), ownerUID))
	s.Cluster = jobsSucceed
	buildertest.CrashEverywhere(t, s)
}
