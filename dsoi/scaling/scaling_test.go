package scaling

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/dsoi"
	"github.com/armature-dev/armature/events"
)

func TestScaleByANumber(t *testing.T) {
	src := newSource(t, "100")
	s := perform(t, aScaling(byURL("storage", src.url)), aSet("storage", 1))
	assert.Empty(t, s.pass(), "a decision is on record before it is carried out")
	status := s.scaling().Status.Nodes[0]
	assert.EqualValues(t, 2, *status.Replicas)
	assert.Equal(t, "100", status.Value)
	require.NotNil(t, status.LastScaleTime)
	assert.Equal(t, []string{"patch StatefulSet.apps/scale default/kv-storage"}, s.pass())
	assert.EqualValues(t, 2, s.replicas("kv-storage"))
	assert.Empty(t, s.passes(0))
	assert.EqualValues(t, 1, src.asked.Load(), "no source is asked twice in an interval")

	assert.Empty(t, s.passes(30*time.Second), "it cools down")
	assert.EqualValues(t, 2, src.asked.Load())
	assert.Len(t, s.passes(31*time.Second), 1)
	assert.EqualValues(t, 4, s.replicas("kv-storage"))
	src.answer.Store("52")
	assert.Empty(t, s.passes(61*time.Second), "near the threshold nothing changes")
	src.answer.Store("1e6")
	s.passes(20 * time.Second)
	assert.EqualValues(t, 5, s.replicas("kv-storage"), "the most")
	src.answer.Store("0")
	s.passes(61 * time.Second)
	assert.EqualValues(t, 1, s.replicas("kv-storage"), "the least")
	assert.Equal(t, metav1.ConditionTrue, s.ready().Status)
	assert.Equal(t, "1 entries are in force", s.ready().Message)
}

// A number says nothing of the pods that were decided on by it: only a later one counts.
func TestANumberIsDecidedOnOnce(t *testing.T) {
	src := newSource(t, "100")
	entry := byURL("storage", src.url)
	entry.Spec.CoolDown = "0"
	volumes := growing(src.url)
	entry.Storage = volumes.Storage
	entry.Storage[0].CoolDown = "0"
	s := perform(t, aScaling(entry), aSet("storage", 1), aClass("fast", true), aClaim("data-kv-storage-0", "1Gi", "fast"))
	s.passes(300 * time.Millisecond)
	assert.EqualValues(t, 2, s.replicas("kv-storage"))
	assert.Equal(t, "1536Mi", s.size("data-kv-storage-0"))
	assert.EqualValues(t, 2, src.asked.Load())
	s.passes(15 * time.Second)
	assert.EqualValues(t, 4, s.replicas("kv-storage"))
	assert.Equal(t, "2Gi", s.size("data-kv-storage-0"))
	assert.EqualValues(t, 4, src.asked.Load())
}

// The builder keeps the numbers for a pass that must wait for CPU, whose View is later than theirs.
func TestANumberThatWasKeptStaysAsOld(t *testing.T) {
	src := newSource(t, "100")
	entry := byURL("storage", src.url)
	entry.Spec.CoolDown = "0"
	o := aScaling(entry)
	readAt := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	o.Status.Nodes = []v1beta1.NodeScalingStatus{{
		Name: "storage", Value: "100", Replicas: ptr.To[int32](2), LastScaleTime: &metav1.Time{Time: readAt},
	}}
	s := perform(t, o)
	c := theController()
	c.Operator(nil, s.ours, s.ours.Live())
	observed, err := c.observe(t.Context(), o, buildertest.NewView(readAt))
	require.NoError(t, err)
	later := buildertest.NewView(readAt.Add(2*time.Second), aSet("storage", 2))
	plan := c.Plan(o, buildertest.WithExternal(later, observed))
	assert.Empty(t, plan.Events, "the number is the one that led to the change")
	assert.Equal(t, 13*time.Second, plan.RequeueAfter, "the sources are asked again 15 seconds after the number was read")
}

func TestANumberThatIsOlderThanTheCoolDown(t *testing.T) {
	src := newSource(t, "100")
	entry := byURL("storage", src.url)
	entry.Storage = growing(src.url).Storage
	o := aScaling(entry)
	o.Spec.Interval = "5m"
	s := perform(t, o, aSet("storage", 1), aClass("fast", true), aClaim("data-kv-storage-0", "1Gi", "fast"))
	s.passes(0)
	assert.Empty(t, s.passes(2*time.Minute), "both have cooled down, and nothing is known of them yet")
	assert.EqualValues(t, 2, src.asked.Load())
	assert.Len(t, s.passes(3*time.Minute), 2)
	assert.EqualValues(t, 4, s.replicas("kv-storage"))
}

// New bounds hold at once.
func TestBoundsThatAreChanged(t *testing.T) {
	s := perform(t, aScaling(byURL("storage", newSource(t, "50").url)), aSet("storage", 4))
	assert.Empty(t, s.passes(0))
	s.change(func(o *TownScaling) { o.Spec.Autoscaling[0].Spec.MaxReplica = ptr.To[int32](3) })
	s.passes(0)
	assert.EqualValues(t, 3, s.replicas("kv-storage"))
	s.change(func(o *TownScaling) { o.Spec.Autoscaling[0].Spec.MaxReplica = ptr.To[int32](2) })
	s.passes(0)
	assert.EqualValues(t, 2, s.replicas("kv-storage"), "also while it cools down")
}

func TestADeploymentByTheNameOfItsWorkload(t *testing.T) {
	s := perform(t, aScaling(byURL("kv-gate", newSource(t, "150").url)), aDeployment("gate", 1))
	assert.Equal(t, []string{"patch Deployment.apps/scale default/kv-gate"}, s.passes(0))
	assert.EqualValues(t, 3, *read(s, &appsv1.Deployment{}, "kv-gate").Spec.Replicas)
}

func TestWhatSomeoneElseScalesIsPutBack(t *testing.T) {
	s := perform(t, aScaling(byURL("storage", newSource(t, "50").url)), aSet("storage", 2))
	assert.Empty(t, s.passes(0))
	s.scale("kv-storage", 4)
	assert.Len(t, s.passes(0), 1)
	assert.EqualValues(t, 2, s.replicas("kv-storage"))
}

func TestASourceThatFailsScalesNothing(t *testing.T) {
	src := newSource(t, "100")
	s := perform(t, aScaling(byURL("storage", src.url), byURL("gate", newSource(t, "50").url)), aSet("storage", 1), aSet("gate", 1))
	src.answer.Store("it's complicated")
	assert.Empty(t, s.passes(0))
	c := s.ready()
	assert.Equal(t, metav1.ConditionFalse, c.Status)
	assert.Equal(t, ReasonSourceFailed, c.Reason)
	assert.Equal(t, "storage: the answer of 16 bytes is no number of 0 or more", c.Message)
	assert.Equal(t, ReasonSourceFailed, s.scaling().Status.Nodes[0].Reason)
	assert.Empty(t, s.scaling().Status.Nodes[1].Reason, "other entries go on")
	assert.EqualValues(t, 1, s.replicas("kv-storage"))

	src.answer.Store("100")
	assert.Len(t, s.passes(15*time.Second), 1)
	assert.Equal(t, metav1.ConditionTrue, s.ready().Status)
}

// What was decided before a source failed is carried out, and kept. Bounds hold without a number.
func TestADecisionIsCarriedOutWithoutItsSource(t *testing.T) {
	src := newSource(t, "100")
	s := perform(t, aScaling(byURL("storage", src.url)), aSet("storage", 2))
	assert.Empty(t, s.pass())
	require.EqualValues(t, 4, *s.scaling().Status.Nodes[0].Replicas)
	src.answer.Store("it's complicated")
	assert.Equal(t, []string{"patch StatefulSet.apps/scale default/kv-storage"}, s.passes(15*time.Second))
	assert.EqualValues(t, 4, s.replicas("kv-storage"))
	assert.Equal(t, ReasonSourceFailed, s.ready().Reason)

	s.change(func(o *TownScaling) { o.Spec.Autoscaling[0].Spec.MaxReplica = ptr.To[int32](3) })
	s.passes(0)
	assert.EqualValues(t, 3, s.replicas("kv-storage"))
	assert.Empty(t, s.passes(time.Hour), "nothing new is decided")
	assert.Equal(t, ReasonSourceFailed, s.ready().Reason)
}

// Bounds hold without a number, also if there never was one.
func TestBoundsHoldBeforeTheFirstDecision(t *testing.T) {
	s := perform(t, aScaling(byURL("storage", newSource(t, "it's complicated").url)), aSet("storage", 7))
	assert.Equal(t, []string{"patch StatefulSet.apps/scale default/kv-storage"}, s.passes(0))
	assert.EqualValues(t, 5, s.replicas("kv-storage"))
	assert.Equal(t, ReasonSourceFailed, s.ready().Reason)
}

func TestByAResource(t *testing.T) {
	entry := v1beta1.NodeScaling{Name: "storage", Spec: &v1beta1.ReplicaScaling{
		Min: ptr.To[int32](2), Max: ptr.To[int32](7), Threshold: "80", CoolDown: "90s", Source: &v1beta1.Source{Resource: "memory"},
	}}
	s := perform(t, aScaling(entry), aSet("storage", 1))
	assert.Equal(t, []string{"create HorizontalPodAutoscaler.autoscaling default/kv-storage"}, s.passes(0))
	hpa := read(s, &autoscalingv2.HorizontalPodAutoscaler{}, "kv-storage")
	assert.Equal(t, autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "kv-storage"}, hpa.Spec.ScaleTargetRef)
	assert.EqualValues(t, 2, *hpa.Spec.MinReplicas)
	assert.EqualValues(t, 7, hpa.Spec.MaxReplicas)
	assert.Equal(t, corev1.ResourceMemory, hpa.Spec.Metrics[0].Resource.Name)
	assert.EqualValues(t, 80, *hpa.Spec.Metrics[0].Resource.Target.AverageUtilization)
	assert.EqualValues(t, 90, *hpa.Spec.Behavior.ScaleDown.StabilizationWindowSeconds)
	assert.Len(t, hpa.OwnerReferences, 1)
	assert.Nil(t, s.scaling().Status.Nodes[0].Replicas)

	s.change(func(o *TownScaling) { o.Spec.Autoscaling[0].Spec.Enable = new(false) })
	assert.Equal(t, []string{"delete HorizontalPodAutoscaler.autoscaling default/kv-storage"}, s.passes(0))
}

func TestTurnedOff(t *testing.T) {
	src := newSource(t, "100")
	entry := byURL("storage", src.url)
	entry.Spec.Enable = new(false)
	s := perform(t, aScaling(entry), aSet("storage", 1))
	assert.Empty(t, s.passes(0))
	assert.Zero(t, src.asked.Load())
	assert.Equal(t, metav1.ConditionTrue, s.ready().Status)
}

func TestTheSpecsOwnSource(t *testing.T) {
	o := aScaling(v1beta1.NodeScaling{Name: "storage", Spec: &v1beta1.ReplicaScaling{MaxReplica: ptr.To[int32](5), Threshold: "50"}})
	o.Spec.External = &v1beta1.ExternalMetric{Spec: v1beta1.HTTPSource{URL: newSource(t, "100").url}}
	s := perform(t, o, aSet("storage", 1))
	assert.Len(t, s.passes(0), 1)
}

// TestOnlyWorkloadsOfTheCluster: who may write a scaling can't reach what isn't a cluster's.
func TestOnlyWorkloadsOfTheCluster(t *testing.T) {
	stray := aSet("storage", 1)
	stray.OwnerReferences = nil
	other := aSet("storage", 1)
	other.OwnerReferences[0].Name = "another"
	another := aSet("storage", 1)
	another.OwnerReferences[0].Kind = "Village"
	namesake := aSet("storage", 1)
	namesake.OwnerReferences[0].APIVersion = "example.org/v1"
	for name, set := range map[string]*appsv1.StatefulSet{
		"no one's": stray, "another cluster's": other, "another kind's": another, "another group's": namesake,
	} {
		t.Run(name, func(t *testing.T) {
			s := perform(t, aScaling(byURL("storage", newSource(t, "100").url)), set)
			assert.Empty(t, s.passes(0))
			assert.Equal(t, ReasonTargetNotFound, s.ready().Reason)
			assert.Equal(t, `storage: the Town kv has no StatefulSet or Deployment of the node "storage"`, s.ready().Message)
		})
	}
}

func TestTwoScalingsOfOneNode(t *testing.T) {
	older := aScaling(byURL("kv-storage", newSource(t, "100").url))
	older.Name, older.Spec.Cluster = "older", "kv"
	older.CreationTimestamp = metav1.NewTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	newer := aScaling(byURL("storage", newSource(t, "0").url), byURL("gate", newSource(t, "100").url))
	newer.CreationTimestamp = metav1.NewTime(time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC))
	s := perform(t, older, newer, aSet("storage", 2), aSet("gate", 1))
	assert.Equal(t, []string{"patch StatefulSet.apps/scale default/kv-gate"}, s.passes(0))
	assert.Equal(t, ReasonConflict, s.ready().Reason)
	assert.Contains(t, s.ready().Message, "older is older and scales this node already")
	require.NoError(t, s.world.Delete(t.Context(), older))
	assert.Equal(t, []string{"patch StatefulSet.apps/scale default/kv-storage"}, s.passes(20*time.Second))
}

// What a Scaling decided before an older one scaled the node says nothing about the pods that it finds afterwards.
func TestAConflictEndsWithTheReplicasThatExist(t *testing.T) {
	src := newSource(t, "50")
	older := aScaling(byURL("storage", src.url))
	older.Name, older.Spec.Cluster, older.Spec.Autoscaling[0].Spec.Enable = "older", "kv", new(false)
	older.CreationTimestamp = metav1.NewTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	newer := aScaling(byURL("storage", src.url))
	newer.CreationTimestamp = metav1.NewTime(time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC))
	s := perform(t, older, newer, aSet("storage", 2))
	assert.Empty(t, s.passes(0))
	require.EqualValues(t, 2, *s.scaling().Status.Nodes[0].Replicas)
	older = read(s, older, "older")
	older.Spec.Autoscaling[0].Spec.Enable = nil
	require.NoError(t, s.world.Update(t.Context(), older))
	assert.Empty(t, s.passes(15*time.Second))
	require.Equal(t, ReasonConflict, s.ready().Reason)
	status := s.scaling().Status.Nodes[0]
	assert.Empty(t, status.Value)
	assert.Nil(t, status.Replicas)
	assert.Nil(t, status.LastScaleTime)

	set := read(s, &appsv1.StatefulSet{}, "kv-storage")
	set.Spec.Replicas = ptr.To[int32](4) // by the older one
	require.NoError(t, s.world.Update(t.Context(), set))
	require.NoError(t, s.world.Delete(t.Context(), older))
	assert.Empty(t, s.passes(15*time.Second))
	assert.EqualValues(t, 4, s.replicas("kv-storage"))
}

// An older Scaling holds what it scales of a node, and nothing else of it.
func TestAnOlderScalingHoldsOnlyWhatItScales(t *testing.T) {
	off := byURL("storage", "http://127.0.0.1:1/")
	off.Spec.Enable = new(false)
	logs := growing("http://127.0.0.1:1/")
	logs.Storage[0].Name = "logs"
	pods := byURL("kv-storage", "http://127.0.0.1:1/")
	for name, tt := range map[string]struct {
		theirs v1beta1.NodeScaling
		writes int
		reason string
	}{
		"turned off":      {off, 2, ReasonReady},
		"other volumes":   {logs, 2, ReasonReady},
		"the same pods":   {pods, 1, ReasonConflict},
		"the same volume": {growing("http://127.0.0.1:1/"), 1, ReasonConflict},
	} {
		t.Run(name, func(t *testing.T) {
			older := aScaling(tt.theirs)
			older.Name, older.Spec.Cluster = "older", "kv"
			older.CreationTimestamp = metav1.NewTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
			src := newSource(t, "100")
			mine := byURL("storage", src.url)
			mine.Storage = growing(src.url).Storage
			newer := aScaling(mine)
			newer.CreationTimestamp = metav1.NewTime(time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC))
			s := perform(t, older, newer, aSet("storage", 2), aClass("fast", true), aClaim("data-kv-storage-0", "1Gi", "fast"))
			assert.Len(t, s.passes(0), tt.writes)
			assert.Equal(t, tt.reason, s.ready().Reason, s.ready().Message)
		})
	}
}

func growing(url string) v1beta1.NodeScaling {
	return v1beta1.NodeScaling{Name: "storage", Storage: []v1beta1.StorageScaling{{
		Name: "data", Threshold: "80", Max: "2Gi", Increase: "50%", CoolDown: "60", Source: &v1beta1.Source{External: &v1beta1.HTTPSource{URL: url}},
	}}}
}

func (s *stage) size(claim string) string {
	s.Helper()
	return read(s, &corev1.PersistentVolumeClaim{}, claim).Spec.Resources.Requests.Storage().String()
}

func TestVolumesGrow(t *testing.T) {
	src := newSource(t, "90")
	foreign := aClaim("data-other-0", "1Gi", "fast")
	foreign.Annotations = nil
	s := perform(t, aScaling(growing(src.url)), aSet("storage", 2), aClass("fast", true), foreign,
		aClaim("data-kv-storage-0", "1Gi", "fast"), aClaim("data-kv-storage-1", "1Gi", "fast"))
	assert.Empty(t, s.pass())
	assert.Len(t, s.passes(0), 2)
	assert.Equal(t, "1536Mi", s.size("data-kv-storage-0"))
	assert.Equal(t, "1536Mi", s.size("data-kv-storage-1"))
	assert.Equal(t, "1Gi", s.size("data-other-0"), "it is no claim of the node")
	assert.Equal(t, v1beta1.Size("1536Mi"), s.scaling().Status.Nodes[0].Storage[0].Size)
	assert.Empty(t, s.passes(30*time.Second), "it cools down")

	late := aClaim("data-kv-storage-2", "1Gi", "fast")
	require.NoError(t, s.world.Create(t.Context(), late))
	assert.Empty(t, s.passes(0), "it isn't bound yet")
	late.Status.Phase = corev1.ClaimBound
	require.NoError(t, s.world.Status().Update(t.Context(), late))
	assert.Len(t, s.passes(0), 1, "the claim of a pod that came later grows as well")

	s.passes(61 * time.Second)
	assert.Equal(t, "2Gi", s.size("data-kv-storage-0"))
	assert.Empty(t, s.passes(61*time.Second))
	assert.Equal(t, ReasonAtMax, s.ready().Reason)
	src.answer.Store("10")
	assert.Empty(t, s.passes(61*time.Second), "volumes never shrink")
	assert.Equal(t, metav1.ConditionTrue, s.ready().Status)
}

// The claims of a node that is created again have the size in the spec, not that to which others had grown.
func TestTheSizeOfClaimsThatAreGoneIsForgotten(t *testing.T) {
	src := newSource(t, "90")
	s := perform(t, aScaling(growing(src.url)), aSet("storage", 1), aClass("fast", true), aClaim("data-kv-storage-0", "1Gi", "fast"))
	s.passes(0)
	require.Equal(t, "1536Mi", s.size("data-kv-storage-0"))
	src.answer.Store("10")
	require.NoError(t, s.world.Delete(t.Context(), aClaim("data-kv-storage-0", "1Gi", "fast")))
	s.passes(15 * time.Second)
	require.Equal(t, ReasonTargetNotFound, s.ready().Reason)
	assert.Empty(t, s.scaling().Status.Nodes[0].Storage[0].Size)
	again := aClaim("data-kv-storage-0", "1Gi", "fast")
	require.NoError(t, s.world.Create(t.Context(), again))
	again.Status.Phase = corev1.ClaimBound
	require.NoError(t, s.world.Status().Update(t.Context(), again))
	assert.Empty(t, s.passes(15*time.Second))
	assert.Equal(t, "1Gi", s.size("data-kv-storage-0"))
}

// A max that is lowered after a decision also limits the claims of pods that come later.
func TestNoClaimGrowsBeyondALoweredMax(t *testing.T) {
	src := newSource(t, "90")
	s := perform(t, aScaling(growing(src.url)), aSet("storage", 1), aClass("fast", true), aClaim("data-kv-storage-0", "1Gi", "fast"))
	s.passes(0)
	require.Equal(t, "1536Mi", s.size("data-kv-storage-0"))
	s.change(func(o *TownScaling) { o.Spec.Autoscaling[0].Storage[0].Max = "1200Mi" })
	late := aClaim("data-kv-storage-1", "1Gi", "fast")
	require.NoError(t, s.world.Create(t.Context(), late))
	late.Status.Phase = corev1.ClaimBound
	require.NoError(t, s.world.Status().Update(t.Context(), late))
	assert.Len(t, s.passes(0), 1)
	assert.Equal(t, "1200Mi", s.size("data-kv-storage-1"))
	assert.Equal(t, "1536Mi", s.size("data-kv-storage-0"))
}

func TestVolumesThatCannotGrow(t *testing.T) {
	for name, class := range map[string]client.Object{"not allowed": aClass("slow", false), "gone": aClass("another", true)} {
		t.Run(name, func(t *testing.T) {
			s := perform(t, aScaling(growing(newSource(t, "90").url)), aSet("storage", 1), class, aClaim("data-kv-storage-0", "1Gi", "slow"))
			assert.Empty(t, s.passes(0))
			assert.Equal(t, ReasonCannotGrow, s.ready().Reason)
			assert.Contains(t, s.ready().Message, `storage data: the claim data-kv-storage-0 is of the storage class "slow"`)
			assert.Empty(t, s.scaling().Status.Nodes[0].Storage[0].Size)
		})
	}
	s := perform(t, aScaling(growing(newSource(t, "90").url)), aSet("storage", 1))
	s.passes(0)
	assert.Equal(t, ReasonTargetNotFound, s.ready().Reason)
}

// A node goes by two names. Two entries would pull it to and fro.
func TestTwoEntriesOfOneNode(t *testing.T) {
	src := newSource(t, "50")
	most := byURL("kv-storage", src.url)
	most.Spec.MinReplica = ptr.To[int32](4)
	s := perform(t, aScaling(byURL("storage", src.url), most), aSet("storage", 2))
	assert.Empty(t, s.passes(0))
	assert.EqualValues(t, 2, s.replicas("kv-storage"), "the first one holds")
	assert.Equal(t, ReasonInvalidSpec, s.ready().Reason)
	assert.Equal(t, `kv-storage: "storage" is the same node; want one entry for it`, s.ready().Message)
	assert.Empty(t, s.scaling().Status.Nodes[0].Reason)
}

// Who may write Scalings can't occupy the controller with the comparison of their names.
func TestManyEntriesAndManyScalings(t *testing.T) {
	entries := func(prefix string) (all []v1beta1.NodeScaling) {
		for i := range 1000 {
			all = append(all, v1beta1.NodeScaling{Name: prefix + strconv.Itoa(i), Spec: &v1beta1.ReplicaScaling{MaxReplica: ptr.To[int32](5)}})
		}
		return all
	}
	objs := []client.Object{aScaling(entries(strings.Repeat("n", 200))...)}
	for i := range 20 {
		older := aScaling(entries(strings.Repeat("m", 200))...)
		older.Name, older.Spec.Cluster = fmt.Sprint("older", i), "kv"
		older.CreationTimestamp = metav1.NewTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
		objs = append(objs, older)
	}
	s := perform(t, objs...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.pass()
	runtime.ReadMemStats(&after)
	assert.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(1000), "in MB: a comparison of all names with all takes 24 GB")
}

func TestMistakesInEntriesAreNamed(t *testing.T) {
	tests := map[string]struct {
		change func(e *v1beta1.NodeScaling)
		want   string
	}{
		"nothing to do":       {func(e *v1beta1.NodeScaling) { e.Spec = nil }, "neither spec nor storage is given"},
		"no most":             {func(e *v1beta1.NodeScaling) { e.Spec.MaxReplica = nil }, "maxReplica is missing"},
		"two names of most":   {func(e *v1beta1.NodeScaling) { e.Spec.Max = ptr.To[int32](3) }, "maxReplica and max are names of one field"},
		"more than the most":  {func(e *v1beta1.NodeScaling) { e.Spec.MinReplica = ptr.To[int32](9) }, "minReplica is 9 and maxReplica 5"},
		"no threshold":        {func(e *v1beta1.NodeScaling) { e.Spec.Threshold = "" }, `threshold is ""; want a number above 0`},
		"a coolDown of words": {func(e *v1beta1.NodeScaling) { e.Spec.CoolDown = "later" }, `coolDown is "later"`},
		"no source":           {func(e *v1beta1.NodeScaling) { e.Spec.Source = nil }, "there is no source"},
		"two sources":         {func(e *v1beta1.NodeScaling) { e.Spec.Source.Resource = "cpu" }, "source has 2 of external, prometheus and resource; want one"},
		"a url of a file":     {func(e *v1beta1.NodeScaling) { e.Spec.Source.External.URL = "file:///etc/passwd" }, `the url begins with "file"`},
		"a url with a user":   {func(e *v1beta1.NodeScaling) { e.Spec.Source.External.URL = "http://u:hush@h" }, "put it into a Secret"},
		"too long a timeout":  {func(e *v1beta1.NodeScaling) { e.Spec.Source.External.Timeout = "1h" }, "timeout is 1h0m0s; want more than 0 and at most 30s"},
		"a path as a Secret": {func(e *v1beta1.NodeScaling) {
			e.Spec.Source.External.SecretRef = &v1beta1.SecretName{Name: "../auth"}
		}, `source: secretRef.name is "../auth"; want the name of a Secret: a lowercase RFC 1123 subdomain`},
		"a Secret of authorities without a name": {func(e *v1beta1.NodeScaling) {
			e.Spec.Source.External.TLS = &v1beta1.TLS{SecretRef: &v1beta1.SecretName{}}
		}, `source: tls.secretRef.name is ""; want the name of a Secret`},
		"a Secret of Prometheus": {func(e *v1beta1.NodeScaling) {
			e.Spec.Source = &v1beta1.Source{Prometheus: &v1beta1.PrometheusSource{URL: "http://h", Query: "q", HTTPAccess: v1beta1.HTTPAccess{
				SecretRef: &v1beta1.SecretName{Name: "Auth"},
			}}}
		}, `source: secretRef.name is "Auth"`},
		"no query": {func(e *v1beta1.NodeScaling) {
			e.Spec.Source = &v1beta1.Source{Prometheus: &v1beta1.PrometheusSource{URL: "http://h"}}
		}, "query is empty"},
		"another resource": {func(e *v1beta1.NodeScaling) { e.Spec.Source = &v1beta1.Source{Resource: "gpu"} }, `want cpu or memory`},
		"a broken percentage": {func(e *v1beta1.NodeScaling) {
			e.Spec.Source, e.Spec.Threshold = &v1beta1.Source{Resource: "cpu"}, "0.5"
		}, "whole percentage"},
		"none by a resource": {func(e *v1beta1.NodeScaling) {
			e.Spec.Source, e.Spec.MinReplica = &v1beta1.Source{Resource: "cpu"}, ptr.To[int32](0)
		}, "can't be scaled to nothing"},
		"too long a coolDown": {func(e *v1beta1.NodeScaling) { e.Spec.Source, e.Spec.CoolDown = &v1beta1.Source{Resource: "cpu"}, "2h" }, "at most 1h"},
		"storage by cpu": {func(e *v1beta1.NodeScaling) {
			*e = growing("http://h")
			e.Storage[0].Source = &v1beta1.Source{Resource: "cpu"}
		}, "volumes need external or prometheus"},
		"no max":              {func(e *v1beta1.NodeScaling) { *e = growing("http://h"); e.Storage[0].Max = "" }, `max is ""; want a quantity`},
		"an odd increase":     {func(e *v1beta1.NodeScaling) { *e = growing("http://h"); e.Storage[0].Increase = "-5%" }, `increase is "-5%"`},
		"an increase of text": {func(e *v1beta1.NodeScaling) { *e = growing("http://h"); e.Storage[0].Increase = "much" }, `increase is "much"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			entry := byURL("storage", "http://127.0.0.1:1/")
			tt.change(&entry)
			s := perform(t, aScaling(entry), aSet("storage", 1))
			assert.Empty(t, s.passes(0))
			assert.Equal(t, ReasonInvalidSpec, s.ready().Reason)
			assert.Contains(t, s.ready().Message, tt.want)
			assert.NotContains(t, s.ready().Message, "hush")
			stalled := meta.FindStatusCondition(s.scaling().Status.Conditions, events.ConditionStalled)
			assert.Equal(t, metav1.ConditionTrue, stalled.Status)
		})
	}
	o := aScaling()
	o.Spec.Interval = "1ms"
	s := perform(t, o)
	s.passes(0)
	assert.Equal(t, "interval is 1ms; want at least 1s", s.ready().Message)
}

// A crash must neither forget a decision nor make it twice: the numbers would grow with each.
func TestCrashAfterEachWrite(t *testing.T) {
	src := newSource(t, "100")
	storage := growing(src.url)
	storage.Name = "storage"
	storage.Spec = byURL("storage", src.url).Spec
	storage.Spec.CoolDown, storage.Storage[0].CoolDown = "1000h", "1000h"
	for _, lag := range []int{0, 3} {
		buildertest.CrashEverywhere(t, buildertest.Scenario{
			Scheme: townScheme(), Options: []buildertest.Option{withTowns}, Requests: []reconcile.Request{request}, Lag: lag, LagOwnWrites: lag > 1,
			Objects: []client.Object{
				aScaling(storage, byResource("gate"), byResource("idle")), aSet("storage", 1), aSet("gate", 1), aSet("idle", 0), aClass("fast", true), aClaim("data-kv-storage-0", "1Gi", "fast"),
			},
			Foreign: func(obj client.Object) bool {
				_, isClass := obj.(metav1.Object)
				return isClass && obj.GetName() == "fast"
			},
			Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
				return buildertest.NewReconciler(theController().Operator(nil, c, c.Live()), c, c.Now)
			},
		})
	}
}

// An autoscaler of that name that someone else made is left alone, and told of.
func TestAnAutoscalerThatIsSomeoneElses(t *testing.T) {
	theirs := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kv-storage"},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "kv-storage"}, MaxReplicas: 3,
		},
	}
	entry := v1beta1.NodeScaling{Name: "storage", Spec: &v1beta1.ReplicaScaling{
		Max: ptr.To[int32](7), Threshold: "80", Source: &v1beta1.Source{Resource: "cpu"},
	}}
	s := perform(t, aScaling(entry, byURL("gate", newSource(t, "100").url)), aSet("storage", 1), aSet("gate", 1), theirs)
	assert.Equal(t, []string{"patch StatefulSet.apps/scale default/kv-gate"}, s.passes(0), "other entries go on")
	assert.EqualValues(t, 2, s.replicas("kv-gate"))
	assert.Equal(t, ReasonConflict, s.ready().Reason)
	assert.Equal(t, "storage: a HorizontalPodAutoscaler kv-storage exists and isn't of this object (it has no controller); "+
		"delete it, or take the entry out", s.ready().Message)
	assert.EqualValues(t, 3, read(s, theirs, "kv-storage").Spec.MaxReplicas)

	require.NoError(t, s.world.Delete(t.Context(), theirs))
	assert.Equal(t, []string{"create HorizontalPodAutoscaler.autoscaling default/kv-storage"}, s.passes(0))
	assert.Equal(t, metav1.ConditionTrue, s.ready().Status)
}

// Changes of other entries don't wait for an autoscaler that the API server refuses.
func TestAnAutoscalerThatIsRefused(t *testing.T) {
	src := newSource(t, "50")
	gate := byURL("gate", src.url)
	gate.Storage = growing(src.url).Storage
	s := perform(t, aScaling(byResource("storage"), gate), aSet("storage", 1), aSet("gate", 1), aClass("fast", true), claimOf("gate"))
	s.ours.Fail(autoscalersAreRefused)
	s.retries(20, time.Minute)
	src.answer.Store("100")
	s.retries(2, time.Minute)
	assert.EqualValues(t, 2, s.replicas("kv-gate"), "one pass decides, the next one acts")
	assert.Equal(t, "1536Mi", s.size("data-kv-gate-0"))
	assert.Len(t, s.emitted(ReasonScaled), 2)

	src.answer.Store("50")
	s.scale("kv-gate", 3)
	s.retries(1, time.Minute)
	assert.EqualValues(t, 2, s.replicas("kv-gate"), "someone else's change")

	s.ours.Heal()
	assert.Equal(t, []string{"create HorizontalPodAutoscaler.autoscaling default/kv-storage"}, s.passes(0))
}

// A decision beside a refused autoscaler doesn't report the refusal again.
func TestARefusedAutoscalerIsReportedOnce(t *testing.T) {
	src := newSource(t, "50")
	s := perform(t, aScaling(byResource("storage"), byURL("gate", src.url)), aSet("storage", 1), aSet("gate", 1))
	s.ours.Fail(autoscalersAreRefused)
	s.retries(1, 20*time.Second)
	was := s.ready()
	src.answer.Store("100")
	for range 4 {
		s.retries(1, 20*time.Second)
		assert.Equal(t, was, s.ready())
	}
	assert.EqualValues(t, 2, s.replicas("kv-gate"))
	assert.Len(t, s.emitted(events.ReasonApplyFailed), 1)
}

// An autoscaler doesn't wait for a change of another entry that the API server refuses.
func TestAChangeThatIsRefusedBesideAnAutoscaler(t *testing.T) {
	gate := byURL("gate", newSource(t, "100").url)
	gate.Spec.CoolDown = "1000"
	s := perform(t, aScaling(gate), aSet("storage", 1), aSet("gate", 1))
	s.ours.Fail(scalesAreRefused)
	s.retries(2, time.Minute)
	s.change(func(o *TownScaling) { o.Spec.Autoscaling = append(o.Spec.Autoscaling, byResource("storage")) })
	s.retries(1, time.Minute)
	assert.EqualValues(t, 7, read(s, &autoscalingv2.HorizontalPodAutoscaler{}, "kv-storage").Spec.MaxReplicas)
}

// While a decision can't be carried out, the number is still that of the former pods, and leads to no other decision.
func TestADecisionThatIsNotCarriedOut(t *testing.T) {
	gate := byURL("gate", newSource(t, "100").url)
	gate.Spec.CoolDown = "60"
	s := perform(t, aScaling(gate), aSet("gate", 1))
	s.ours.Fail(scalesAreRefused)
	s.retries(20, time.Minute)
	assert.EqualValues(t, 2, *s.scaling().Status.Nodes[0].Replicas)
	assert.Len(t, s.emitted(ReasonScaled), 1)
	assert.EqualValues(t, 1, s.replicas("kv-gate"))

	s.ours.Heal()
	s.retries(1, time.Minute)
	assert.EqualValues(t, 2, s.replicas("kv-gate"))
}

// A refused decision ends when another number calls for another one. That is of the pods that there are.
func TestARefusedDecisionIsReplaced(t *testing.T) {
	for name, c := range map[string]struct {
		replicas      int32
		first, second string
		decided       int32
		want          int32
		events        []string
	}{
		"down, then up":       {4, "25", "500", 2, 5, []string{"from 4 to 2 pods: the number is 25", "from 4 to 5 pods: the number is 500"}},
		"up, then down":       {2, "100", "10", 4, 1, []string{"from 2 to 4 pods: the number is 100", "from 2 to 1 pods: the number is 10"}},
		"down, then as it is": {4, "25", "50", 2, 4, []string{"from 4 to 2 pods: the number is 25"}},
	} {
		t.Run(name, func(t *testing.T) {
			src := newSource(t, c.first)
			s := perform(t, aScaling(byURL("gate", src.url)), aSet("gate", c.replicas))
			s.ours.Fail(scalesAreRefused)
			s.retries(10, time.Minute)
			assert.Equal(t, c.decided, *s.scaling().Status.Nodes[0].Replicas)
			src.answer.Store(c.second)
			s.retries(1, time.Minute)
			assert.Equal(t, c.want, *s.scaling().Status.Nodes[0].Replicas)

			s.ours.Heal()
			s.retries(2, time.Minute)
			assert.Equal(t, c.want, s.replicas("kv-gate"))
			emitted := s.emitted(ReasonScaled)
			require.Len(t, emitted, len(c.events))
			for i, want := range c.events {
				assert.Contains(t, emitted[i], want)
			}
		})
	}
}

// A decision that was refused for a while is a change when it is carried out: the coolDown begins, and earlier numbers don't count.
func TestADecisionThatIsCarriedOutLate(t *testing.T) {
	for _, next := range []time.Duration{time.Second, 20 * time.Second} { // before and after the next number
		t.Run(next.String(), func(t *testing.T) {
			gate := byURL("gate", newSource(t, "100").url)
			gate.Spec.CoolDown = "300"
			s := perform(t, aScaling(gate), aSet("gate", 1))
			s.ours.Fail(scalesAreRefused)
			s.retries(20, time.Minute)
			s.ours.Heal()
			assert.Equal(t, []string{"patch StatefulSet.apps/scale default/kv-gate"}, s.pass())
			assert.EqualValues(t, 2, s.replicas("kv-gate"))
			assert.Empty(t, s.passes(next))
			changed := s.server.Clock().Now()
			assert.WithinDuration(t, changed, s.scaling().Status.Nodes[0].LastScaleTime.Time, time.Second)
			assert.Empty(t, s.passes(290*time.Second))
			assert.EqualValues(t, 2, *s.scaling().Status.Nodes[0].Replicas)
			assert.Len(t, s.emitted(ReasonScaled), 1)
			assert.Len(t, s.passes(20*time.Second), 1)
			assert.EqualValues(t, 4, s.replicas("kv-gate"))
		})
	}
}

// An operator that restarts after a late change lacks its time, but has no number from before it.
func TestARestartAfterALateChange(t *testing.T) {
	src := newSource(t, "100")
	s := perform(t, aScaling(byURL("gate", src.url)), aSet("gate", 1))
	s.ours.Fail(scalesAreRefused)
	s.retries(20, time.Minute)
	s.ours.Heal()
	s.pass()
	src.answer.Store("50")
	var err error
	s.reconciler, err = buildertest.NewReconciler(theController().Operator(nil, s.ours, s.ours.Live()), s.ours, s.ours.Now)
	require.NoError(t, err)
	changed := s.scaling().Status.Nodes[0].LastScaleTime
	assert.Empty(t, s.passes(time.Second))
	assert.EqualValues(t, 2, s.replicas("kv-gate"))
	assert.Equal(t, changed, s.scaling().Status.Nodes[0].LastScaleTime, "a restart is no change")
}

// An upgrade may bring the permission that a decision lacked.
func TestADecisionThatIsCarriedOutAfterARestart(t *testing.T) {
	gate := byURL("gate", newSource(t, "100").url)
	gate.Spec.CoolDown = "300"
	s := perform(t, aScaling(gate), aSet("gate", 1))
	s.ours.Fail(scalesAreRefused)
	s.retries(20, time.Minute)
	var err error
	s.reconciler, err = buildertest.NewReconciler(theController().Operator(nil, s.ours, s.ours.Live()), s.ours, s.ours.Now)
	require.NoError(t, err)
	s.ours.Heal()
	for range 10 {
		s.passes(20 * time.Second)
	}
	assert.EqualValues(t, 2, s.replicas("kv-gate"), "the coolDown began when the pods were changed")
	s.passes(2 * time.Minute)
	assert.EqualValues(t, 4, s.replicas("kv-gate"))
}

// Someone else's change is put back, long after a decision, and also when the numbers are read while it lasts.
func TestWhatSomeoneElseScalesLater(t *testing.T) {
	s := perform(t, aScaling(byURL("storage", newSource(t, "50").url)), aSet("storage", 2))
	s.passes(0)
	s.passes(time.Hour)
	for _, after := range []time.Duration{time.Second, time.Hour} {
		s.scale("kv-storage", 4)
		assert.Len(t, s.passes(after), 1)
		assert.EqualValues(t, 2, s.replicas("kv-storage"))
	}
	assert.Empty(t, s.emitted(ReasonScaled))
}

// The coolDown begins with changes of the controller's own: what someone else scales again and again, and it puts back, holds up no
// decision.
func TestWhatSomeoneElseScalesDelaysNoDecision(t *testing.T) {
	src := newSource(t, "50")
	gate := byURL("gate", src.url)
	gate.Spec.CoolDown = "300"
	s := perform(t, aScaling(gate), aSet("gate", 2))
	s.passes(0)
	src.answer.Store("500")
	for range 10 {
		s.scale("kv-gate", 4)
		s.passes(160 * time.Second)
	}
	assert.EqualValues(t, 5, s.replicas("kv-gate"))
}

// scalesAreRefused lets the API server refuse every change of replicas.
var scalesAreRefused = buildertest.Fault{
	Verb: buildertest.VerbPatch, Kind: schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, Error: refused,
}

// A HorizontalPodAutoscaler doesn't scale a workload without pods, so the controller starts the first ones.
func TestAResourceScalesANodeWithoutPods(t *testing.T) {
	entry := byResource("storage")
	entry.Spec.Min = ptr.To[int32](2)
	s := perform(t, aScaling(entry), aSet("storage", 0))
	assert.Equal(t, []string{"create HorizontalPodAutoscaler.autoscaling default/kv-storage"}, s.pass(), "a decision is on record before it is carried out")
	assert.EqualValues(t, 2, *s.scaling().Status.Nodes[0].Replicas)
	assert.Equal(t, []string{"patch StatefulSet.apps/scale default/kv-storage"}, s.passes(0))
	assert.EqualValues(t, 2, s.replicas("kv-storage"))
	assert.Equal(t, v1beta1.NodeScalingStatus{Name: "storage"}, s.scaling().Status.Nodes[0], "the autoscaler decides from now on")
	assert.Equal(t, []string{"node storage: from 0 to 2 pods: minReplica is 2, maxReplica 7"}, s.emitted(ReasonScaled))

	s.scale("kv-storage", 0)
	s.passes(0)
	assert.EqualValues(t, 2, s.replicas("kv-storage"))
	assert.Len(t, s.emitted(ReasonScaled), 2)
}

// The start of a node without pods is reported once, and waits for no autoscaler: neither for its own nor for another one.
func TestTheStartOfANodeBesideRefusedAutoscalers(t *testing.T) {
	s := perform(t, aScaling(byResource("storage"), byResource("gate")), aSet("storage", 0), aSet("gate", 1))
	s.ours.Fail(autoscalersAreRefused)
	s.retries(1, time.Minute)
	assert.EqualValues(t, 0, s.replicas("kv-storage"))
	assert.EqualValues(t, 1, *s.scaling().Status.Nodes[0].Replicas, "what the event reports is on record")
	s.retries(3, time.Minute)
	assert.EqualValues(t, 1, s.replicas("kv-storage"))
	assert.Equal(t, []string{"node storage: from 0 to 1 pods: minReplica is 1, maxReplica 7"}, s.emitted(ReasonScaled))
}

// A cache that doesn't show the first pods yet is no reason to report their start again.
func TestTheStartOfANodeInAStaleCache(t *testing.T) {
	s := perform(t, aScaling(byResource("storage")), aSet("storage", 0))
	require.NoError(t, s.ours.Lag(1, &appsv1.StatefulSet{}))
	s.retries(4, time.Minute)
	require.NoError(t, s.ours.Lag(0, &appsv1.StatefulSet{}))
	assert.Empty(t, s.passes(0))
	assert.EqualValues(t, 1, s.replicas("kv-storage"))
	assert.Len(t, s.emitted(ReasonScaled), 1)
}

// autoscalersAreRefused lets the API server refuse every new HorizontalPodAutoscaler.
var autoscalersAreRefused = buildertest.Fault{
	Verb: buildertest.VerbCreate, Kind: schema.GroupKind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}, Error: refused,
}

// retries runs passes, each at the time that the one before requested, or, if that failed, after a backoff.
func (s *stage) retries(n int, backoff time.Duration) {
	s.Helper()
	for range n {
		res, err := s.reconciler.Reconcile(s.Context(), request)
		if err != nil {
			res.RequeueAfter = backoff
		}
		s.server.Clock().Step(res.RequeueAfter)
	}
}

// emitted returns the messages of the operator's events with a reason.
func (s *stage) emitted(reason string) (messages []string) {
	for _, ev := range s.ours.Events() {
		if ev.Reason == reason {
			messages = append(messages, ev.Note)
		}
	}
	return messages
}

// refused is the error of a quota or a policy.
func refused(call buildertest.Call) error {
	return apierrors.NewForbidden(schema.GroupResource{Group: call.Kind.Group, Resource: call.Kind.Kind}, call.Name, errors.New("exceeded quota"))
}

// byResource is an entry that scales a node by its CPU, up to 7 pods.
func byResource(node string) v1beta1.NodeScaling {
	return v1beta1.NodeScaling{Name: node, Spec: &v1beta1.ReplicaScaling{
		Max: ptr.To[int32](7), Threshold: "80", Source: &v1beta1.Source{Resource: "cpu"},
	}}
}

// claimOf is the claim of a node's first pod.
func claimOf(node string) *corev1.PersistentVolumeClaim {
	claim := aClaim("data-kv-"+node+"-0", "1Gi", "fast")
	claim.Labels[dsoi.LabelNode] = node
	return claim
}
