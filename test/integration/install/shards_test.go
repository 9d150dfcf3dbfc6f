package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// testShards shares the objects of a namespace, of all kinds, out among two managers by a label: each works on its own and on no
// others. What runs is given to the other, which goes on with it.
func testShards(t *testing.T) {
	t.Parallel()
	a := newRelease(t, "armature-a")
	b := *a // in the same namespace
	b.release = "armature-b"
	shards := map[string]*cluster{"a": a, "b": &b}
	kinds := map[string][]*unstructured.Unstructured{}
	for shard, c := range shards {
		c.installChart(thisChart(t), append(alone(a.home, "daemonjob", "fluxjob", "jobflow", "minicluster", "replicajob"), "--set", "selector="+v1alpha1.LabelShard+"="+shard)...)
		kinds[shard] = c.createKinds(a.home, shard, map[string]string{v1alpha1.LabelShard: shard})
	}
	marker := filepath.Join(t.TempDir(), "go-on")
	moving := a.createWaiting(marker, map[string]string{v1alpha1.LabelShard: "a"})
	nobodys := objectOf(t, "JobFlow", a.home, "nobodys", cases["JobFlow"][1].spec)
	astray := objectOf(t, "FluxJob", a.home, "astray", `{queue: `+a.home+`-a, miniCluster: {`+cluster1+`}}`)
	astray.SetLabels(map[string]string{v1alpha1.LabelShard: "b"})
	for _, obj := range []*unstructured.Unstructured{nobodys, astray} {
		require.NoError(t, a.client.Create(t.Context(), obj))
	}

	managerA := a.manager()
	a.succeed(kinds["a"])
	for _, obj := range append(kinds["b"], astray, nobodys) {
		a.wait(obj, obj.GetName()+" is left alone", func() bool { return obj.Object["status"] == nil })
	}
	running := a.podsOf(len(moving))

	managerB := b.manager()
	b.succeed(kinds["b"])
	b.wait(astray, "a job in another manager's queue", func() bool { return conditionOf(astray, "Ready")["reason"] == v1alpha1.ReasonQueueNotFound })
	a.wait(nobodys, "nobody's is left alone", func() bool { return nobodys.Object["status"] == nil })
	for _, obj := range moving {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+v1alpha1.LabelShard+`":"b"}}}`))
		require.NoError(t, a.client.Patch(t.Context(), obj, patch))
	}
	for _, c := range shards { // both led: each has its own lease
		lease := &coordinationv1.Lease{}
		require.NoError(t, c.client.Get(t.Context(), client.ObjectKey{Namespace: c.home, Name: c.release + "-manager"}, lease))
		assert.NotEmpty(t, *lease.Spec.HolderIdentity)
	}
	managerA.Stop()
	require.NoError(t, os.WriteFile(marker, nil, 0o644))
	b.succeed(moving)
	assert.Equal(t, running, b.podsOf(len(moving)), "the pods are those from before")
	noneForbidden(t, managerA)
	noneForbidden(t, managerB)
}

// createWaiting creates an object of each kind that may be given to another manager while it runs. Their pods wait for a file.
func (c *cluster) createWaiting(file string, labels map[string]string) (all []*unstructured.Unstructured) {
	c.t.Helper()
	waiting := `{metadata: {labels: {waits: "yes"}}, spec: {restartPolicy: Never, nodeSelector: {devcluster.armature.dev/local: "true"}, ` +
		`containers: [{name: main, image: none, command: [sh, -c, "until [ -e ` + file + ` ]; do sleep 0.1; done"]}]}}`
	for kind, spec := range map[string]string{
		"JobFlow":     `{flows: [{name: only, jobTemplate: {template: ` + waiting + `}}]}`,
		"DaemonJob":   `{template: ` + waiting + `}`,
		"ReplicaJob":  `{replicaSpecs: {Worker: {template: ` + waiting + `}}}`,
		"MiniCluster": `{size: 1, flux: {disable: true}, pod: {labels: {waits: "yes"}, nodeSelector: {devcluster.armature.dev/local: "true"}}, containers: [{image: none, command: "sh -c 'until [ -e ` + file + ` ]; do sleep 0.1; done'"}]}`,
	} {
		obj := objectOf(c.t, kind, c.home, "moving", spec)
		obj.SetLabels(labels)
		require.NoError(c.t, c.client.Create(c.t.Context(), obj), kind)
		all = append(all, obj)
	}
	return all
}

// podsOf returns the pods that wait for a file, once they are that many.
func (c *cluster) podsOf(n int) map[string]types.UID {
	c.t.Helper()
	found := map[string]types.UID{}
	eventually(c.t, "pods run", func() bool {
		var pods corev1.PodList
		require.NoError(c.t, c.client.List(c.t.Context(), &pods, client.InNamespace(c.home), client.MatchingLabels{"waits": "yes"}))
		clear(found)
		for _, p := range pods.Items {
			found[p.Name] = p.UID
		}
		return len(found) == n
	})
	return found
}
