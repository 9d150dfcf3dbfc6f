package buildertest

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest/internal/defaults"
	"github.com/armature-dev/armature/builder/buildertest/internal/rules"
)

// contention is what an exploration has learned about the pods and the ResourceQuotas of a namespace, in all states. Quotas with room for
// all these pods and the largest one again, as if none ended, refuse none in any order if each pod specifies what they limit.
type contention struct {
	limits  corev1.ResourceList          // the smallest ones of all quotas
	used    corev1.ResourceList          // by all pods
	largest corev1.ResourceList          // use of a pod, also one that a workload couldn't create so far
	lacking map[corev1.ResourceName]bool // resources that a pod doesn't specify, though it must under a quota of them
	pods    map[types.UID]bool
}

// podSpecOf returns the spec of a pod, or of the pods of a workload; nil for other objects.
func podSpecOf(obj client.Object) *corev1.PodSpec {
	switch o := obj.(type) {
	case *corev1.Pod:
		return &o.Spec
	case *appsv1.Deployment:
		return &o.Spec.Template.Spec
	case *appsv1.ReplicaSet:
		return &o.Spec.Template.Spec
	case *appsv1.StatefulSet:
		return &o.Spec.Template.Spec
	case *appsv1.DaemonSet:
		return &o.Spec.Template.Spec
	case *batchv1.Job:
		return &o.Spec.Template.Spec
	}
	return nil
}

// learnContention records a pod, a workload or a quota. The first such change after which a quota may refuse a pod makes the namespace a
// contended one.
func (e *exploration) learnContention(obj client.Object) {
	quota, isQuota := obj.(*corev1.ResourceQuota)
	spec := podSpecOf(obj)
	if !isQuota && spec == nil {
		return
	}
	namespace := obj.GetNamespace()
	c := e.contention[namespace]
	if c == nil {
		c = &contention{
			corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}, map[corev1.ResourceName]bool{}, map[types.UID]bool{},
		}
		e.contention[namespace] = c
	}
	if isQuota {
		for name, limit := range quota.Spec.Hard {
			if old, found := c.limits[name]; !found || limit.Cmp(old) < 0 {
				c.limits[name] = limit
			}
		}
	} else {
		c.add(obj, spec)
	}
	if c.mayRefuse() {
		e.contended[namespace] = true
	}
}

// add records a pod, or the template of a workload.
func (c *contention) add(obj client.Object, spec *corev1.PodSpec) {
	pod := &corev1.Pod{Spec: *spec.DeepCopy()}
	defaults.Set(pod)
	_, isPod := obj.(*corev1.Pod)
	isNew := isPod && !c.pods[obj.GetUID()]
	for name, n := range rules.UsageOf(pod, time.Time{}) {
		if n.Cmp(c.largest[name]) > 0 {
			c.largest[name] = n
		}
		if isNew {
			c.used[name] = sum(c.used[name], n)
		}
	}
	for _, name := range rules.Unspecified(pod) {
		c.lacking[name] = true
	}
	if isPod {
		c.pods[obj.GetUID()] = true
	}
}

func (c *contention) mayRefuse() bool {
	for name, limit := range c.limits {
		if c.lacking[name] {
			return true
		}
		if more := c.largest[name]; !more.IsZero() {
			if total := sum(c.used[name], more); total.Cmp(limit) > 0 {
				return true
			}
		}
	}
	return false
}

func sum(a, b resource.Quantity) resource.Quantity {
	a = a.DeepCopy()
	a.Add(b)
	return a
}

// competes reports whether a step changes what pods use of the quotas of a contended namespace, now or later, so that others may show its
// place.
func (e *exploration) competes(s *exploredState, step ClusterStep) bool {
	if len(e.contended) == 0 {
		return false
	}
	e.server.restore(s.server)
	defer e.server.restore(s.server)
	if err := step.Run(e.ctx); err != nil {
		return true // stepCluster returns the error
	}
	return slices.ContainsFunc(e.server.log[len(s.server.log):], func(ch change) bool {
		return e.contended[ch.object.GetNamespace()] && e.changesUsage(ch)
	})
}

// changesUsage reports whether a change concerns a quota, the spec of a workload, which may then want other pods, or what a pod uses of
// any quota, at once or after its grace period.
func (e *exploration) changesUsage(ch change) bool {
	if _, isQuota := ch.object.(*corev1.ResourceQuota); isQuota {
		return true
	}
	if podSpecOf(ch.object) == nil {
		return false
	}
	if ch.before == nil || ch.kind == watch.Deleted || (ch.before.GetDeletionTimestamp() == nil) != (ch.object.GetDeletionTimestamp() == nil) {
		return true
	}
	before, isPod := ch.before.(*corev1.Pod)
	after, _ := ch.object.(*corev1.Pod)
	if !isPod {
		return ch.before.GetGeneration() != ch.object.GetGeneration()
	}
	now := e.server.clock.Now()
	return !equality.Semantic.DeepEqual(rules.UsageOf(before, now), rules.UsageOf(after, now))
}
