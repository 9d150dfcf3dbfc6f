package builder

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/rollout"
)

// revisionClient is a cacheClient that serves ControllerRevisions, too.
type revisionClient struct {
	*cacheClient
	revisions []runtime.Object
}

func (c *revisionClient) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	if _, ok := into.(*appsv1.ControllerRevisionList); ok {
		return meta.SetList(into, c.revisions)
	}
	return c.cacheClient.List(ctx, into, opts...)
}

func (c *revisionClient) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	if rev, ok := obj.(*appsv1.ControllerRevision); ok {
		c.revisions = append(c.revisions, rev.DeepCopy())
		return nil
	}
	return c.cacheClient.Create(ctx, obj, opts...)
}

// BenchmarkUnchangedInPhases is BenchmarkUnchanged/warm with the children in ten phases.
func BenchmarkUnchangedInPhases(b *testing.B) {
	const n, phases = 1000, 10
	c := &revisionClient{cacheClient: &cacheClient{byName: map[string]*appsv1.Deployment{}, byOwner: map[string][]runtime.Object{}}}
	e := NewEngine(c, Options{})
	require.NoError(b, e.Index(b.Context(), c, &appsv1.Deployment{}))
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner", UID: "owner"}}
	var names []string
	for i := range phases {
		names = append(names, fmt.Sprint("phase-", i))
	}
	wanted := make([]Child, n)
	for i := range wanted {
		wanted[i] = Want(benchDeployment(i), InPhase(names[i%phases]))
	}
	pass := func() Result {
		build := e.For(owner).Rollout(rollout.Options{Phases: names}).Prune(&appsv1.Deployment{})
		build.children = append(build.children, wanted...)
		res, err := build.Reconcile(b.Context())
		require.NoError(b, err)
		return res
	}
	require.Len(b, pass().Changes, n)
	for _, d := range c.byName {
		makeReady(d)
	}
	require.Equal(b, rollout.Completed, pass().Rollout.State)
	c.writes = 0
	b.ReportAllocs()
	for b.Loop() {
		pass()
	}
	require.Zero(b, c.writes)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/child")
}
