package minicluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// create makes a cluster without Flux that runs a command, changed by the functions given.
func (p *place) create(name string, size int32, command string, change ...func(*v1alpha1.MiniCluster)) {
	p.t.Helper()
	c := &v1alpha1.MiniCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name},
		Spec: v1alpha1.MiniClusterSpec{
			Size:       size,
			Containers: []v1alpha1.MiniClusterContainer{{Image: "busybox:1.28", Command: command}},
			Flux:       v1alpha1.MiniClusterFlux{Disable: true},
		},
	}
	for _, f := range change {
		f(c)
	}
	require.NoError(p.t, p.client.Create(p.t.Context(), c))
}

// change updates a cluster's spec.
func (p *place) change(name string, how func(*v1alpha1.MiniClusterSpec)) {
	p.t.Helper()
	before := p.cluster(name)
	after := before.DeepCopy()
	how(&after.Spec)
	require.NoError(p.t, p.client.Patch(p.t.Context(), after, client.MergeFrom(before)))
}

func backoffLimit(n int32) func(*v1alpha1.MiniCluster) {
	return func(c *v1alpha1.MiniCluster) { c.Spec.BackoffLimit = ptr.To(n) }
}

func TestAClusterRunsAndSucceeds(t *testing.T) {
	p := newPlace(t)
	bystander := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "hello-0"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox:1.28", Command: []string{"sleep", "600"}}}},
	}
	require.NoError(t, p.client.Create(t.Context(), bystander))
	p.manage()
	p.create("hello", 3, `printf '%s ' "it's" "$HOSTNAME" rank "$JOB_COMPLETION_INDEX" of "$MINICLUSTER_SIZE"; sleep 1`)
	out, err := p.kubectl("wait", "--for=condition=Succeeded", "--timeout=120s", "minicluster/hello")
	require.NoError(t, err, out)

	c := p.cluster("hello")
	assert.Equal(t, v1alpha1.MiniClusterStateSucceeded, c.Status.State)
	assert.Equal(t, ptr.To[int32](0), c.Status.ExitCode)
	assert.Contains(t, p.logs("hello"), "it's hello-0 rank 0 of 3")
	job := p.job("hello")
	assert.Equal(t, int32(3), *job.Spec.Completions)
	assert.Equal(t, int32(3), *job.Spec.Parallelism)
	assert.Equal(t, "hello", job.Spec.Template.Spec.Subdomain)
	for _, reason := range []string{v1alpha1.ReasonAdmitted, v1alpha1.ReasonRunning, v1alpha1.ReasonSucceeded} {
		p.oneEvent("hello", reason)
	}
	out, err = p.kubectl("get", "mc")
	require.NoError(t, err, out)
	lines := strings.Split(out, "\n")
	assert.Equal(t, []string{"NAME", "STATUS", "SIZE", "READY", "EXIT", "AGE"}, strings.Fields(lines[0]))
	assert.Equal(t, []string{"hello", "Succeeded", "3", "0"}, strings.Fields(lines[1])[:4])

	var service corev1.Service
	require.NoError(t, p.client.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "hello"}, &service))
	assert.Equal(t, corev1.ClusterIPNone, service.Spec.ClusterIP)
	assert.True(t, service.Spec.PublishNotReadyAddresses)
	require.NoError(t, p.client.Get(t.Context(), client.ObjectKeyFromObject(bystander), bystander))
	assert.Empty(t, bystander.Labels, "nothing of others is labelled")
	var selected corev1.PodList
	require.NoError(t, p.client.List(t.Context(), &selected, client.InNamespace(p.namespace), client.MatchingLabels(service.Spec.Selector)))
	for _, pod := range selected.Items {
		assert.NotEqual(t, bystander.Name, pod.Name)
	}
}

func TestAFailureIsAFailure(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("fails", 2, "echo broken; exit 3")
	c := p.waitState("fails", v1alpha1.MiniClusterStateFailed)
	assert.Equal(t, ptr.To[int32](3), c.Status.ExitCode)
	assert.Zero(t, c.Status.Restarts, "backoffLimit is 0")
	assert.Equal(t, v1alpha1.ReasonLeaderFailed, condition(t, c, v1alpha1.ConditionFailed).Reason)
	assert.Contains(t, p.oneEvent("fails", v1alpha1.ReasonLeaderFailed).Note, "ended with exit code 3")
	assert.Contains(t, p.logs("fails"), "broken", "the log is kept")
	eventually(t, "no pod is left running", func() bool { return len(p.pods("fails")) == 0 })

	p.create("killed", 2, "kill -9 $$")
	c = p.waitState("killed", v1alpha1.MiniClusterStateFailed)
	assert.Equal(t, ptr.To[int32](137), c.Status.ExitCode, "though the Job would replace a worker that ends like this")
	assert.Zero(t, c.Status.Restarts)
}

func TestALostLeaderRestartsTheCluster(t *testing.T) {
	p := newPlace(t)
	p.manage()
	runs := filepath.Join(t.TempDir(), "runs")
	p.create("lost", 3, fmt.Sprintf("echo run >>%s; [ $(wc -l <%s) -lt 3 ] || exit 0; sleep 600", runs, runs), backoffLimit(2))
	started := func() int {
		text, err := os.ReadFile(runs)
		if !os.IsNotExist(err) {
			require.NoError(t, err)
		}
		return strings.Count(string(text), "run\n")
	}
	seen := map[string]bool{}
	for i := range 2 {
		c := p.wait("lost", "it runs with another leader", func(c *v1alpha1.MiniCluster) bool {
			return isTrue(c, v1alpha1.MiniClusterRunning) && c.Status.Leader != nil && !seen[c.Status.Leader.Pod]
		})
		eventually(t, "its command has begun", func() bool { return started() == i+1 })
		for _, pod := range p.pods("lost") {
			seen[pod.Name] = true
		}
		require.NoError(t, p.client.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: c.Status.Leader.Pod}}))
	}
	c := p.waitState("lost", v1alpha1.MiniClusterStateSucceeded)
	assert.Equal(t, int32(2), c.Status.Restarts)
	assert.Contains(t, c.Status.LastFailure, "the leader's pod lost-0-")
	assert.GreaterOrEqual(t, len(seen), 6, "all pods are new, twice: %v", seen)
	assert.Equal(t, 3, started(), "each start ran the command once")
}

func TestBackoffLimit(t *testing.T) {
	p := newPlace(t)
	p.manage()
	runs := filepath.Join(t.TempDir(), "runs")
	p.create("again", 2, fmt.Sprintf("echo run >>%s; exit $((10 + $(wc -l <%s)))", runs, runs), backoffLimit(2))
	c := p.waitState("again", v1alpha1.MiniClusterStateFailed)
	assert.Equal(t, int32(2), c.Status.Restarts)
	assert.Equal(t, ptr.To[int32](13), c.Status.ExitCode)
	text, err := os.ReadFile(runs)
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(text), "run\n"))
}

// The leader fails while no operator is there to see it: Kubernetes alone must not run the command again.
func TestAFailureWithoutAnOperator(t *testing.T) {
	p := newPlace(t)
	stop := p.manage()
	dir := t.TempDir()
	p.create("alone", 2, fmt.Sprintf("echo run >>%s/runs; while [ ! -e %s/go ]; do sleep 0.1; done; exit 4", dir, dir))
	p.wait("alone", "it runs", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterRunning) })
	stop()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o644))
	eventually(t, "the Job has failed by itself", func() bool {
		for _, c := range p.job("alone").Status.Conditions {
			if c.Type == batchv1.JobFailed && c.Status == corev1.ConditionTrue {
				return true
			}
		}
		return false
	})
	p.manage()
	c := p.waitState("alone", v1alpha1.MiniClusterStateFailed)
	assert.Equal(t, ptr.To[int32](4), c.Status.ExitCode)
	text, err := os.ReadFile(filepath.Join(dir, "runs"))
	require.NoError(t, err)
	assert.Equal(t, "run\n", string(text))
}

func TestALostWorkerIsReplaced(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("worker", 3, "sleep 600")
	p.wait("worker", "all pods are ready", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterPodsReady) })
	before := p.pods("worker")
	lost := before["1"]
	require.NoError(t, p.client.Delete(t.Context(), &lost))
	eventually(t, "another worker", func() bool {
		pod, ok := p.pods("worker")["1"]
		return ok && pod.UID != lost.UID
	})
	c := p.wait("worker", "all pods are ready", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterPodsReady) })
	assert.True(t, isTrue(c, v1alpha1.MiniClusterRunning))
	assert.Zero(t, c.Status.Restarts)
	assert.Equal(t, before["0"].UID, p.pods("worker")["0"].UID, "the leader goes on")
}

func TestScale(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("elastic", 2, "sleep 600", func(c *v1alpha1.MiniCluster) { c.Spec.MaxSize, c.Spec.MinSize = 4, 0 })
	p.wait("elastic", "it runs", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterPodsReady) })
	leader := p.pods("elastic")["0"].UID
	scale := func(n string) (string, error) { return p.kubectl("scale", "minicluster/elastic", "--replicas="+n) }

	out, err := scale("5")
	assert.Error(t, err)
	assert.Contains(t, out, "size is over maxSize")
	out, err = scale("4")
	require.NoError(t, err, out)
	p.wait("elastic", "there are 4", func(c *v1alpha1.MiniCluster) bool {
		return isTrue(c, v1alpha1.MiniClusterPodsReady) && c.Status.Size == 4
	})
	out, err = scale("2")
	require.NoError(t, err, out)
	p.wait("elastic", "there are 2", func(c *v1alpha1.MiniCluster) bool {
		return isTrue(c, v1alpha1.MiniClusterPodsReady) && c.Status.Size == 2 && len(p.pods("elastic")) == 2
	})
	assert.Contains(t, p.pods("elastic"), "0")
	assert.Contains(t, p.pods("elastic"), "1")
	assert.Equal(t, leader, p.pods("elastic")["0"].UID, "down by the highest ranks")
	out, err = p.kubectl("get", "--raw", "/apis/api.practice.com/v1alpha1/namespaces/"+p.namespace+"/miniclusters/elastic/scale")
	require.NoError(t, err)
	assert.Contains(t, out, `"replicas":2`)
	assert.Contains(t, out, `"selector":"api.practice.com/minicluster-uid=`)

	out, err = p.kubectl("patch", "mc", "elastic", "--type=merge", "-p", `{"spec":{"maxSize":6}}`)
	assert.Error(t, err)
	assert.Contains(t, out, "spec.maxSize can't be changed once the MiniCluster has started")
	out, err = p.kubectl("patch", "mc", "elastic", "--type=merge", "-p", `{"spec":{"containers":[{"image":"other"}]}}`)
	assert.Error(t, err)
	assert.Contains(t, out, "can't be changed once the MiniCluster has started")
}

func TestWithoutMaxSizeItCantGrow(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("fixed", 2, "sleep 600")
	p.wait("fixed", "it runs", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterRunning) })
	out, err := p.kubectl("scale", "minicluster/fixed", "--replicas=3")
	assert.Error(t, err)
	assert.Contains(t, out, "status.maximumSize")
	out, err = p.kubectl("scale", "minicluster/fixed", "--replicas=1")
	assert.NoError(t, err, out)
	p.wait("fixed", "it is smaller", func(c *v1alpha1.MiniCluster) bool { return c.Status.Size == 1 })
}

func TestSuspendAndResume(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("paused", 2, "sleep 600", func(c *v1alpha1.MiniCluster) { c.Spec.Suspend = true })
	p.waitState("paused", v1alpha1.MiniClusterStateSuspended)
	assert.Nil(t, p.job("paused"))
	set := func(value bool) { p.change("paused", func(s *v1alpha1.MiniClusterSpec) { s.Suspend = value }) }
	set(false)
	p.waitState("paused", v1alpha1.MiniClusterStateRunning)
	set(true)
	p.waitState("paused", v1alpha1.MiniClusterStateSuspended)
	eventually(t, "its pods are gone", func() bool { return len(p.pods("paused")) == 0 })
	assert.NotNil(t, p.job("paused"))
	set(false)
	c := p.waitState("paused", v1alpha1.MiniClusterStateRunning)
	assert.Zero(t, c.Status.Restarts)
	assert.Nil(t, c.Status.CompletionTime)
}

func TestKueuesLabelGoesOntoTheJob(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("queued", 2, "true", func(c *v1alpha1.MiniCluster) {
		c.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "users"}
	})
	p.wait("queued", "it waits", func(c *v1alpha1.MiniCluster) bool {
		return p.job("queued") != nil && c.Status.State == v1alpha1.MiniClusterStatePending
	})
	job := p.job("queued")
	assert.Equal(t, "users", job.Labels["kueue.x-k8s.io/queue-name"])
	assert.True(t, *job.Spec.Suspend)
	after := job.DeepCopy()
	after.Spec.Suspend = ptr.To(false) // as Kueue does
	require.NoError(t, p.client.Patch(t.Context(), after, client.MergeFrom(job)))
	c := p.waitState("queued", v1alpha1.MiniClusterStateSucceeded)
	assert.True(t, isTrue(c, v1alpha1.MiniClusterAdmitted))
}

func TestDeadline(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("late", 2, "sleep 600", backoffLimit(5), func(c *v1alpha1.MiniCluster) { c.Spec.DeadlineSeconds = ptr.To[int64](3) })
	c := p.waitState("late", v1alpha1.MiniClusterStateFailed)
	assert.Equal(t, v1alpha1.ReasonDeadlineExceeded, condition(t, c, v1alpha1.ConditionFailed).Reason)
	assert.Zero(t, c.Status.Restarts)
	assert.Nil(t, c.Status.ExitCode)
}

func TestTTL(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("brief", 1, "true", func(c *v1alpha1.MiniCluster) { c.Spec.TTLSecondsAfterFinished = ptr.To[int32](1) })
	owner := p.cluster("brief")
	var job *batchv1.Job
	eventually(t, "it has its Job", func() bool { job = p.job("brief"); return job != nil })
	eventually(t, "it is deleted", func() bool {
		err := p.client.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "brief"}, &v1alpha1.MiniCluster{})
		return apierrors.IsNotFound(err)
	})
	// Its Job goes by garbage collection, which looks for new kinds, as ours are here, every half a minute only.
	assert.True(t, metav1.IsControlledBy(job, owner), "the Job goes with it")
}

func TestCleanup(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("clean", 2, "exit 5", func(c *v1alpha1.MiniCluster) { c.Spec.Cleanup = true })
	p.waitState("clean", v1alpha1.MiniClusterStateFailed)
	eventually(t, "nothing is left", func() bool {
		var maps corev1.ConfigMapList
		var services corev1.ServiceList
		require.NoError(t, p.client.List(t.Context(), &maps, client.InNamespace(p.namespace), client.HasLabels{"api.practice.com/minicluster"}))
		require.NoError(t, p.client.List(t.Context(), &services, client.InNamespace(p.namespace), client.HasLabels{"api.practice.com/minicluster"}))
		return p.job("clean") == nil && len(p.pods("clean"))+len(maps.Items)+len(services.Items) == 0
	})
	assert.Equal(t, ptr.To[int32](5), p.cluster("clean").Status.ExitCode)
}

func TestTwoClustersDontClash(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("one", 2, "sleep 1; echo $HOSTNAME")
	p.create("two", 2, "sleep 1; echo $HOSTNAME")
	eventually(t, "one has its Service", func() bool { return p.job("one") != nil })
	p.create("same", 1, "true", func(c *v1alpha1.MiniCluster) { c.Spec.Network.HeadlessName = "one" })
	p.waitState("one", v1alpha1.MiniClusterStateSucceeded)
	p.waitState("two", v1alpha1.MiniClusterStateSucceeded)
	assert.Contains(t, p.logs("one"), "one-0")
	assert.Contains(t, p.logs("two"), "two-0")
	c := p.wait("same", "it is told", func(c *v1alpha1.MiniCluster) bool { return condition(t, c, "Ready").Reason == "NotOwned" })
	assert.Contains(t, condition(t, c, "Ready").Message, "one")
	assert.Nil(t, p.job("same"), "it doesn't start")
}

func TestAPassOverAnUnchangedClusterMakesNoRequest(t *testing.T) {
	p := newPlaceAlone(t)
	var counted counter
	p.manage(counted.wrap)
	p.create("still", 2, "sleep 600")
	p.create("over", 1, "true")
	p.wait("still", "it runs", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterPodsReady) })
	p.waitState("over", v1alpha1.MiniClusterStateSucceeded)
	p.oneEvent("still", v1alpha1.ReasonRunning)
	p.oneEvent("over", v1alpha1.ReasonSucceeded)
	for _, name := range []string{"still", "over"} {
		p.touch(name)
		counted.take()
		p.touch(name)
		assert.Empty(t, counted.take(), name)
	}
}
