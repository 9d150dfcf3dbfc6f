package world

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deploymentController imitates the Deployment controller: a ReplicaSet for each template, both strategies, pauses, and the conditions
// Available, ReplicaFailure, and Progressing with its deadline. It keeps no revision numbers, deletes no old ReplicaSets, and doesn't
// scale in proportion: a Deployment that changes its size in the middle of a roll-out scales its new ReplicaSet, and one that is paused
// there keeps the sizes.
type deploymentController struct{}

func (deploymentController) Name() string { return "deployment-controller" }

var deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")

func (deploymentController) Changes(s *State) []Change {
	var changes []Change
	for _, d := range All[*appsv1.Deployment](s) {
		if d.DeletionTimestamp != nil {
			continue
		}
		if claims := claim[*appsv1.ReplicaSet](s, d, deploymentKind, d.Spec.Selector, nil); len(claims) > 0 {
			changes = append(changes, claims...)
		} else {
			changes = append(changes, newRollout(s, d).next()...)
		}
	}
	return changes
}

// rolloutSync is a Deployment with its ReplicaSets.
type rolloutSync struct {
	s        *State
	d        *appsv1.Deployment
	hash     string               // of the present template
	current  *appsv1.ReplicaSet   // of the present template; nil: missing
	old      []*appsv1.ReplicaSet // of former templates, the oldest first
	replicas int32
}

func newRollout(s *State, d *appsv1.Deployment) *rolloutSync {
	r := &rolloutSync{s: s, d: d, hash: hashOf(&d.Spec.Template), replicas: ptr.Deref(d.Spec.Replicas, 1)}
	if n := ptr.Deref(d.Status.CollisionCount, 0); n > 0 {
		r.hash = hashOf(&d.Spec.Template, n)
	}
	r.old = ownedBy[*appsv1.ReplicaSet](s, d)
	slices.SortStableFunc(r.old, func(a, b *appsv1.ReplicaSet) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	if i := slices.IndexFunc(r.old, r.isCurrent); i >= 0 {
		r.current = r.old[i]
		r.old = slices.Delete(r.old, i, i+1)
	}
	return r
}

// isCurrent reports whether a ReplicaSet has the Deployment's template. An adopted one may have any name.
func (r *rolloutSync) isCurrent(rs *appsv1.ReplicaSet) bool {
	theirs, ours := rs.Spec.Template, r.d.Spec.Template
	theirs.Labels, ours.Labels = withoutHash(theirs.Labels), withoutHash(ours.Labels)
	return equality.Semantic.DeepEqual(theirs, ours)
}

func withoutHash(labels map[string]string) map[string]string {
	labels = maps.Clone(labels)
	delete(labels, appsv1.DefaultDeploymentUniqueLabelKey)
	return labels
}

// hashOf returns the hash of a template that names its pods' revision. The numbers of collisions make it another one.
func hashOf(t *corev1.PodTemplateSpec, collisions ...int32) string {
	data, err := json.Marshal(t)
	if err != nil {
		panic(err) // a template always has a JSON form
	}
	for _, n := range collisions {
		data = binary.LittleEndian.AppendUint32(data, uint32(n))
	}
	h := fnv.New32a()
	_, _ = h.Write(data) // never fails
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
}

func (r *rolloutSync) next() []Change {
	if r.d.Spec.Paused {
		if active := r.activeOrLatest(); active != nil && ptr.Deref(active.Spec.Replicas, 1) != r.replicas {
			return []Change{resize(active, r.replicas)}
		}
		return r.writeStatus()
	}
	if r.recreates() && r.oldPods() > 0 {
		if changes := r.stopOld(); len(changes) > 0 {
			return changes
		}
		return r.writeStatus()
	}
	if r.current == nil {
		return r.createReplicaSet()
	}
	if size := r.newSize(); size != ptr.Deref(r.current.Spec.Replicas, 1) {
		return []Change{resize(r.current, size)}
	}
	if changes := r.scaleOldDown(); len(changes) > 0 {
		return changes
	}
	return r.writeStatus()
}

func (r *rolloutSync) recreates() bool {
	return r.d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
}

// activeOrLatest returns the only ReplicaSet with pods, or the newest if none has; nil if several have, or there is no ReplicaSet.
func (r *rolloutSync) activeOrLatest() *appsv1.ReplicaSet {
	all := r.old
	if r.current != nil {
		all = append(slices.Clone(r.old), r.current)
	}
	active := slices.DeleteFunc(slices.Clone(all), func(rs *appsv1.ReplicaSet) bool { return ptr.Deref(rs.Spec.Replicas, 1) == 0 })
	switch {
	case len(active) == 1:
		return active[0]
	case len(active) == 0 && len(all) > 0:
		return all[len(all)-1]
	default:
		return nil
	}
}

// createReplicaSet creates the new ReplicaSet. If its name is taken, it raises status.collisionCount, which gives it another name.
func (r *rolloutSync) createReplicaSet() []Change {
	set := r.newReplicaSet()
	if exists[*appsv1.ReplicaSet](r.s, client.ObjectKeyFromObject(set)) {
		return []Change{updateStatus(changed(r.d, func(o *appsv1.Deployment) {
			o.Status.CollisionCount = new(ptr.Deref(o.Status.CollisionCount, 0) + 1)
		}))}
	}
	return []Change{create(set)}
}

func (r *rolloutSync) newReplicaSet() *appsv1.ReplicaSet {
	template := r.d.Spec.Template.DeepCopy()
	setMap(&template.Labels, appsv1.DefaultDeploymentUniqueLabelKey, r.hash)
	selector := r.d.Spec.Selector.DeepCopy()
	setMap(&selector.MatchLabels, appsv1.DefaultDeploymentUniqueLabelKey, r.hash)
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.d.Namespace, Name: r.d.Name + "-" + r.hash, Labels: template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(r.d, deploymentKind)},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: new(r.newSize()), Selector: selector, Template: *template, MinReadySeconds: r.d.Spec.MinReadySeconds,
		},
	}
}

// newSize is the size of the new ReplicaSet: all replicas, or as many as maxSurge allows.
func (r *rolloutSync) newSize() int32 {
	if r.recreates() || len(r.old) == 0 {
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
	free := r.replicas + surge - present - r.total(r.old)
	return min(present+max(free, 0), r.replicas)
}

// limits returns maxSurge, rounded up, and maxUnavailable, rounded down, as numbers. Only RollingUpdate has them.
func (r *rolloutSync) limits() (surge, unavailable int32) {
	if r.recreates() || r.replicas == 0 {
		return 0, 0
	}
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
	return int32(up), min(int32(down), r.replicas)
}

// scaleOldDown shrinks old ReplicaSets as far as maxUnavailable allows: first by their pods that aren't available, which stand in the way
// of the roll-out, then by available ones. The oldest ReplicaSet shrinks first.
func (r *rolloutSync) scaleOldDown() []Change {
	_, unavailable := r.limits()
	least := r.replicas - unavailable
	surplus := r.total(r.old) + r.current.Status.AvailableReplicas - least
	available := r.current.Status.AvailableReplicas
	sizes := map[*appsv1.ReplicaSet]int32{}
	for _, rs := range r.old {
		size := ptr.Deref(rs.Spec.Replicas, 1)
		// Status lags behind a reduction. The ReplicaSet deletes its pods that aren't available first.
		healthy := min(rs.Status.AvailableReplicas, size)
		available += healthy
		by := min(size-healthy, max(surplus, 0))
		surplus -= by
		sizes[rs] = size - by
	}
	excess := min(surplus, available-least)
	var changes []Change
	for _, rs := range r.old {
		by := min(sizes[rs], max(excess, 0))
		excess -= by
		if size := sizes[rs] - by; size != ptr.Deref(rs.Spec.Replicas, 1) {
			changes = append(changes, resize(rs, size))
		}
	}
	return changes
}

// stopOld shrinks all old ReplicaSets to 0.
func (r *rolloutSync) stopOld() []Change {
	var changes []Change
	for _, rs := range r.old {
		if ptr.Deref(rs.Spec.Replicas, 1) > 0 {
			changes = append(changes, resize(rs, 0))
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
