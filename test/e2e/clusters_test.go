//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The leader of a cluster without Flux knows the names of its hosts, and they are right.
func TestExampleMiniClusterWithALauncher(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.apply("minicluster/plain.yaml")
	s.await("Succeeded", "minicluster/plain")
	s.requireOnce(1)
	assert.Contains(t, s.logs("job/plain"), "host 2 is plain-2.")
}

func TestExampleMiniClusterHello(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(s *space, v variant) {
		s.applyVariant(v, "minicluster/hello.yaml")
		s.await("Succeeded", "minicluster/hello")
		s.requireOnce(1)
		assert.Contains(s, s.logs("job/hello"), "hello from hello-0")
		assert.Equal(s, 4, s.hosts("hello"))
	})
}

// A batch needs the claim that its comment leaves to the user.
func TestExampleMiniClusterBatch(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(s *space, v variant) {
		class := s.volumes(1)
		require.NoError(s, cluster.Create(s.Context(), &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "results"},
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: new(class), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}))
		s.applyVariant(v, "minicluster/batch.yaml")
		s.await("Succeeded", "minicluster/batch")
		s.requireOnce(1)
	})
}

// A cluster is made bigger and smaller by kubectl scale, and no pod that stays is touched.
func TestExampleMiniClusterElastic(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(s *space, v variant) {
		s.applyVariant(v, "minicluster/elastic.yaml")
		s.is("minicluster/elastic", "{.status.conditions[?(@.type=='PodsReady')].status}", "True")
		first := s.uids("elastic")
		require.Len(s, first, 4)
		s.kubectl("scale", "minicluster/elastic", "--replicas=8")
		s.is("job/elastic", "{.status.ready}", "8")
		s.kubectl("scale", "minicluster/elastic", "--replicas=4")
		s.is("job/elastic", "{.status.active}", "4")
		s.is("job/elastic", "{.status.terminating}", "0")
		assert.Equal(s, first, s.uids("elastic"))
		s.requireOnce(1)
	})
}

// Kueue is not there, and the test does its part: it lets the Job start that Armature has made suspended.
func TestExampleMiniClusterOfKueue(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(s *space, v variant) {
		s.applyVariant(v, "minicluster/kueue.yaml")
		s.letIn("queued")
		s.await("Succeeded", "minicluster/queued")
		s.requireOnce(1)
	})
}

func TestExampleFluxJobOfKueue(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(s *space, v variant) {
		s.applyVariant(v, "flux/kueue/fluxjob.yaml", "namespace: default", "namespace: "+s.name)
		s.await("JobWaitingForResources", "fluxjob/queued")
		s.letIn("queued")
		s.await("Succeeded", "fluxjob/queued")
		s.requireOnce(1)
	})
}

// letIn starts a suspended Job, as Kueue does for those of its queue.
func (s *space) letIn(job string) {
	s.Helper()
	s.is("job/"+job, "{.metadata.labels.kueue\\.x-k8s\\.io/queue-name} {.spec.suspend}", "users true")
	assert.Empty(s, s.pods(), "no pod is made before Kueue lets it")
	s.kubectl("patch", "job/"+job, "--type=merge", "--patch", `{"spec":{"suspend":false}}`)
}

// hosts is how many hosts a MiniCluster has had: pods of its Job, with an index of their own.
func (s *space) hosts(job string) int {
	s.Helper()
	indexes := map[string]bool{}
	for _, w := range s.history() {
		if w.resource == "pods" && w.verb == "create" && w.object.Labels[batchv1.JobNameLabel] == job {
			indexes[w.object.Labels[batchv1.JobCompletionIndexAnnotation]] = true
		}
	}
	return len(indexes)
}

// uids are those of the pods of a MiniCluster that are not about to go.
func (s *space) uids(name string) map[string]string {
	s.Helper()
	pods := &corev1.PodList{}
	require.NoError(s, cluster.List(s.Context(), pods, client.InNamespace(s.name), client.MatchingLabels{batchv1.JobNameLabel: name}))
	found := map[string]string{}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil {
			found[pod.Spec.Hostname] = string(pod.UID)
		}
	}
	return found
}
