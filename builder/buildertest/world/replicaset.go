package world

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// replicaSetController imitates the ReplicaSet controller: it creates and deletes pods, counts the ready ones, and says in the condition
// ReplicaFailure that a quota refuses one.
type replicaSetController struct{}

func (replicaSetController) Name() string { return "replicaset-controller" }

var replicaSetKind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")

func (replicaSetController) Changes(s *State) []Change {
	var changes []Change
	isMember := func(pod *corev1.Pod) bool { return !isTerminal(pod) || metav1.GetControllerOfNoCopy(pod) != nil } // it adopts no ended pod
	for _, rs := range All[*appsv1.ReplicaSet](s) {
		if claims := claim(s, rs, replicaSetKind, rs.Spec.Selector, isMember); len(claims) > 0 {
			changes = append(changes, claims...)
		} else {
			changes = append(changes, syncReplicaSet(s, rs)...)
		}
	}
	return changes
}

func syncReplicaSet(s *State, rs *appsv1.ReplicaSet) []Change {
	pods := ownedBy[*corev1.Pod](s, rs)
	active := slices.DeleteFunc(slices.Clone(pods), isInactive)
	var changes []Change
	if rs.DeletionTimestamp == nil {
		last := s.lastNumber(rs.Namespace, rs.Name+"-", 0)
		for missing := int(ptr.Deref(rs.Spec.Replicas, 1)) - len(active); len(changes) < missing; {
			pod := podOf(&rs.Spec.Template, rs.Namespace, fmt.Sprintf("%s-%d", rs.Name, last+len(changes)+1))
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(rs, replicaSetKind)}
			changes = append(changes, create(pod))
		}
		for _, pod := range surplusPods(active, int(ptr.Deref(rs.Spec.Replicas, 1))) {
			changes = append(changes, remove(pod))
		}
	}
	changes, refusal := withinQuota(s, changes)
	if len(changes) > 0 {
		return changes
	}
	status := rs.Status.DeepCopy()
	ready, available := countReady(s, active, rs.Spec.MinReadySeconds)
	status.Replicas, status.FullyLabeledReplicas = int32(len(active)), int32(len(active))
	status.ReadyReplicas, status.AvailableReplicas, status.ObservedGeneration = ready, available, rs.Generation
	setReplicaFailure(s, status, refusal)
	return statusChange(rs, &rs.Status, status, func(o *appsv1.ReplicaSet) { o.Status = *status })
}

// setReplicaFailure sets the condition ReplicaFailure while a pod is refused. It keeps the message of the first refusal.
func setReplicaFailure(s *State, st *appsv1.ReplicaSetStatus, refusal string) {
	at := slices.IndexFunc(st.Conditions, func(c appsv1.ReplicaSetCondition) bool { return c.Type == appsv1.ReplicaSetReplicaFailure })
	switch {
	case refusal != "" && at < 0:
		st.Conditions = append(st.Conditions, appsv1.ReplicaSetCondition{
			Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: refusal,
			LastTransitionTime: s.now(),
		})
	case refusal == "" && at >= 0:
		st.Conditions = slices.Delete(st.Conditions, at, at+1)
	}
}

// statusChange returns the write of a status that differs.
func statusChange[T client.Object, S any](obj T, old, status *S, set func(T)) []Change {
	if equality.Semantic.DeepEqual(old, status) {
		return nil
	}
	return []Change{updateStatus(changed(obj, set))}
}

func isInactive(pod *corev1.Pod) bool { return isTerminal(pod) || pod.DeletionTimestamp != nil }

// surplusPods returns the pods beyond a number: pending ones first, then those that aren't ready, then the newest.
func surplusPods(active []*corev1.Pod, n int) []*corev1.Pod {
	rank := func(pod *corev1.Pod) int {
		switch {
		case pod.Spec.NodeName == "":
			return 0
		case !isReady(pod):
			return 1
		default:
			return 2
		}
	}
	if len(active) <= n {
		return nil
	}
	sorted := slices.Clone(active)
	slices.SortStableFunc(sorted, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), b.CreationTimestamp.Compare(a.CreationTimestamp.Time))
	})
	return sorted[:len(sorted)-n]
}

// countReady counts the ready pods, and those that have been so for minReadySeconds.
func countReady(s *State, pods []*corev1.Pod, minReadySeconds int32) (ready, available int32) {
	for _, pod := range pods {
		if !isReady(pod) {
			continue
		}
		ready++
		if isAvailable(s, pod, minReadySeconds) {
			available++
		}
	}
	return ready, available
}

func isAvailable(s *State, pod *corev1.Pod, minReadySeconds int32) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return s.Due(c.LastTransitionTime.Add(seconds(int64(minReadySeconds))))
		}
	}
	return false
}
