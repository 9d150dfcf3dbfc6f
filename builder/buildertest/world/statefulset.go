package world

import (
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest/internal/statefulset"
)

// statefulSetController imitates the StatefulSet controller: pods with fixed names and claims, one after the other or (Parallel) all at
// once, and updates from the highest ordinal down to the partition, as many at a time as maxUnavailable allows. An OrderedReady set waits
// for a pod that doesn't become ready, also if its template is repaired: someone has to delete that pod. It deletes no claims. It creates
// no ControllerRevisions, so it can't create a pod of a former revision below the partition: that is an error of the world.
type statefulSetController struct{}

func (statefulSetController) Name() string { return "statefulset-controller" }

var statefulSetKind = appsv1.SchemeGroupVersion.WithKind("StatefulSet")

func (statefulSetController) Changes(s *State) []Change {
	var changes []Change
	for _, set := range All[*appsv1.StatefulSet](s) {
		if set.DeletionTimestamp != nil {
			continue
		}
		isMember := func(pod *corev1.Pod) bool { return statefulset.OrdinalOf(set.Name, pod.Name) >= 0 }
		if claims := claim(s, set, statefulSetKind, set.Spec.Selector, isMember); len(claims) > 0 {
			changes = append(changes, claims...)
		} else {
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
		if i := statefulset.OrdinalOf(set.Name, pod.Name); i >= 0 {
			y.pods[i] = pod
		}
	}
	return y
}

// next returns the writes of the first stage that has any. A stage that waits for a pod ends the sync, but for the status.
func (y *statefulSync) next() []Change {
	for _, stage := range []func() (writes []Change, waits bool){y.grow, y.shrink, y.replace} {
		changes, waits := stage()
		if len(changes) > 0 {
			return changes
		}
		if waits {
			break
		}
	}
	return y.writeStatus()
}

func (y *statefulSync) isParallel() bool {
	return y.set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement
}

func (y *statefulSync) isHealthy(pod *corev1.Pod) bool {
	return pod != nil && pod.DeletionTimestamp == nil && isReady(pod) && isAvailable(y.s, pod, y.set.Spec.MinReadySeconds)
}

// grow creates missing pods, and deletes ended ones: in order, and then it waits for each pod; or, if the set is parallel, in batches.
func (y *statefulSync) grow() (changes []Change, waits bool) {
	if y.isParallel() {
		return y.growInBatches()
	}
	for i := y.first; i < y.first+y.size; i++ {
		changes, _ = y.growOne(i)
		if len(changes) > 0 || !y.isHealthy(y.pods[i]) {
			return changes, true
		}
	}
	return nil, false
}

// growInBatches grows by batches of 1, 2, 4 and so on pods, whether they exist or not. An error ends the sync after its batch.
func (y *statefulSync) growInBatches() (changes []Change, waits bool) {
	const maxBatch = 500
	for from, size := 0, 1; from < y.size; from, size = from+size, min(2*size, maxBatch) {
		failed := false
		for i := from; i < min(from+size, y.size); i++ {
			more, refused := y.growOne(y.first + i)
			changes = append(changes, more...)
			failed = failed || refused
		}
		if failed {
			return changes, true
		}
	}
	return changes, false
}

// growOne creates the pod of an ordinal, or deletes it if it has ended. refused reports whether the pod must wait, because the API server
// refuses it or a claim of it terminates.
func (y *statefulSync) growOne(ordinal int) (changes []Change, refused bool) {
	switch pod := y.pods[ordinal]; {
	case pod == nil:
		return y.newPod(ordinal)
	case isTerminal(pod) && pod.DeletionTimestamp == nil:
		return []Change{remove(pod)}, false
	case pod.Status.Phase == corev1.PodPending: // someone may have deleted a claim
		return y.missingClaims(pod.Name)
	default:
		return nil, false
	}
}

// newPod returns the creations of a pod's missing claims, and then of the pod; none while a claim terminates, another object has the pod's
// name, or a quota is too small, because then each try of the real controller fails.
func (y *statefulSync) newPod(ordinal int) (changes []Change, refused bool) {
	name := fmt.Sprintf("%s-%d", y.set.Name, ordinal)
	pod := podOf(&y.set.Spec.Template, y.set.Namespace, name)
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(y.set, statefulSetKind)}
	pod.Spec.Hostname, pod.Spec.Subdomain = name, y.set.Spec.ServiceName
	setMap(&pod.Labels, appsv1.StatefulSetPodNameLabel, name)
	setMap(&pod.Labels, appsv1.PodIndexLabel, strconv.Itoa(ordinal))
	setMap(&pod.Labels, appsv1.ControllerRevisionHashLabelKey, y.revision)
	y.checkPartition(name, ordinal)
	claims, terminating := y.missingClaims(name)
	for _, template := range y.set.Spec.VolumeClaimTemplates {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: template.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: template.Name + "-" + name},
		}})
	}
	creation, _ := withinQuota(y.s, []Change{create(pod)})
	if refused = terminating || len(creation) == 0 || exists[*corev1.Pod](y.s, client.ObjectKeyFromObject(pod)); len(claims) > 0 || refused {
		return claims, refused
	}
	return creation, false
}

// missingClaims returns the creations of a pod's missing claims, and reports whether one that exists terminates.
func (y *statefulSync) missingClaims(pod string) (missing []Change, terminating bool) {
	present := All[*corev1.PersistentVolumeClaim](y.s)
	for _, template := range y.set.Spec.VolumeClaimTemplates {
		claim := template.DeepCopy()
		claim.Namespace, claim.Name = y.set.Namespace, template.Name+"-"+pod
		for key, value := range y.set.Spec.Selector.MatchLabels {
			setMap(&claim.Labels, key, value)
		}
		at := slices.IndexFunc(present, func(c *corev1.PersistentVolumeClaim) bool {
			return c.Namespace == claim.Namespace && c.Name == claim.Name
		})
		if at < 0 {
			missing = append(missing, Change{Verb: VerbCreate, Object: claim, owner: metav1.NewControllerRef(y.set, statefulSetKind)})
		} else if present[at].DeletionTimestamp != nil {
			terminating = true
		}
	}
	return missing, terminating
}

// checkPartition records an error if a new pod needs the template of a former revision: below the partition the real controller creates
// pods of the current revision, from a ControllerRevision, which the world doesn't have.
func (y *statefulSync) checkPartition(pod string, ordinal int) {
	current := y.set.Status.CurrentRevision
	if ordinal < y.first+y.partition() && current != "" && current != y.revision {
		y.s.fail("StatefulSet %s/%s: pod %s is missing, is below spec.updateStrategy.rollingUpdate.partition %d, and needs the template of "+
			"revision %s; the world can create pods of the present template only, revision %s",
			y.set.Namespace, y.set.Name, pod, y.partition(), current, y.revision)
	}
}

func (y *statefulSync) partition() int {
	if rolling := y.set.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		return int(ptr.Deref(rolling.Partition, 0))
	}
	return 0
}

// shrink deletes the pods beyond the size, the highest first. Unless the set is parallel, it waits for each pod to end, and deletes a pod
// that isn't healthy only when all lower ones are.
func (y *statefulSync) shrink() (changes []Change, waits bool) {
	var surplus []*corev1.Pod // the highest first
	for _, i := range y.descending() {
		if i < y.first || i >= y.first+y.size {
			surplus = append(surplus, y.pods[i])
		}
	}
	isLowest := func(pod *corev1.Pod) bool { // of those that aren't healthy
		for _, p := range slices.Backward(surplus) {
			if !y.isHealthy(p) {
				return p == pod
			}
		}
		return false
	}
	for _, pod := range surplus {
		isTerminating := pod.DeletionTimestamp != nil
		if !y.isParallel() && (isTerminating || !y.isHealthy(pod) && !isLowest(pod)) {
			return nil, true
		}
		if !isTerminating {
			changes = append(changes, remove(pod))
		}
		if !y.isParallel() {
			break
		}
	}
	return changes, len(surplus) > 0 && !y.isParallel()
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

// replace deletes pods of a former revision, from the highest ordinal down to the partition, while fewer than maxUnavailable pods aren't
// available. A parallel set first deletes those that aren't available anyway.
func (y *statefulSync) replace() (changes []Change, waits bool) {
	if y.set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return nil, false
	}
	allowed := y.maxUnavailable()
	var outdated []*corev1.Pod // the highest first
	for i := y.first + y.size - 1; i >= y.first; i-- {
		pod := y.pods[i]
		if !y.isHealthy(pod) {
			allowed--
		}
		isOutdated := pod != nil && pod.DeletionTimestamp == nil && pod.Labels[appsv1.ControllerRevisionHashLabelKey] != y.revision
		if isOutdated && i >= y.first+y.partition() {
			outdated = append(outdated, pod)
		}
	}
	for _, pod := range outdated {
		isFree := y.isParallel() && !y.isHealthy(pod)
		if !isFree && allowed <= 0 {
			continue
		}
		if !isFree {
			allowed--
		}
		changes = append(changes, remove(pod))
	}
	return changes, false
}

// maxUnavailable is how many pods an update may make unavailable: rounded down, at least 1.
func (y *statefulSync) maxUnavailable() int {
	rolling := ptr.Deref(y.set.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	n, err := intstr.GetScaledValueFromIntOrPercent(new(ptr.Deref(rolling.MaxUnavailable, intstr.FromInt32(1))), y.size, false)
	if err != nil {
		y.s.fail("StatefulSet %s/%s: spec.updateStrategy.rollingUpdate.maxUnavailable: %w", y.set.Namespace, y.set.Name, err)
	}
	return max(n, 1)
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
		if isReady(pod) { // also while it terminates (computeReplicaStatus)
			st.ReadyReplicas++
			if isAvailable(y.s, pod, y.set.Spec.MinReadySeconds) {
				st.AvailableReplicas++
			}
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

// setOf returns a reference to the StatefulSet for which a claim was created; nil if there is none.
func setOf(s *State, claim *corev1.PersistentVolumeClaim) *metav1.OwnerReference {
	for _, set := range All[*appsv1.StatefulSet](s) {
		if statefulset.IsClaim(set, claim) {
			return metav1.NewControllerRef(set, statefulSetKind)
		}
	}
	return nil
}
