package conformance

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// statefulSetForcedRollback repairs the template of a StatefulSet whose pod is broken.
func statefulSetForcedRollback(s *session) {
	set := s.given(s.statefulSet(2)).(*appsv1.StatefulSet)
	awaits(s, "two pods", set, isUpdated)
	s.change(set, onMissing(1))
	awaits(s, "a broken pod", set, func(o *appsv1.StatefulSet) bool {
		return o.Status.ObservedGeneration == 2 && o.Status.UpdatedReplicas == 1 && o.Status.ReadyReplicas == 1 && o.Status.Replicas == 2
	})
	s.change(set, `{"spec":{"template":{"spec":{"nodeSelector":null}}}}`)
	awaits(s, "an observed repair", set, func(o *appsv1.StatefulSet) bool { return o.Status.ObservedGeneration == 3 })
	s.rest()
	s.note("the broken pod stays", s.pod("db-1").Spec.NodeSelector)
	s.delete("delete it", s.pod("db-1"))
	s.showStatefulSet("repaired", awaits(s, "two pods", set, isUpdated))
	s.delete("delete", set)
}

// onMissing is a patch of a template whose pods stay pending.
func onMissing(n int) string {
	return fmt.Sprintf(`{"spec":{"template":{"spec":{"nodeSelector":{"missing":"%d"}}}}}`, n)
}

// deploymentRollOver changes the template in the middle of a roll-out.
func deploymentRollOver(s *session) {
	d := s.given(s.deployment(4)).(*appsv1.Deployment)
	s.showDeployment("ready", awaits(s, "four pods", d, isAvailable))
	broken := func(o *appsv1.Deployment) bool {
		return o.Status.ObservedGeneration == o.Generation && o.Status.UpdatedReplicas == 2 && o.Status.AvailableReplicas == 3 &&
			o.Status.Replicas == 5
	}
	s.change(d, onMissing(1))
	awaits(s, "a broken roll-out", d, broken)
	s.rest()
	s.showDeployment("broken", awaits(s, "a broken roll-out", d, broken))
	s.change(d, onMissing(2))
	s.rest()
	s.showDeployment("rolled over", awaits(s, "another broken roll-out", d, broken))
	s.change(d, `{"spec":{"template":{"spec":{"nodeSelector":null}}}}`)
	s.showDeployment("rolled back", awaits(s, "four pods", d, isAvailable))
	s.delete("delete", d)
}

// deploymentPaused changes the template and the size of a paused Deployment.
func deploymentPaused(s *session) {
	d := s.given(s.deployment(1)).(*appsv1.Deployment)
	awaits(s, "a pod", d, isAvailable)
	s.change(d, `{"spec":{"paused":true,"replicas":2,"template":{"metadata":{"annotations":{"a":"b"}}}}}`)
	available := func(n int32) func(*appsv1.Deployment) bool {
		return func(o *appsv1.Deployment) bool {
			return o.Status.ObservedGeneration == o.Generation && o.Status.AvailableReplicas == n && o.Status.Replicas == n
		}
	}
	awaits(s, "two pods", d, available(2))
	s.rest()
	s.showDeployment("paused", awaits(s, "two pods", d, available(2)))
	s.change(d, `{"spec":{"paused":false}}`)
	s.showDeployment("resumed", awaits(s, "two updated pods", d, isAvailable))
	s.delete("delete", d)
}

// deploymentQuota lets a Deployment have one of its two pods, and then both.
func deploymentQuota(s *session) {
	quota := s.quota("one-pod", corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")})
	d := s.given(s.deployment(2)).(*appsv1.Deployment)
	isRefused := func(o *appsv1.Deployment) bool {
		return o.Status.ObservedGeneration == o.Generation && o.Status.AvailableReplicas == 1 && hasFailure(o)
	}
	awaits(s, "a pod and a refusal", d, isRefused)
	s.rest()
	s.showDeployment("a pod is refused", awaits(s, "a pod and a refusal", d, isRefused))
	s.showFailure("why")
	s.delete("delete the quota", quota)
	s.goes("it goes", quota)
	s.admits(true)
	s.change(s.replicaSet(), `{"metadata":{"annotations":{"a":"b"}}}`) // so that its controller doesn't wait for a backoff of up to 80 seconds
	s.showDeployment("both are admitted", awaits(s, "two pods and no refusal", d, func(o *appsv1.Deployment) bool {
		return isAvailable(o) && !hasFailure(o)
	}))
	s.showFailure("no failure")
	s.delete("delete", d)
}

func hasFailure(o *appsv1.Deployment) bool {
	for _, c := range o.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure {
			return true
		}
	}
	return false
}

// showFailure records the conditions of the only ReplicaSet, without the random name of the refused pod.
func (s *session) showFailure(name string) {
	conditions := []string{}
	for _, c := range s.replicaSet().Status.Conditions {
		_, message, _ := strings.Cut(c.Message, " is forbidden: ")
		conditions = append(conditions, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, message))
	}
	s.note(name, conditions)
}
