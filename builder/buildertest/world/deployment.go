package world

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/ptr"
)

// deploymentController imitates the Deployment controller: a ReplicaSet for each template, both strategies, and the conditions Available
// and Progressing with its deadline. It keeps no revision numbers and deletes no old ReplicaSets.
type deploymentController struct{}

func (deploymentController) Name() string { return "deployment-controller" }

func (deploymentController) Changes(s *State) []Change {
	var changes []Change
	for _, d := range All[*appsv1.Deployment](s) {
		if d.DeletionTimestamp == nil {
			changes = append(changes, newRollout(s, d).next()...)
		}
	}
	return changes
}

// rolloutSync is a Deployment with its ReplicaSets.
type rolloutSync struct {
	s        *State
	d        *appsv1.Deployment
	name     string // of the new ReplicaSet
	hash     string
	current  *appsv1.ReplicaSet   // of the present template; nil: missing
	old      []*appsv1.ReplicaSet // of former templates
	replicas int32
}

func newRollout(s *State, d *appsv1.Deployment) *rolloutSync {
	r := &rolloutSync{s: s, d: d, hash: hashOf(&d.Spec.Template), replicas: ptr.Deref(d.Spec.Replicas, 1)}
	r.name = d.Name + "-" + r.hash
	for _, rs := range ownedBy[*appsv1.ReplicaSet](s, d) {
		if rs.Name == r.name {
			r.current = rs
		} else {
			r.old = append(r.old, rs)
		}
	}
	return r
}

// hashOf returns the hash of a template that names its pods' revision.
func hashOf(t *corev1.PodTemplateSpec) string {
	data, err := json.Marshal(t)
	if err != nil {
		panic(err) // a template always has a JSON form
	}
	h := fnv.New32a()
	_, _ = h.Write(data) // never fails
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
}

func (r *rolloutSync) next() []Change {
	recreates := r.d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
	if recreates && r.oldPods() > 0 {
		if changes := r.scaleDown(r.old, r.total(r.old)); len(changes) > 0 {
			return changes
		}
		return r.writeStatus()
	}
	if r.current == nil {
		return []Change{create(r.newReplicaSet())}
	}
	if size := r.newSize(recreates); size != ptr.Deref(r.current.Spec.Replicas, 1) {
		return []Change{resize(r.current, size)}
	}
	if changes := r.scaleOldDown(); len(changes) > 0 {
		return changes
	}
	return r.writeStatus()
}

func (r *rolloutSync) newReplicaSet() *appsv1.ReplicaSet {
	template := r.d.Spec.Template.DeepCopy()
	setMap(&template.Labels, appsv1.DefaultDeploymentUniqueLabelKey, r.hash)
	selector := r.d.Spec.Selector.DeepCopy()
	setMap(&selector.MatchLabels, appsv1.DefaultDeploymentUniqueLabelKey, r.hash)
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.d.Namespace, Name: r.name, Labels: template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(r.d, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: new(r.newSize(r.d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType)),
			Selector: selector, Template: *template, MinReadySeconds: r.d.Spec.MinReadySeconds,
		},
	}
}

// newSize is the size of the new ReplicaSet: all replicas, or as many as maxSurge leaves room for.
func (r *rolloutSync) newSize(recreates bool) int32 {
	if recreates || len(r.old) == 0 {
		return r.replicas
	}
	var present int32
	if r.current != nil {
		present = ptr.Deref(r.current.Spec.Replicas, 1)
	}
	if present >= r.replicas {
		return r.replicas
	}
	surge, _ := r.limits()
	room := r.replicas + surge - present - r.total(r.old)
	return min(present+max(room, 0), r.replicas)
}

// limits returns maxSurge and maxUnavailable as numbers.
func (r *rolloutSync) limits() (surge, unavailable int32) {
	rolling := ptr.Deref(r.d.Spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
	quarter := intstr.FromString("25%")
	up, err := intstr.GetScaledValueFromIntOrPercent(new(ptr.Deref(rolling.MaxSurge, quarter)), int(r.replicas), true)
	down, err2 := intstr.GetScaledValueFromIntOrPercent(new(ptr.Deref(rolling.MaxUnavailable, quarter)), int(r.replicas), false)
	if err != nil || err2 != nil {
		r.s.fail("Deployment %s/%s: spec.strategy.rollingUpdate: a number or a percentage is accepted", r.d.Namespace, r.d.Name)
	}
	if up == 0 && down == 0 {
		down = 1
	}
	return int32(up), int32(down)
}

// scaleOldDown shrinks old ReplicaSets as far as maxUnavailable allows, pods that aren't available first.
func (r *rolloutSync) scaleOldDown() []Change {
	_, unavailable := r.limits()
	least := r.replicas - unavailable
	size := ptr.Deref(r.current.Spec.Replicas, 1)
	surplus := r.total(r.old) + size - least - (size - r.current.Status.AvailableReplicas)
	if surplus <= 0 {
		return nil
	}
	available := r.current.Status.AvailableReplicas
	broken := r.total(r.old)
	for _, rs := range r.old {
		available += rs.Status.AvailableReplicas
		broken -= min(rs.Status.AvailableReplicas, ptr.Deref(rs.Spec.Replicas, 1))
	}
	return r.scaleDown(r.old, min(surplus, max(available-least, 0)+broken))
}

// scaleDown shrinks the ReplicaSets by n in all.
func (r *rolloutSync) scaleDown(sets []*appsv1.ReplicaSet, n int32) []Change {
	var changes []Change
	for _, rs := range sets {
		size := ptr.Deref(rs.Spec.Replicas, 1)
		if by := min(size, n); by > 0 {
			changes = append(changes, resize(rs, size-by))
			n -= by
		}
	}
	return changes
}

func resize(rs *appsv1.ReplicaSet, size int32) Change {
	return update(changed(rs, func(o *appsv1.ReplicaSet) { o.Spec.Replicas = &size }))
}

func (r *rolloutSync) total(sets []*appsv1.ReplicaSet) (n int32) {
	for _, rs := range sets {
		n += ptr.Deref(rs.Spec.Replicas, 1)
	}
	return n
}

// oldPods counts the pods of former templates, also those that still terminate.
func (r *rolloutSync) oldPods() int {
	n := 0
	for _, rs := range r.old {
		n += len(slices.DeleteFunc(ownedBy[*corev1.Pod](r.s, rs), isTerminal))
	}
	return n
}

func (r *rolloutSync) writeStatus() []Change {
	st := r.d.Status.DeepCopy()
	st.ObservedGeneration = r.d.Generation
	st.Replicas, st.ReadyReplicas, st.AvailableReplicas, st.UpdatedReplicas = 0, 0, 0, 0
	for _, rs := range r.old {
		addReplicas(st, rs)
	}
	if r.current != nil {
		st.UpdatedReplicas = r.current.Status.Replicas
		addReplicas(st, r.current)
	}
	st.UnavailableReplicas = max(r.replicas-st.AvailableReplicas, 0)
	r.setConditions(st)
	return statusChange(r.d, &r.d.Status, st, func(o *appsv1.Deployment) { o.Status = *st })
}

func addReplicas(st *appsv1.DeploymentStatus, rs *appsv1.ReplicaSet) {
	st.Replicas += rs.Status.Replicas
	st.ReadyReplicas += rs.Status.ReadyReplicas
	st.AvailableReplicas += rs.Status.AvailableReplicas
}

func (r *rolloutSync) setConditions(st *appsv1.DeploymentStatus) {
	_, unavailable := r.limits()
	if st.AvailableReplicas >= r.replicas-unavailable {
		r.setCondition(st, appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable", "Deployment has minimum availability.")
	} else {
		r.setCondition(st, appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable",
			"Deployment does not have minimum availability.")
	}
	if st.UpdatedReplicas == r.replicas && st.Replicas == r.replicas && st.AvailableReplicas == r.replicas {
		r.setCondition(st, appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetAvailable",
			fmt.Sprintf("ReplicaSet %q has successfully progressed.", r.name))
		return
	}
	before := progressOf(&r.d.Status)
	progressed := before == nil || before.Reason == "NewReplicaSetAvailable" || st.UpdatedReplicas > r.d.Status.UpdatedReplicas ||
		st.AvailableReplicas > r.d.Status.AvailableReplicas || st.Replicas-st.UpdatedReplicas < r.d.Status.Replicas-r.d.Status.UpdatedReplicas
	deadline := seconds(int64(ptr.Deref(r.d.Spec.ProgressDeadlineSeconds, 600)))
	switch {
	case progressed:
		r.setCondition(st, appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated",
			fmt.Sprintf("ReplicaSet %q is progressing.", r.name))
		progressOf(st).LastUpdateTime = r.s.now()
	case before.Reason == "ProgressDeadlineExceeded":
	case r.s.Due(before.LastUpdateTime.Add(deadline)):
		r.setCondition(st, appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded",
			fmt.Sprintf("ReplicaSet %q has timed out progressing.", r.name))
	}
}

func progressOf(st *appsv1.DeploymentStatus) *appsv1.DeploymentCondition {
	for i := range st.Conditions {
		if st.Conditions[i].Type == appsv1.DeploymentProgressing {
			return &st.Conditions[i]
		}
	}
	return nil
}

func (r *rolloutSync) setCondition(
	st *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType, is corev1.ConditionStatus, reason, message string,
) {
	now := r.s.now()
	c := appsv1.DeploymentCondition{
		Type: kind, Status: is, Reason: reason, Message: message, LastUpdateTime: now, LastTransitionTime: now,
	}
	for i, old := range st.Conditions {
		if old.Type != kind {
			continue
		}
		if old.Status == is {
			c.LastTransitionTime = old.LastTransitionTime
			if old.Reason == reason && old.Message == message {
				c.LastUpdateTime = old.LastUpdateTime
			}
		}
		st.Conditions[i] = c
		return
	}
	st.Conditions = append(st.Conditions, c)
}
