package diagnose

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// claimPending: a PersistentVolumeClaim isn't bound. If an owner's claim waits for a pod, the cause is the pod's.
func claimPending(s subject) *Finding {
	claim := s.Claims[s.GetName()]
	if !s.is("PersistentVolumeClaim") || claim == nil || s.isNew(s.Object) || s.parent != nil && s.waitsForPod(claim.Name) {
		return nil
	}
	return s.unbound(claim)
}

// unbound says why a claim isn't bound, nil if it is.
func (f *Facts) unbound(claim *corev1.PersistentVolumeClaim) *Finding {
	if claim.Status.Phase == corev1.ClaimBound {
		return nil
	}
	found := f.unboundReason(claim)
	found.Object = Ref{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name}
	return found
}

func (f *Facts) unboundReason(claim *corev1.PersistentVolumeClaim) *Finding {
	if claim.Status.Phase == corev1.ClaimLost {
		return blocked("ClaimLost", "its volume %s doesn't exist", claim.Spec.VolumeName).
			do("restore the volume, or delete the claim together with its data")
	}
	const show = "kubectl get storageclass"
	switch name := claim.Spec.StorageClassName; {
	case name == nil && f.Classes != nil && !slices.ContainsFunc(f.Classes, isDefaultClass):
		return blocked("ClaimPending", "it is pending: it names no storageClassName, and the cluster has no default StorageClass").
			do("set storageClassName in the claim, or make a StorageClass the default: %s", show)
	case name != nil && *name != "" && f.Classes != nil &&
		!slices.ContainsFunc(f.Classes, func(c storagev1.StorageClass) bool { return c.Name == *name }):
		return blocked("ClaimPending", "it is pending: there is no StorageClass %q", *name).
			do("create the StorageClass, or name one of those that there are: %s", show)
	case name != nil && *name == "":
		return blocked("ClaimPending", "it is pending: its storageClassName is empty, so it waits for a manually created PersistentVolume").
			do("create a matching PersistentVolume, or set storageClassName in a new claim: %s", show)
	}
	switch e := f.ClaimEvents[claim.Name]; {
	case e.Reason == waitForFirstConsumer:
		return blocked("ClaimPending", "it is pending: %s", e.Message).
			do("create a pod that uses it; the claim is bound once the pod is scheduled")
	case e.Reason == waitForPodScheduled:
		return blocked("ClaimPending", "it is pending: %s", e.Message).
			do("find out why that pod isn't scheduled: armature explain pod/NAME -n %s", claim.Namespace)
	case e.Message != "":
		return blocked("ClaimPending", "it is pending: %s", e.Message).
			do("check that the provisioner of its StorageClass runs: kubectl describe pvc %s -n %s", claim.Name, claim.Namespace)
	}
	return blocked("ClaimPending", "it is pending: no volume has been provisioned for it").
		do("check that the provisioner of its StorageClass runs: kubectl describe pvc %s -n %s", claim.Name, claim.Namespace)
}

// The reasons of Kubernetes' events about a claim whose StorageClass has the volumeBindingMode WaitForFirstConsumer: no pod uses the
// claim, or those that use it aren't scheduled.
const (
	waitForFirstConsumer = "WaitForFirstConsumer"
	waitForPodScheduled  = "WaitForPodScheduled"
)

// waitsForPod reports whether a claim is bound only once a pod that uses it is scheduled.
func (f *Facts) waitsForPod(claim string) bool {
	reason := f.ClaimEvents[claim].Reason
	return reason == waitForFirstConsumer || reason == waitForPodScheduled
}

func isDefaultClass(c storagev1.StorageClass) bool {
	return c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true"
}

// claimOf returns why the first of a pod's claims isn't bound, and nil if all are.
func (s subject) claimOf(pod *corev1.Pod) *Finding {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		name := ""
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = pod.Name + "-" + v.Name
		default:
			continue
		}
		claim := s.Claims[name]
		if claim == nil {
			if s.Claims == nil {
				continue
			}
			return blocked("ClaimMissing", "its volume %s needs the PersistentVolumeClaim %s, which doesn't exist", v.Name, name).
				do("create the claim, or use another one: kubectl get pvc -n %s", pod.Namespace)
		}
		if found := s.unbound(claim); found != nil && !s.waitsForPod(name) {
			return found
		}
	}
	return nil
}
