package buildertest

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// bind sets a pod's node, as a POST of the subresource binding does.
func (c *Client) bind(ctx context.Context, pod client.Object, binding *corev1.Binding) error {
	r, err := c.request(VerbCreate, pod, client.ObjectKeyFromObject(pod))
	if err != nil {
		return err
	}
	r.Subresource = "binding"
	if err := r.checkKey(); err != nil {
		return err
	}
	_, err = c.call(ctx, r, func() (client.Object, error) { return c.server.bind(r, binding) })
	return err
}

func (s *Server) bind(r *request, binding *corev1.Binding) (client.Object, error) {
	old, ok := s.get(r.kind, r.key()).(*corev1.Pod)
	if !ok {
		return nil, r.kind.notFound(r.Name)
	}
	switch {
	case binding.UID != "" && binding.UID != old.UID:
		return nil, r.kind.conflict(r.Name, "Precondition failed: UID in precondition: %s, UID in object meta: %s", binding.UID, old.UID)
	case old.DeletionTimestamp != nil:
		return nil, r.kind.conflict(r.Name, "pod %s is being deleted, cannot be assigned to a host", r.Name)
	case old.Spec.NodeName != "":
		return nil, r.kind.conflict(r.Name, "pod %s is already assigned to node %q", r.Name, old.Spec.NodeName)
	}
	pod := old.DeepCopy()
	pod.Spec.NodeName = binding.Target.Name
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: s.now()}
	for i, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled {
			pod.Status.Conditions = append(pod.Status.Conditions[:i], pod.Status.Conditions[i+1:]...)
			break
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, scheduled)
	r.Changed = true
	s.put(r.kind, pod)
	return pod, nil
}
