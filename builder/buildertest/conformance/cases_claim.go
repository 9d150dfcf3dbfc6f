package conformance

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deployment returns the Deployment web.
func (s *session) deployment(replicas int32) *appsv1.Deployment {
	template, selector := s.template("web")
	return &appsv1.Deployment{ObjectMeta: meta("web"), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: selector, Template: template,
	}}
}

// statefulSet returns the StatefulSet db.
func (s *session) statefulSet(replicas int32) *appsv1.StatefulSet {
	template, selector := s.template("db")
	return &appsv1.StatefulSet{ObjectMeta: meta("db"), Spec: appsv1.StatefulSetSpec{
		Replicas: &replicas, Selector: selector, Template: template, ServiceName: "db",
	}}
}

// isAvailable reports whether a Deployment has rolled out.
func isAvailable(o *appsv1.Deployment) bool {
	n := *o.Spec.Replicas
	return o.Status.ObservedGeneration == o.Generation && o.Status.UpdatedReplicas == n && o.Status.AvailableReplicas == n &&
		o.Status.Replicas == n
}

// isUpdated reports whether a StatefulSet has rolled out.
func isUpdated(o *appsv1.StatefulSet) bool {
	n := *o.Spec.Replicas
	return o.Status.ObservedGeneration == o.Generation && o.Status.UpdatedReplicas == n && o.Status.AvailableReplicas == n &&
		o.Status.Replicas == n && o.Status.CurrentRevision == o.Status.UpdateRevision
}

// rest gives the controllers time to do what they should not do: 100 polls of Await.
func (s *session) rest() {
	polls := 0
	s.target.Await(func() bool { polls++; return polls > 100 })
}

// orphans deletes an object without its dependents, and waits until it is gone.
func (s *session) orphans(name string, obj client.Object) {
	s.delete(name, obj, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	s.goes(name+": it goes", obj)
}

// replicaSet returns the only ReplicaSet of the namespace.
func (s *session) replicaSet() *appsv1.ReplicaSet {
	s.t.Helper()
	var sets appsv1.ReplicaSetList
	if err := s.client.List(s.ctx, &sets, client.InNamespace(s.namespace)); err != nil || len(sets.Items) != 1 {
		s.t.Fatalf("there are %d ReplicaSets (%v); one is expected", len(sets.Items), err)
	}
	return &sets.Items[0]
}

// workloadAdoption deletes workloads without their dependents. Their successors adopt them.
func workloadAdoption(s *session) {
	set := s.given(s.statefulSet(2)).(*appsv1.StatefulSet)
	awaits(s, "two pods", set, isUpdated)
	first := s.pod("db-0")
	s.orphans("orphan the pods of a StatefulSet", set)
	set = s.given(s.statefulSet(2)).(*appsv1.StatefulSet)
	s.showStatefulSet("they have a new one", awaits(s, "two pods", set, isUpdated))
	s.note("it is the same pod", s.pod("db-0").UID == first.UID && metav1.IsControlledBy(s.pod("db-0"), set))
	s.delete("delete the StatefulSet", set)

	d := s.given(s.deployment(2)).(*appsv1.Deployment)
	awaits(s, "two pods", d, isAvailable)
	before := s.replicaSet()
	s.orphans("orphan the ReplicaSet of a Deployment", d)
	d = s.given(s.deployment(2)).(*appsv1.Deployment)
	s.showDeployment("it has a new one", awaits(s, "two pods", d, isAvailable))
	s.note("it is the same ReplicaSet", s.replicaSet().UID == before.UID && metav1.IsControlledBy(s.replicaSet(), d))
	s.delete("delete the Deployment", d)
}

// workloadNames lets other objects have the names that workloads need.
func workloadNames(s *session) {
	pod := &corev1.Pod{ObjectMeta: meta("db-1"), Spec: corev1.PodSpec{
		Containers: []corev1.Container{s.runs("db-1", -1)}, TerminationGracePeriodSeconds: new(int64(1)),
	}}
	taken := s.given(pod).(*corev1.Pod)
	set := s.given(s.statefulSet(3)).(*appsv1.StatefulSet)
	set = awaits(s, "the first pod", set, func(o *appsv1.StatefulSet) bool { return o.Status.AvailableReplicas == 1 })
	s.rest()
	s.showStatefulSet("another pod has the name of the second one", set)
	third := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "db-2"}}
	s.note("there is no third pod", !s.exists(third))
	s.note("the other pod stays", metav1.GetControllerOf(s.pod(taken.Name)) == nil)
	s.delete("delete the StatefulSet", set)

	d := s.given(s.deployment(1)).(*appsv1.Deployment)
	awaits(s, "a pod", d, isAvailable)
	before := s.replicaSet()
	s.delete("delete the Deployment", d)
	s.goes("its ReplicaSet goes", before)
	template, selector := s.template("other")
	other := s.given(&appsv1.ReplicaSet{ObjectMeta: meta(before.Name), Spec: appsv1.ReplicaSetSpec{
		Replicas: new(int32), Selector: selector, Template: template,
	}})
	d = s.given(s.deployment(1)).(*appsv1.Deployment)
	d = awaits(s, "a pod", d, isAvailable)
	s.note("collisions", ptr.Deref(d.Status.CollisionCount, 0))
	s.note("the other ReplicaSet stays", s.exists(other))
	s.delete("delete the Deployment again", d)
}

// workloadBatches lets another pod have a name that a Parallel StatefulSet needs. The controller stops after the batch of that pod.
func workloadBatches(s *session) {
	taken := s.given(&corev1.Pod{ObjectMeta: meta("db-1"), Spec: corev1.PodSpec{
		Containers: []corev1.Container{s.runs("db-1", -1)}, TerminationGracePeriodSeconds: new(int64(1)),
	}})
	set := s.statefulSet(6)
	set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
	set = s.given(set).(*appsv1.StatefulSet)
	awaits(s, "the pods of the first batches", set, func(o *appsv1.StatefulSet) bool { return o.Status.AvailableReplicas == 2 })
	s.rest()
	s.note("another pod has the name of the second one", s.podsOf(set))
	s.note("the last pod of its batch exists", s.exists(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "db-2"}}))
	s.delete("free the name", taken)
	s.showStatefulSet("the name is free", awaits(s, "six pods", set, isUpdated))
	s.delete("delete the StatefulSet", set)
}

// daemonSetAdoption lets a DaemonSet adopt a pod that the scheduler doesn't bind yet.
func daemonSetAdoption(s *session) {
	template, selector := s.template("agent")
	template.Spec.NodeSelector = map[string]string{corev1.LabelHostname: Nodes[1]}
	set := s.given(&appsv1.DaemonSet{ObjectMeta: meta("agent"), Spec: appsv1.DaemonSetSpec{
		Selector: selector, Template: template,
	}}).(*appsv1.DaemonSet)
	runs := func(o *appsv1.DaemonSet) bool { return o.Status.NumberAvailable == 1 }
	awaits(s, "a pod", set, runs)
	gated := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "agent-gated", Labels: template.Labels}, Spec: template.Spec}
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
	gated = s.given(gated).(*corev1.Pod)
	awaits(s, "adoption", gated, func(o *corev1.Pod) bool { return metav1.IsControlledBy(o, set) })
	s.rest()
	s.note("the adopted pod stays", s.exists(gated))
	s.showDaemonSet("an adopted pod without a node", awaits(s, "a pod", set, runs))
	s.change(gated, `{"spec":{"schedulingGates":null}}`)
	s.goes("it goes once it is bound to the node of an older pod", gated)
	s.showDaemonSet("one pod", awaits(s, "a pod", set, runs))
	s.delete("delete", set)
}
