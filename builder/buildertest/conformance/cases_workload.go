package conformance

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// template returns a template of pods that run until they are stopped.
func (s *session) template(name string) (corev1.PodTemplateSpec, *metav1.LabelSelector) {
	labels := map[string]string{"app": name}
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{s.runs(name+"-*", -1)}, TerminationGracePeriodSeconds: new(int64(1))},
	}, &metav1.LabelSelector{MatchLabels: labels}
}

func deploymentReadiness(s *session) {
	template, selector := s.template("web")
	d := s.given(&appsv1.Deployment{ObjectMeta: meta("web"), Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(2)), Selector: selector, Template: template,
	}}).(*appsv1.Deployment)
	isDone := func(o *appsv1.Deployment) bool {
		return o.Status.ObservedGeneration == o.Generation && o.Status.UpdatedReplicas == 2 && o.Status.AvailableReplicas == 2 &&
			o.Status.Replicas == 2
	}
	s.showDeployment("ready", awaits(s, "two available pods", d, isDone))
	s.change(d, `{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`)
	s.showDeployment("updated", awaits(s, "two updated pods", d, isDone))
	s.change(d, `{"spec":{"replicas":0}}`)
	awaits(s, "no pods", d, func(o *appsv1.Deployment) bool { return o.Status.Replicas == 0 })
	s.delete("delete", d)
}

func (s *session) showDeployment(name string, d *appsv1.Deployment) {
	var conditions []string
	for _, c := range d.Status.Conditions {
		conditions = append(conditions, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	slices.Sort(conditions)
	var sets appsv1.ReplicaSetList
	if err := s.client.List(s.ctx, &sets, client.InNamespace(s.namespace)); err != nil {
		s.t.Fatal(err)
	}
	var sizes []int32
	for i := range sets.Items {
		sizes = append(sizes, *sets.Items[i].Spec.Replicas)
	}
	slices.Sort(sizes)
	s.note(name, map[string]any{"ready": d.Status.ReadyReplicas, "unavailable": d.Status.UnavailableReplicas, "conditions": conditions,
		"sizes of ReplicaSets": sizes})
}

// change merges a patch into an object, without a record.
func (s *session) change(obj client.Object, patch string) {
	s.t.Helper()
	if err := s.client.Patch(s.ctx, copyOf(obj), client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		s.t.Fatal(err)
	}
}

func statefulSetOrder(s *session) {
	template, selector := s.template("db")
	set := &appsv1.StatefulSet{ObjectMeta: meta("db"), Spec: appsv1.StatefulSetSpec{
		Replicas: new(int32(2)), Selector: selector, Template: template, ServiceName: "db",
	}}
	set = s.given(set).(*appsv1.StatefulSet)
	has := func(n int32) func(*appsv1.StatefulSet) bool {
		return func(o *appsv1.StatefulSet) bool {
			return o.Status.ObservedGeneration == o.Generation && o.Status.ReadyReplicas == n && o.Status.Replicas == n &&
				o.Status.UpdatedReplicas == n && o.Status.AvailableReplicas == n && o.Status.CurrentRevision == o.Status.UpdateRevision
		}
	}
	s.showStatefulSet("ready", awaits(s, "two ready pods", set, has(2)))
	first, second := s.pod("db-0"), s.pod("db-1")
	s.note("the second pod came when the first was ready", !second.CreationTimestamp.Time.Before(readySince(first).Time))
	s.note("labels", []string{first.Labels[appsv1.StatefulSetPodNameLabel], second.Labels[appsv1.PodIndexLabel], first.Spec.Hostname,
		first.Spec.Subdomain})
	s.change(set, `{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`)
	s.showStatefulSet("updated", awaits(s, "two updated pods", set, has(2)))
	s.note("the highest ordinal was replaced first", !s.pod("db-0").CreationTimestamp.Time.Before(s.pod("db-1").CreationTimestamp.Time))
	s.change(set, `{"spec":{"replicas":1}}`)
	s.showStatefulSet("scaled down", awaits(s, "one pod", set, has(1)))
	s.note("the lowest ordinal stays", s.exists(first))
	s.delete("delete", set)
}

func (s *session) showStatefulSet(name string, o *appsv1.StatefulSet) {
	s.note(name, map[string]any{
		"current": o.Status.CurrentReplicas, "updated": o.Status.UpdatedReplicas, "available": o.Status.AvailableReplicas,
	})
}

func (s *session) pod(name string) *corev1.Pod {
	s.t.Helper()
	pod := &corev1.Pod{}
	if err := s.client.Get(s.ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, pod); err != nil {
		s.t.Fatal(err)
	}
	return pod
}

func daemonSetNodes(s *session) {
	s.changeNode(Nodes[1], `{"spec":{"unschedulable":true}}`)
	s.changeNode(Nodes[2], `{"spec":{"taints":[{"key":"conformance","value":"v","effect":"NoSchedule"}]}}`)
	template, selector := s.template("agent")
	set := s.given(&appsv1.DaemonSet{ObjectMeta: meta("agent"), Spec: appsv1.DaemonSetSpec{
		Selector: selector, Template: template,
	}}).(*appsv1.DaemonSet)
	has := func(n int32) func(*appsv1.DaemonSet) bool {
		return func(o *appsv1.DaemonSet) bool {
			return o.Status.DesiredNumberScheduled == n && o.Status.NumberAvailable == n
		}
	}
	s.showDaemonSet("a cordoned and a tainted node", awaits(s, "a pod on each node without a taint", set, has(2)))
	s.changeNode(Nodes[2], `{"spec":{"taints":null}}`)
	s.showDaemonSet("the taint goes", awaits(s, "a pod on each node", set, has(3)))
	s.changeNode(Nodes[1], `{"spec":{"unschedulable":false}}`)
	s.delete("delete", set)
}

func (s *session) changeNode(name, patch string) {
	s.t.Helper()
	s.change(&corev1.Node{ObjectMeta: meta(name)}, patch)
	s.t.Cleanup(func() {
		node := &corev1.Node{ObjectMeta: meta(name)}
		_ = s.client.Patch(s.ctx, node, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"unschedulable":null,"taints":null}}`)))
	})
}

func (s *session) showDaemonSet(name string, o *appsv1.DaemonSet) {
	var pods corev1.PodList
	if err := s.client.List(s.ctx, &pods, client.InNamespace(s.namespace)); err != nil {
		s.t.Fatal(err)
	}
	var nodes []string
	for i := range pods.Items {
		nodes = append(nodes, pods.Items[i].Spec.NodeName)
	}
	slices.Sort(nodes)
	s.note(name, map[string]any{
		"nodes": nodes, "current": o.Status.CurrentNumberScheduled, "ready": o.Status.NumberReady,
		"unavailable": o.Status.NumberUnavailable, "misscheduled": o.Status.NumberMisscheduled, "updated": o.Status.UpdatedNumberScheduled,
	})
}

// schedulerNodes binds pods to the nodes that they select, tolerate and fit on.
func schedulerNodes(s *session) {
	s.changeNode(Nodes[1], `{"spec":{"unschedulable":true}}`)
	s.changeNode(Nodes[2], `{"spec":{"taints":[{"key":"conformance","value":"v","effect":"NoSchedule"}]}}`)
	plain := func(name string, change func(*corev1.PodSpec)) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: meta(name), Spec: corev1.PodSpec{
			Containers: []corev1.Container{s.runs(name, -1)}, TerminationGracePeriodSeconds: new(int64(1)),
		}}
		change(&pod.Spec)
		return s.given(pod).(*corev1.Pod)
	}
	on := func(name string) func(*corev1.PodSpec) {
		return func(o *corev1.PodSpec) { o.NodeSelector = map[string]string{corev1.LabelHostname: name} }
	}
	isRunning := func(o *corev1.Pod) bool { return o.Status.Phase == corev1.PodRunning }
	anywhere := plain("anywhere", func(*corev1.PodSpec) {})
	s.note("anywhere", awaits(s, "a node", anywhere, isRunning).Spec.NodeName)
	tolerant := plain("tolerant", func(o *corev1.PodSpec) {
		on(Nodes[2])(o)
		o.Tolerations = []corev1.Toleration{{Key: "conformance", Operator: corev1.TolerationOpExists}}
	})
	s.note("tolerant", awaits(s, "a node", tolerant, isRunning).Spec.NodeName)
	unscheduled := func(o *corev1.Pod) bool {
		return slices.ContainsFunc(o.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
		})
	}
	for name, change := range map[string]func(*corev1.PodSpec){
		"too-large": func(o *corev1.PodSpec) {
			o.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100k")}
		},
		"on-cordoned": on(Nodes[1]), "on-tainted": on(Nodes[2]), "on-missing": on("missing"),
	} {
		awaits(s, "Unschedulable", plain(name, change), unscheduled)
	}
	s.note("others are unschedulable", true)
	s.changeNode(Nodes[1], `{"spec":{"unschedulable":false}}`)
	cordoned := s.pod("on-cordoned")
	s.note("uncordoned", awaits(s, "a node", cordoned, isRunning).Spec.NodeName)
}

// readySince is when a pod became ready.
func readySince(pod *corev1.Pod) (since metav1.Time) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			since = c.LastTransitionTime
		}
	}
	return since
}
