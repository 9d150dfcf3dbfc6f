package world

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// statefulSetController imitates the StatefulSet controller: pods with fixed names and claims, one after the other or (Parallel) all at
// once, and updates from the highest ordinal down to the partition. It creates no ControllerRevisions, and deletes no claims.
type statefulSetController struct{}

func (statefulSetController) Name() string { return "statefulset-controller" }

func (statefulSetController) Changes(s *State) []Change {
	var changes []Change
	for _, set := range All[*appsv1.StatefulSet](s) {
		if set.DeletionTimestamp == nil {
			changes = append(changes, newStatefulSync(s, set).next()...)
		}
	}
	return changes
}

// statefulSync is a StatefulSet with its pods.
type statefulSync struct {
	s        *State
	set      *appsv1.StatefulSet
	pods     map[int]*corev1.Pod // by ordinal
	first    int                 // ordinal
	size     int
	revision string
}

func newStatefulSync(s *State, set *appsv1.StatefulSet) *statefulSync {
	y := &statefulSync{
		s: s, set: set, pods: map[int]*corev1.Pod{}, size: int(ptr.Deref(set.Spec.Replicas, 1)),
		revision: set.Name + "-" + hashOf(&set.Spec.Template),
	}
	if set.Spec.Ordinals != nil {
		y.first = int(set.Spec.Ordinals.Start)
	}
	for _, pod := range ownedBy[*corev1.Pod](s, set) {
		if i, err := strconv.Atoi(pod.Name[len(set.Name)+1:]); err == nil {
			y.pods[i] = pod
		}
	}
	return y
}

func (y *statefulSync) next() []Change {
	for _, writes := range []func() []Change{y.grow, y.shrink, y.replace, y.writeStatus} {
		if changes := writes(); len(changes) > 0 {
			return changes
		}
	}
	return nil
}

func (y *statefulSync) isParallel() bool {
	return y.set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement
}

func (y *statefulSync) isHealthy(pod *corev1.Pod) bool {
	return pod != nil && pod.DeletionTimestamp == nil && isReady(pod) && isAvailable(y.s, pod, y.set.Spec.MinReadySeconds)
}

// grow creates missing pods in order, and deletes ended ones. Unless the set is parallel, it waits for each pod.
func (y *statefulSync) grow() []Change {
	var changes []Change
	for i := y.first; i < y.first+y.size; i++ {
		switch pod := y.pods[i]; {
		case pod == nil:
			changes = append(changes, y.newPod(i)...)
		case isTerminal(pod) && pod.DeletionTimestamp == nil:
			changes = append(changes, remove(pod))
		}
		if !y.isParallel() && (len(changes) > 0 || !y.isHealthy(y.pods[i])) {
			return changes
		}
	}
	return changes
}

// newPod returns the creations of a pod's missing claims, and then of the pod.
func (y *statefulSync) newPod(ordinal int) []Change {
	name := fmt.Sprintf("%s-%d", y.set.Name, ordinal)
	pod := podOf(&y.set.Spec.Template, y.set.Namespace, name)
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(y.set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	pod.Spec.Hostname, pod.Spec.Subdomain = name, y.set.Spec.ServiceName
	setMap(&pod.Labels, appsv1.StatefulSetPodNameLabel, name)
	setMap(&pod.Labels, appsv1.PodIndexLabel, strconv.Itoa(ordinal))
	setMap(&pod.Labels, appsv1.ControllerRevisionHashLabelKey, y.revisionFor(ordinal))
	var claims []Change
	present := All[*corev1.PersistentVolumeClaim](y.s)
	for _, template := range y.set.Spec.VolumeClaimTemplates {
		claim := template.DeepCopy()
		claim.Namespace, claim.Name = y.set.Namespace, template.Name+"-"+name
		claim.Labels = y.set.Spec.Selector.MatchLabels
		if !slices.ContainsFunc(present, func(c *corev1.PersistentVolumeClaim) bool {
			return c.Namespace == claim.Namespace && c.Name == claim.Name
		}) {
			claims = append(claims, Change{Verb: VerbCreate, Object: claim, set: y.set})
		}
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: template.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name},
		}})
	}
	if len(claims) > 0 {
		return claims
	}
	return []Change{create(pod)}
}

// revisionFor is the revision of a new pod: below the partition it is the current one.
func (y *statefulSync) revisionFor(ordinal int) string {
	if ordinal < y.partition() && y.set.Status.CurrentRevision != "" {
		return y.set.Status.CurrentRevision
	}
	return y.revision
}

func (y *statefulSync) partition() int {
	if rolling := y.set.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		return int(ptr.Deref(rolling.Partition, 0))
	}
	return 0
}

// shrink deletes the pods beyond the size, the highest first.
func (y *statefulSync) shrink() []Change {
	var changes []Change
	for _, i := range y.descending() {
		if i >= y.first && i < y.first+y.size {
			continue
		}
		if pod := y.pods[i]; pod.DeletionTimestamp == nil {
			changes = append(changes, remove(pod))
		}
		if !y.isParallel() {
			break
		}
	}
	return changes
}

func (y *statefulSync) descending() []int {
	var ordinals []int
	for i := range y.pods {
		ordinals = append(ordinals, i)
	}
	slices.Sort(ordinals)
	slices.Reverse(ordinals)
	return ordinals
}

// replace deletes one pod of a former revision at a time, from the highest ordinal down, while all pods above are healthy.
func (y *statefulSync) replace() []Change {
	if y.set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return nil
	}
	for _, i := range y.descending() {
		pod := y.pods[i]
		switch {
		case i < y.partition():
			return nil
		case pod.Labels[appsv1.ControllerRevisionHashLabelKey] != y.revision && pod.DeletionTimestamp == nil:
			return []Change{remove(pod)}
		case !y.isHealthy(pod):
			return nil
		}
	}
	return nil
}

func (y *statefulSync) writeStatus() []Change {
	st := y.set.Status.DeepCopy()
	st.ObservedGeneration, st.UpdateRevision = y.set.Generation, y.revision
	if st.CurrentRevision == "" {
		st.CurrentRevision = y.revision
	}
	st.CollisionCount = new(ptr.Deref(st.CollisionCount, 0))
	st.Replicas, st.ReadyReplicas, st.AvailableReplicas, st.CurrentReplicas, st.UpdatedReplicas = 0, 0, 0, 0, 0
	for _, pod := range y.pods {
		st.Replicas++
		if isReady(pod) && pod.DeletionTimestamp == nil {
			st.ReadyReplicas++
		}
		if y.isHealthy(pod) {
			st.AvailableReplicas++
		}
		if pod.DeletionTimestamp != nil {
			continue
		}
		if revision := pod.Labels[appsv1.ControllerRevisionHashLabelKey]; revision == y.revision {
			st.UpdatedReplicas++
		} else if revision == st.CurrentRevision {
			st.CurrentReplicas++
		}
	}
	if int(st.UpdatedReplicas) == y.size && int(st.ReadyReplicas) == y.size && int(st.Replicas) == y.size {
		st.CurrentRevision = y.revision
	}
	if st.CurrentRevision == y.revision {
		st.CurrentReplicas = st.UpdatedReplicas
	}
	return statusChange(y.set, &y.set.Status, st, func(o *appsv1.StatefulSet) { o.Status = *st })
}

// setOf returns the StatefulSet for which a claim was created; nil if there is none.
func setOf(s *State, claim *corev1.PersistentVolumeClaim) *appsv1.StatefulSet {
	for _, set := range All[*appsv1.StatefulSet](s) {
		for _, template := range set.Spec.VolumeClaimTemplates {
			number, found := strings.CutPrefix(claim.Name, template.Name+"-"+set.Name+"-")
			if _, err := strconv.Atoi(number); found && err == nil && claim.Namespace == set.Namespace {
				return set
			}
		}
	}
	return nil
}
