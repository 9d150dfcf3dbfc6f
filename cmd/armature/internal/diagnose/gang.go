package diagnose

const volcanoGroup = "scheduling.volcano.sh"

// gangWaits: Volcano has not admitted a pod group, or finds no nodes for the whole group. The pods' own conditions don't show this.
func gangWaits(s subject) *Finding {
	gvk := s.GroupVersionKind()
	if gvk.Group != volcanoGroup || gvk.Kind != "PodGroup" || s.isNew(s.Object) {
		return nil
	}
	phase := s.text("status", "phase")
	if phase != "" && phase != "Pending" && phase != "Inqueue" {
		return nil
	}
	if c := s.isTrue("Unschedulable"); c != nil {
		return blocked("GangUnschedulable", "its pods can't be scheduled together: %s", ending(c.Reason, c.Message)).
			do("free capacity, or request less: kubectl describe podgroup.%s.%s %s%s", gvk.Version, gvk.Group, s.GetName(), s.flagN())
	}
	if phase == "Inqueue" {
		return nil // its pods are being scheduled
	}
	queue := s.text("spec", "queue")
	if queue == "" {
		queue = "default"
	}
	if phase == "" {
		return blocked("GangPending", "no scheduler has processed the pod group: its status is empty").
			do("check that Volcano's scheduler runs, and that its queue %s exists: kubectl describe queues.%s %[1]s", queue, volcanoGroup)
	}
	return blocked("GangPending", "its scheduler has not admitted the pod group: it is %s in queue %s", phase, queue).
		do("check that the queue is open and has free capacity: kubectl describe queues.%s %s", volcanoGroup, queue)
}
