package minicluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/harness"
)

// create makes a cluster without Flux that runs a command, changed by the functions given.
func (p *place) create(name string, size int32, command string, change ...func(*v1alpha1.MiniCluster)) {
	p.T.Helper()
	c := &v1alpha1.MiniCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name},
		Spec: v1alpha1.MiniClusterSpec{
			Size:       size,
			Containers: []v1alpha1.MiniClusterContainer{{Image: "busybox:1.28", Command: command}},
			Flux:       v1alpha1.MiniClusterFlux{Disable: true},
		},
	}
	for _, f := range change {
		f(c)
	}
	require.NoError(p.T, p.Client.Create(p.T.Context(), c))
}

// change updates a cluster's spec.
func (p *place) change(name string, how func(*v1alpha1.MiniClusterSpec)) {
	p.T.Helper()
	before := p.cluster(name)
	after := before.DeepCopy()
	how(&after.Spec)
	require.NoError(p.T, p.Client.Patch(p.T.Context(), after, client.MergeFrom(before)))
}

func backoffLimit(n int32) func(*v1alpha1.MiniCluster) {
	return func(c *v1alpha1.MiniCluster) { c.Spec.BackoffLimit = new(n) }
}

func TestAClusterRunsAndSucceeds(t *testing.T) {
	p := newPlace(t)
	bystander := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "hello-0"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox:1.28", Command: []string{"sleep", "600"}}}},
	}
	require.NoError(t, p.Client.Create(t.Context(), bystander))
	p.manage()
	end := filepath.Join(t.TempDir(), "end")
	p.create("hello", 3, `printf '%s ' "it's" "$HOSTNAME" rank "$JOB_COMPLETION_INDEX" of "$MINICLUSTER_SIZE"; `+harness.ScriptUntil(end))
	p.waitState("hello", v1alpha1.MiniClusterStateRunning)
	require.NoError(t, os.WriteFile(end, nil, 0o600))
	out, err := p.Kubectl("wait", "--for=condition=Succeeded", "--timeout=5m", "minicluster/hello")
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
		p.OneEvent("hello", reason)
	}
	out, err = p.Kubectl("get", "mc")
	require.NoError(t, err, out)
	lines := strings.Split(out, "\n")
	assert.Equal(t, []string{"NAME", "STATUS", "SIZE", "READY", "EXIT", "AGE"}, strings.Fields(lines[0]))
	assert.Equal(t, []string{"hello", "Succeeded", "3", "0"}, strings.Fields(lines[1])[:4])

	var service corev1.Service
	require.NoError(t, p.Client.Get(t.Context(), client.ObjectKey{Namespace: p.Namespace, Name: "hello"}, &service))
	assert.Equal(t, corev1.ClusterIPNone, service.Spec.ClusterIP)
	assert.True(t, service.Spec.PublishNotReadyAddresses)
	require.NoError(t, p.Client.Get(t.Context(), client.ObjectKeyFromObject(bystander), bystander))
	assert.Empty(t, bystander.Labels, "nothing of others is labelled")
	var selected corev1.PodList
	require.NoError(t, p.Client.List(t.Context(), &selected, client.InNamespace(p.Namespace), client.MatchingLabels(service.Spec.Selector)))
	for _, pod := range selected.Items {
		assert.NotEqual(t, bystander.Name, pod.Name)
	}
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
	p.Eventually("its pods are gone", func() bool { return len(p.pods("paused")) == 0 })
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
	after.Spec.Suspend = new(false) // as Kueue does
	require.NoError(t, p.Client.Patch(t.Context(), after, client.MergeFrom(job)))
	c := p.waitState("queued", v1alpha1.MiniClusterStateSucceeded)
	assert.True(t, isTrue(c, v1alpha1.MiniClusterAdmitted))
}

func TestTwoClustersDontClash(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("one", 2, "sleep 1; echo $HOSTNAME")
	p.create("two", 2, "sleep 1; echo $HOSTNAME")
	p.Eventually("one has its Service", func() bool { return p.job("one") != nil })
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
	var counted harness.Requests
	p.manage(counted.Record)
	p.create("still", 2, "sleep 600")
	p.create("over", 1, "true")
	p.wait("still", "it runs", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterPodsReady) })
	p.waitState("over", v1alpha1.MiniClusterStateSucceeded)
	p.OneEvent("still", v1alpha1.ReasonRunning)
	p.OneEvent("over", v1alpha1.ReasonSucceeded)
	for _, name := range []string{"still", "over"} {
		p.touch(name)
		counted.Take()
		p.touch(name)
		assert.Empty(t, counted.Take(), name)
	}
}
