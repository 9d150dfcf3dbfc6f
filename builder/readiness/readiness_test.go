package readiness

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/internal/text"
)

// gen2 is what someone changed once.
var gen2 = metav1.ObjectMeta{Generation: 2}

func deployment(s appsv1.DeploymentStatus) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: gen2, Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](3)}, Status: s}
}

func statefulSet(change func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	s := &appsv1.StatefulSet{ObjectMeta: gen2, Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](3)}, Status: appsv1.StatefulSetStatus{
		ObservedGeneration: 2, Replicas: 3, ReadyReplicas: 3, AvailableReplicas: 3, UpdatedReplicas: 3, CurrentRevision: "b", UpdateRevision: "b",
	}}
	change(s)
	return s
}

func daemonSet(change func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{ObjectMeta: gen2, Status: appsv1.DaemonSetStatus{
		ObservedGeneration: 2, DesiredNumberScheduled: 3, CurrentNumberScheduled: 3, UpdatedNumberScheduled: 3, NumberReady: 3, NumberAvailable: 3,
	}}
	change(d)
	return d
}

func job(conditions ...batchv1.JobCondition) *batchv1.Job {
	return &batchv1.Job{Status: batchv1.JobStatus{Active: 1, Conditions: conditions}}
}

func pod(phase corev1.PodPhase, change func(*corev1.PodStatus)) *corev1.Pod {
	p := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
	change(&p.Status)
	return p
}

func waiting(reason string) []corev1.ContainerStatus {
	return []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "why"}}}}
}

func custom(status map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "t", "generation": int64(2)}, "status": status,
	}}
}

func says(conditions ...string) []any { // "Ready=False"
	var list []any
	for _, c := range conditions {
		kind, status, _ := strings.Cut(c, "=")
		list = append(list, map[string]any{"type": kind, "status": status, "reason": "R", "message": "why"})
	}
	return list
}

// thing is an owner of Armature's.
type thing struct {
	corev1.ConfigMap
	conditions []metav1.Condition
}

func (t *thing) Conditions() *[]metav1.Condition { return &t.conditions }

// typed is a kind of someone's with a Go type.
type typed struct {
	corev1.ConfigMap
	Status struct {
		ObservedGeneration int64
		Conditions         []metav1.Condition
	}
}

func typedWith(observed int64, conditions ...metav1.Condition) *typed {
	t := &typed{}
	t.Generation, t.Status.ObservedGeneration, t.Status.Conditions = 2, observed, conditions
	return t
}

func TestReadiness(t *testing.T) {
	full := appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3}
	with := func(change func(*appsv1.DeploymentStatus)) *appsv1.Deployment {
		s := full
		change(&s)
		return deployment(s)
	}
	now := metav1.Now()
	cases := map[string]struct {
		obj  client.Object
		want state
		why  string
	}{
		"deployment":              {deployment(full), Ready, ""},
		"deployment fresh":        {deployment(appsv1.DeploymentStatus{}), InProgress, "generation 2 is not observed yet"},
		"deployment unobserved":   {with(func(s *appsv1.DeploymentStatus) { s.ObservedGeneration = 1 }), InProgress, "generation 2"},
		"deployment updating":     {with(func(s *appsv1.DeploymentStatus) { s.UpdatedReplicas = 1 }), InProgress, "1 of 3 replicas updated"},
		"deployment surplus":      {with(func(s *appsv1.DeploymentStatus) { s.Replicas = 4 }), InProgress, "1 surplus"},
		"deployment not ready":    {with(func(s *appsv1.DeploymentStatus) { s.ReadyReplicas = 2 }), InProgress, "2 of 3 replicas ready"},
		"deployment not yet long": {with(func(s *appsv1.DeploymentStatus) { s.AvailableReplicas = 2 }), InProgress, "2 of 3 replicas available"},
		"deployment stuck": {with(func(s *appsv1.DeploymentStatus) {
			s.Conditions = []appsv1.DeploymentCondition{{Type: "Progressing", Status: "False", Reason: "ProgressDeadlineExceeded", Message: "timed out"}}
		}), Failed, "ProgressDeadlineExceeded: timed out"},
		"deployment without quota": {with(func(s *appsv1.DeploymentStatus) {
			s.UpdatedReplicas = 0
			s.Conditions = []appsv1.DeploymentCondition{{Type: "ReplicaFailure", Status: "True", Reason: "FailedCreate", Message: "exceeded quota"}}
		}), InProgress, "exceeded quota"},
		"deployment of none": {&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](0)}}, Ready, ""},
		"deployment of one":  {&appsv1.Deployment{}, InProgress, "0 of 1"},
		"being deleted":      {&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}}, InProgress, "is being deleted"},

		"statefulset":               {statefulSet(func(*appsv1.StatefulSet) {}), Ready, ""},
		"statefulset unobserved":    {statefulSet(func(s *appsv1.StatefulSet) { s.Status.ObservedGeneration = 1 }), InProgress, "generation 2"},
		"statefulset growing":       {statefulSet(func(s *appsv1.StatefulSet) { s.Status.Replicas = 2 }), InProgress, "2 of 3 replicas"},
		"statefulset shrinking":     {statefulSet(func(s *appsv1.StatefulSet) { s.Status.Replicas = 4 }), InProgress, "1 surplus"},
		"statefulset not ready":     {statefulSet(func(s *appsv1.StatefulSet) { s.Status.ReadyReplicas = 2 }), InProgress, "2 of 3 replicas ready"},
		"statefulset not available": {statefulSet(func(s *appsv1.StatefulSet) { s.Status.AvailableReplicas = 2 }), InProgress, "available"},
		"statefulset updating": {statefulSet(func(s *appsv1.StatefulSet) {
			s.Status.CurrentRevision, s.Status.UpdatedReplicas = "a", 1
		}), InProgress, "1 of 3 replicas updated"},
		"statefulset on delete": {statefulSet(func(s *appsv1.StatefulSet) {
			s.Status.CurrentRevision, s.Spec.UpdateStrategy.Type = "a", appsv1.OnDeleteStatefulSetStrategyType
		}), Ready, ""},
		"statefulset partition reached": {statefulSet(func(s *appsv1.StatefulSet) {
			s.Status.CurrentRevision, s.Status.UpdatedReplicas = "a", 1
			s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](2)}
		}), Ready, ""},
		"statefulset partition not reached": {statefulSet(func(s *appsv1.StatefulSet) {
			s.Status.CurrentRevision, s.Status.UpdatedReplicas = "a", 1
			s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](1)}
		}), InProgress, "1 of 2 replicas updated"},
		"statefulset partition of none": {statefulSet(func(s *appsv1.StatefulSet) {
			s.Status.CurrentRevision = "a"
			s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](0)}
		}), InProgress, "updated"},

		"daemonset":            {daemonSet(func(*appsv1.DaemonSet) {}), Ready, ""},
		"daemonset fresh":      {&appsv1.DaemonSet{ObjectMeta: gen2}, InProgress, "generation 2"},
		"daemonset unobserved": {daemonSet(func(d *appsv1.DaemonSet) { d.Status.ObservedGeneration = 1 }), InProgress, "generation 2"},
		"daemonset scheduling": {daemonSet(func(d *appsv1.DaemonSet) { d.Status.CurrentNumberScheduled = 1 }), InProgress, "1 of 3 pods scheduled"},
		"daemonset updating":   {daemonSet(func(d *appsv1.DaemonSet) { d.Status.UpdatedNumberScheduled = 1 }), InProgress, "1 of 3 pods updated"},
		"daemonset not ready":  {daemonSet(func(d *appsv1.DaemonSet) { d.Status.NumberReady = 1 }), InProgress, "1 of 3 pods ready"},
		"daemonset no nodes":   {daemonSet(func(d *appsv1.DaemonSet) { d.Status = appsv1.DaemonSetStatus{ObservedGeneration: 2} }), Ready, ""},
		"daemonset on delete": {daemonSet(func(d *appsv1.DaemonSet) {
			d.Spec.UpdateStrategy.Type, d.Status.UpdatedNumberScheduled = appsv1.OnDeleteDaemonSetStrategyType, 0
		}), Ready, ""},

		"replicaset":           {&appsv1.ReplicaSet{Status: appsv1.ReplicaSetStatus{Replicas: 1, ReadyReplicas: 1, AvailableReplicas: 1}}, Ready, ""},
		"replicaset not ready": {&appsv1.ReplicaSet{Status: appsv1.ReplicaSetStatus{Replicas: 1}}, InProgress, "0 of 1 replicas ready"},

		"job running":                     {job(), InProgress, "is not complete: 0 succeeded, 1 active"},
		"job complete":                    {job(batchv1.JobCondition{Type: "Complete", Status: "True"}), Ready, ""},
		"job failed without a reason":     {job(batchv1.JobCondition{Type: "Failed", Status: "True"}), Failed, "it has failed, and doesn't say why"},
		"job failed with a message alone": {job(batchv1.JobCondition{Type: "Failed", Status: "True", Message: "m"}), Failed, "m"},
		"job failed with a reason alone":  {job(batchv1.JobCondition{Type: "Failed", Status: "True", Reason: "R"}), Failed, "R"},
		"job failed":                      {job(batchv1.JobCondition{Type: "Failed", Status: "True", Reason: "BackoffLimitExceeded", Message: "m"}), Failed, "BackoffLimitExceeded: m"},
		"job failing":                     {job(batchv1.JobCondition{Type: "FailureTarget", Status: "True", Reason: "PodFailurePolicy"}), Failed, "PodFailurePolicy"},
		"job suspended":                   {job(batchv1.JobCondition{Type: "Suspended", Status: "True"}), InProgress, "is suspended"},
		"job resumed":                     {job(batchv1.JobCondition{Type: "Suspended", Status: "False"}), InProgress, "is not complete"},

		"pod ready": {pod("Running", func(s *corev1.PodStatus) {
			s.Conditions = []corev1.PodCondition{{Type: "Ready", Status: "True"}}
		}), Ready, ""},
		"pod not ready": {pod("Running", func(s *corev1.PodStatus) {
			s.Conditions = []corev1.PodCondition{{Type: "Ready", Status: "False"}}
		}), InProgress, "phase Running, not ready"},
		"pod crashing":     {pod("Running", func(s *corev1.PodStatus) { s.ContainerStatuses = waiting("CrashLoopBackOff") }), Failed, "container main: CrashLoopBackOff why"},
		"pod init crashes": {pod("Pending", func(s *corev1.PodStatus) { s.InitContainerStatuses = waiting("CrashLoopBackOff") }), Failed, "CrashLoopBackOff"},
		"pod bad image":    {pod("Pending", func(s *corev1.PodStatus) { s.ContainerStatuses = waiting("ImagePullBackOff") }), InProgress, "ImagePullBackOff"},
		"pod unschedulable": {pod("Pending", func(s *corev1.PodStatus) {
			s.Conditions = []corev1.PodCondition{{Type: "PodScheduled", Status: "False", Reason: "Unschedulable", Message: "no node"}}
		}), InProgress, "not scheduled: Unschedulable no node"},
		"pod succeeded": {pod("Succeeded", func(*corev1.PodStatus) {}), Ready, ""},
		"pod failed":    {pod("Failed", func(s *corev1.PodStatus) { s.Reason = "Evicted" }), Failed, "Evicted"},
		"pod fresh":     {&corev1.Pod{}, InProgress, "not ready"},

		"claim bound":                  {&corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: "Bound"}}, Ready, ""},
		"claim pending":                {&corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: "Pending"}}, InProgress, "is not bound"},
		"claim unused":                 {claim("slow", "", nil), Ready, "nothing uses it"},
		"claim without a class":        {claim("", "", nil), InProgress, "is not bound"},
		"claim for a volume":           {claim("slow", "volume", nil), InProgress, "is not bound"},
		"claim of a pod with a node":   {claim("slow", "", map[string]string{annotationSelectedNode: "n"}), InProgress, "is not bound"},
		"claim that is provisioned":    {claim("slow", "", map[string]string{annotationProvisioner: "p"}), InProgress, "is not bound"},
		"claim that is provisioned, β": {claim("slow", "", map[string]string{annotationProvisionerBeta: "p"}), InProgress, "is not bound"},
		"claim lost":                   {&corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: "Lost"}}, Failed, "is lost"},

		"service":          {&corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.1"}}, Ready, ""},
		"service headless": {&corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: "None"}}, Ready, ""},
		"service fresh":    {&corev1.Service{}, InProgress, "has no cluster IP"},
		"service alias":    {&corev1.Service{Spec: corev1.ServiceSpec{Type: "ExternalName"}}, Ready, ""},
		"balancer":         {&corev1.Service{Spec: corev1.ServiceSpec{Type: "LoadBalancer", ClusterIP: "10.0.0.1"}}, InProgress, "no address"},
		"balancer address": {&corev1.Service{Spec: corev1.ServiceSpec{Type: "LoadBalancer", ClusterIP: "10.0.0.1"}, Status: corev1.ServiceStatus{
			LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "1.2.3.4"}}}}}, Ready, ""},

		"budget":       {&policyv1.PodDisruptionBudget{ObjectMeta: gen2, Status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 2}}, Ready, ""},
		"budget fresh": {&policyv1.PodDisruptionBudget{ObjectMeta: gen2}, InProgress, "generation 2"},

		"config map":      {&corev1.ConfigMap{}, Ready, ""},
		"service account": {&corev1.ServiceAccount{}, Ready, ""},

		"custom silent":         {custom(nil), Ready, ""},
		"custom ready":          {custom(map[string]any{"observedGeneration": int64(2), "conditions": says("Ready=True", "Stalled=False")}), Ready, ""},
		"custom unobserved":     {custom(map[string]any{"observedGeneration": int64(1), "conditions": says("Ready=True")}), InProgress, "generation 2"},
		"custom not ready":      {custom(map[string]any{"conditions": says("Ready=False")}), InProgress, "R: why"},
		"custom unknown":        {custom(map[string]any{"conditions": says("Ready=Unknown")}), InProgress, "R: why"},
		"custom reconciling":    {custom(map[string]any{"conditions": says("Ready=True", "Reconciling=True")}), InProgress, "R: why"},
		"custom stalled":        {custom(map[string]any{"conditions": says("Ready=False", "Stalled=True")}), Failed, "R: why"},
		"custom nonsense":       {custom(map[string]any{"conditions": "x", "observedGeneration": "y"}), Ready, ""},
		"custom by its ready":   {typedWith(0, metav1.Condition{Type: "Ready", Status: "True", ObservedGeneration: 1}), InProgress, "generation 2"},
		"typed ready":           {typedWith(2, metav1.Condition{Type: "Ready", Status: "True", ObservedGeneration: 2}), Ready, ""},
		"typed unobserved":      {typedWith(1), InProgress, "generation 2"},
		"typed stalled":         {typedWith(2, metav1.Condition{Type: "Stalled", Status: "True", Reason: "Broken"}), Failed, "Broken"},
		"armature's, fresh":     {&thing{}, InProgress, "has no conditions yet"},
		"armature's, ready":     {&thing{conditions: []metav1.Condition{{Type: "Ready", Status: "True"}}}, Ready, ""},
		"armature's, not ready": {&thing{conditions: []metav1.Condition{{Type: "Ready", Status: "False", Reason: "Waiting"}}}, InProgress, "Waiting"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := Of(c.obj)
			assert.Equal(t, c.want, stateOf(got), got.Message)
			assert.Contains(t, got.Message, c.why)
			assert.Equal(t, c.want == Ready && c.why == "", got.Message == "")
		})
	}
}

func TestWhatWasNotFoundIsNotReady(t *testing.T) {
	for _, obj := range []client.Object{nil, (*batchv1.Job)(nil), (*unstructured.Unstructured)(nil)} {
		assert.Equal(t, Status{Message: "does not exist"}, Of(obj))
	}
}

func TestUnstructuredIsJudgedAsItsGoType(t *testing.T) {
	d := deployment(appsv1.DeploymentStatus{ObservedGeneration: 2, UpdatedReplicas: 1})
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d)
	require.NoError(t, err)
	u := &unstructured.Unstructured{Object: fields}
	u.SetAPIVersion("apps/v1")
	u.SetKind("Deployment")
	assert.Equal(t, Of(d), Of(u))
	u.Object["status"] = "nonsense"
	assert.Equal(t, Ready, stateOf(Of(u)), "what can't be read says nothing")
}

func TestDefinitions(t *testing.T) {
	of := func(conditions ...string) Status {
		u := custom(map[string]any{"conditions": says(conditions...)})
		u.SetAPIVersion("apiextensions.k8s.io/v1")
		u.SetKind("CustomResourceDefinition")
		return Of(u)
	}
	assert.Equal(t, InProgress, stateOf(of()))
	assert.Equal(t, Ready, stateOf(of("NamesAccepted=True", "Established=True")))
	assert.Equal(t, Failed, stateOf(of("NamesAccepted=False")))
}

func TestWhyIsBounded(t *testing.T) {
	s := failed("%s", strings.Repeat("é\n", 1000))
	assert.LessOrEqual(t, len(s.Message), text.MaxMessage)
	assert.NotContains(t, s.Message, "\n")
}

func BenchmarkReadyDeployment(b *testing.B) {
	d := deployment(appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3})
	b.ReportAllocs()
	for b.Loop() {
		Of(d)
	}
}

// state is a status in one word.
type state string

const (
	Ready      state = "ready"
	InProgress state = "in progress"
	Failed     state = "failed"
)

func stateOf(s Status) state {
	switch {
	case s.Ready:
		return Ready
	case s.Failed:
		return Failed
	default:
		return InProgress
	}
}

// claim is a pending claim of a class.
func claim(class, volume string, annotations map[string]string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Annotations: annotations},
		Spec:       corev1.PersistentVolumeClaimSpec{StorageClassName: &class, VolumeName: volume},
		Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
}
