package fluxjob

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/webhook"
)

func TestResourcesCountAndWhatCanNeverRunIsTold(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup(func(s *v1alpha1.FluxSetupSpec) {
		s.Quota = v1alpha1.FluxQuota{Pods: ptr.To[int32](3), Resources: corev1.ResourceList{"cpu": resource.MustParse("300m")}}
		s.MiniCluster.MaxSize = ptr.To[int32](3)
		s.QueueingStrategy = v1alpha1.StrictFIFO
	})
	cpu := func(q string, size int32) func(*v1alpha1.FluxJob) {
		return func(j *v1alpha1.FluxJob) {
			j.Spec.Size = &size
			j.Spec.MiniCluster.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(q)}
		}
	}
	p.submit("huge", "true", cpu("200m", 2))
	assert.Contains(t, p.waitReason("huge", v1alpha1.ReasonExceedsMaximumQuota).Status.Conditions[1].Message, "it requests 400m cpu")
	p.submit("wide", "true", cpu("1m", 4))
	p.waitReason("wide", v1alpha1.ReasonExceedsMaximumQuota)
	p.submit("a", forever, cpu("100m", 2))
	p.waitState("a", v1alpha1.FluxJobRunning)
	p.submit("b", "true", cpu("101m", 1))
	assert.Equal(t, ptr.To[int32](1), p.waitReason("b", v1alpha1.ReasonWaitingForQuota).Status.Position)
	p.submit("c", "true", cpu("1m", 1))
	p.waitReason("c", v1alpha1.ReasonBlockedByHeadOfQueue)
	for _, usage := range p.queue(p.Namespace).Status.Usage {
		switch usage.Name {
		case "pods":
			assert.Equal(t, "2 of 3, 1 free", fmt.Sprintf("%s of %s, %s free", usage.Used.String(), usage.Quota.String(), usage.Free.String()))
		case "cpu":
			assert.Equal(t, "200m of 300m, 100m free", fmt.Sprintf("%s of %s, %s free", usage.Used.String(), usage.Quota.String(), usage.Free.String()))
		}
	}
	require.NoError(t, p.Client.Delete(t.Context(), p.job("a")))
	p.waitState("b", v1alpha1.FluxJobSucceeded)
	p.waitState("c", v1alpha1.FluxJobSucceeded)
}

// What is refused has run nothing, so it is tried again once it is corrected. Meanwhile others have its share.
func TestARefusedMiniClusterIsCorrected(t *testing.T) {
	p := newPlace(t)
	webhook.Spare(t, p.Namespace)
	p.manage()
	p.setup(clusters(1))
	p.submit("bad", "true", func(j *v1alpha1.FluxJob) { j.Spec.MiniCluster.JobLabels = map[string]string{"a b": "c"} })
	p.submit("next", "true")
	refused := p.waitState("bad", v1alpha1.FluxJobRequested)
	assert.Contains(t, meta.FindStatusCondition(refused.Status.Conditions, "Stalled").Message, "the MiniCluster is refused: spec.jobLabels")
	p.waitState("next", v1alpha1.FluxJobSucceeded)
	p.OneEvent("bad", v1alpha1.ReasonInvalidSpec)
	before := p.job("bad")
	assert.Nil(t, before.Status.Admission)
	after := before.DeepCopy()
	after.Spec.MiniCluster.JobLabels = nil
	require.NoError(t, p.Client.Patch(t.Context(), after, client.MergeFrom(before)))
	p.waitState("bad", v1alpha1.FluxJobSucceeded)
}

func TestAMiniClusterThatIsDeletedByHandIsNotRunAgain(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup()
	p.submit("a", forever)
	p.waitState("a", v1alpha1.FluxJobRunning)
	require.NoError(t, p.Client.Delete(t.Context(), &v1alpha1.MiniCluster{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "a"}}))
	p.waitState("a", v1alpha1.FluxJobFailed)
	p.OneEvent("a", v1alpha1.ReasonMiniClusterDeleted)
	p.wait("a", "its share is given back", func(j *v1alpha1.FluxJob) bool { return j.Status.Admission == nil })
}

func TestABlockedMiniClusterSaysSo(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup()
	obstacle := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "a"}, Spec: corev1.ServiceSpec{ClusterIP: "None", Ports: []corev1.ServicePort{{Port: 1}}},
	}
	require.NoError(t, p.Client.Create(t.Context(), obstacle))
	p.submit("a", "true")
	blocked := p.wait("a", "it is blocked", func(j *v1alpha1.FluxJob) bool {
		ready := meta.FindStatusCondition(j.Status.Conditions, "Ready")
		return ready != nil && ready.Reason == v1alpha1.ReasonMiniClusterBlocked
	})
	assert.Contains(t, meta.FindStatusCondition(blocked.Status.Conditions, "Ready").Message, "NotOwned")
	require.NoError(t, p.Client.Delete(t.Context(), obstacle))
	p.waitState("a", v1alpha1.FluxJobSucceeded)
	assert.NotNil(t, meta.FindStatusCondition(p.job("a").Status.Conditions, "Ready"))
}

func TestNamespacesThatAreNotSelected(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.setup(func(s *v1alpha1.FluxSetupSpec) {
		s.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"queue": p.Namespace}}
	})
	p.submit("a", "true")
	p.waitReason("a", v1alpha1.ReasonNamespaceNotAllowed)
	p.OneEvent("a", v1alpha1.ReasonNamespaceNotAllowed)
	ns := &corev1.Namespace{}
	require.NoError(t, p.Client.Get(t.Context(), client.ObjectKey{Name: p.Namespace}, ns))
	labelled := ns.DeepCopy()
	metav1.SetMetaDataLabel(&labelled.ObjectMeta, "queue", p.Namespace)
	require.NoError(t, p.Client.Patch(t.Context(), labelled, client.MergeFrom(ns)))
	p.waitState("a", v1alpha1.FluxJobSucceeded)
}

func TestBadInputIsRefusedByTheAPIServer(t *testing.T) {
	p := newPlace(t)
	cluster := &v1alpha1.MiniClusterSpec{Containers: []v1alpha1.MiniClusterContainer{{Image: "i"}}}
	with := func(change func(*v1alpha1.MiniClusterSpec)) v1alpha1.FluxJobSpec {
		c := cluster.DeepCopy()
		change(c)
		return v1alpha1.FluxJobSpec{MiniCluster: c, Size: ptr.To[int32](2), DeadlineSeconds: ptr.To[int64](1), BackoffLimit: ptr.To[int32](1)}
	}
	jobs := map[string]struct {
		spec v1alpha1.FluxJobSpec
		want string
	}{
		"neither":  {v1alpha1.FluxJobSpec{}, "exactly one of image and miniCluster must be set"},
		"both":     {v1alpha1.FluxJobSpec{Image: "i", MiniCluster: cluster}, "exactly one of image and miniCluster must be set"},
		"command":  {v1alpha1.FluxJobSpec{Command: "c", MiniCluster: cluster}, "command, tasks and resources go with image"},
		"size":     {v1alpha1.FluxJobSpec{Image: "i", Size: ptr.To[int32](0)}, "should be greater than or equal to 1"},
		"sizes":    {with(func(c *v1alpha1.MiniClusterSpec) { c.Size = 3 }), "size and miniCluster.size differ"},
		"max-size": {with(func(c *v1alpha1.MiniClusterSpec) { c.MaxSize = 1 }), "size is over miniCluster.maxSize"},
		"suspend":  {with(func(c *v1alpha1.MiniClusterSpec) { c.Suspend = true }), "set spec.suspend"},
		"ttl":      {with(func(c *v1alpha1.MiniClusterSpec) { c.TTLSecondsAfterFinished = ptr.To[int32](1) }), "set spec.ttlSecondsAfterFinished"},
		"managed":  {with(func(c *v1alpha1.MiniClusterSpec) { c.ManagedBy = new("x") }), "miniCluster.managedBy can't be set"},
		"deadline": {with(func(c *v1alpha1.MiniClusterSpec) { c.DeadlineSeconds = ptr.To[int64](1) }), "deadlineSeconds and miniCluster.deadlineSeconds exclude each other"},
		"backoff":  {with(func(c *v1alpha1.MiniClusterSpec) { c.BackoffLimit = ptr.To[int32](1) }), "backoffLimit and miniCluster.backoffLimit exclude each other"},
		"munge":    {with(func(c *v1alpha1.MiniClusterSpec) { c.Flux.MungeSecret = "x" }), "flux.mungeSecret is not supported"},
		"Upper":    {v1alpha1.FluxJobSpec{Image: "i"}, "metadata.name"},
		"1st":      {v1alpha1.FluxJobSpec{Image: "i"}, "metadata.name must be at most 52 lower case letters"},
	}
	for name, tt := range jobs {
		job := &v1alpha1.FluxJob{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name}, Spec: tt.spec}
		assert.ErrorContains(t, p.Client.Create(t.Context(), job), tt.want, name)
	}
	setups := map[string]struct {
		spec v1alpha1.FluxSetupSpec
		want string
	}{
		"sizes":    {v1alpha1.FluxSetupSpec{MiniCluster: v1alpha1.FluxSetupMiniCluster{Size: ptr.To[int32](3), MaxSize: ptr.To[int32](2)}}, "spec.miniCluster.size: Invalid value: must be at most maxSize"},
		"alone":    {v1alpha1.FluxSetupSpec{LendingLimit: &v1alpha1.FluxQuota{}}, "mean nothing without a cohort"},
		"strategy": {v1alpha1.FluxSetupSpec{QueueingStrategy: "LIFO"}, "supported values"},
		"quota":    {v1alpha1.FluxSetupSpec{Quota: v1alpha1.FluxQuota{Pods: ptr.To[int32](-1)}}, "should be greater than or equal to 0"},
		"backoff":  {v1alpha1.FluxSetupSpec{Readiness: &v1alpha1.FluxReadiness{TimeoutSeconds: 1, BackoffSeconds: 9, BackoffMaxSeconds: 8}}, "backoffSeconds is over backoffMaxSeconds"},
	}
	for name, tt := range setups {
		setup := &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: p.Namespace + "-" + name}, Spec: tt.spec}
		assert.ErrorContains(t, p.Client.Create(t.Context(), setup), tt.want, name)
	}
}
