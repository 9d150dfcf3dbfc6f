package buildertest

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest/internal/defaults"
	"github.com/armature-dev/armature/builder/buildertest/internal/rules"
)

// contention is what an exploration has learned about the pods and the ResourceQuotas of a namespace, in all states. A quota with room for
// all these pods and the largest one again, as if none ended, refuses none in any order.
type contention struct {
	limits  corev1.ResourceList // the smallest ones of all quotas
	used    corev1.ResourceList // by all pods
	largest corev1.ResourceList // use of a pod, also one that a workload couldn't create so far
	pods    map[types.UID]bool
}

// learnContention records a pod, of a workload, which has a template of pods, or of a quota. The first such change after which a quota
// may refuse a pod makes the namespace a contended one.
func (e *exploration) learnContention(obj client.Object) {
	var template *corev1.PodSpec
	switch o := obj.(type) {
	case *corev1.ResourceQuota:
	case *corev1.Pod:
		template = &o.Spec
	case *appsv1.Deployment:
		template = &o.Spec.Template.Spec
	case *appsv1.ReplicaSet:
		template = &o.Spec.Template.Spec
	case *appsv1.StatefulSet:
		template = &o.Spec.Template.Spec
	case *appsv1.DaemonSet:
		template = &o.Spec.Template.Spec
	case *batchv1.Job:
		template = &o.Spec.Template.Spec
	default:
		return
	}
	namespace := obj.GetNamespace()
	c := e.contention[namespace]
	if c == nil {
		c = &contention{corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}, map[types.UID]bool{}}
		e.contention[namespace] = c
	}
	if quota, ok := obj.(*corev1.ResourceQuota); ok {
		for name, limit := range quota.Spec.Hard {
			if old, found := c.limits[name]; !found || limit.Cmp(old) < 0 {
				c.limits[name] = limit
			}
		}
	} else {
		c.add(obj, template)
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
	if isPod {
		c.pods[obj.GetUID()] = true
	}
}

func (c *contention) mayRefuse() bool {
	for name, limit := range c.limits {
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

// competes reports whether a step changes what a contended namespace's pods use of its quotas, so that others may show its place.
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

// changesUsage reports whether a change concerns a quota, or what a pod uses of one, at once or after its grace period.
func (e *exploration) changesUsage(ch change) bool {
	if _, isQuota := ch.object.(*corev1.ResourceQuota); isQuota {
		return true
	}
	after, isPod := ch.object.(*corev1.Pod)
	if !isPod {
		return false
	}
	now := e.server.clock.Now()
	before, uses := corev1.ResourceList{}, corev1.ResourceList{}
	if old, ok := ch.before.(*corev1.Pod); ok {
		before = rules.UsageOf(old, now)
	}
	if ch.kind != watch.Deleted {
		uses = rules.UsageOf(after, now)
	}
	isDeleted := ch.before != nil && ch.before.GetDeletionTimestamp() == nil && after.DeletionTimestamp != nil
	for name := range e.contention[after.Namespace].limits {
		was, is := before[name], uses[name]
		if was.Cmp(is) != 0 || isDeleted && !is.IsZero() {
			return true
		}
	}
	return false
}
