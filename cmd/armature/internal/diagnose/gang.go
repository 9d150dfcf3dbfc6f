package diagnose

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation"
)

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
	command := fmt.Sprintf(": kubectl describe queues.%s %s", volcanoGroup, queue)
	if len(validation.IsDNS1123Subdomain(queue)) > 0 { // any text: a user's shell could run a part of it
		queue, command = strconv.Quote(queue), ""
	}
	if phase == "" {
		return blocked("GangPending", "no scheduler has processed the pod group: its status is empty").
			do("check that Volcano's scheduler runs, and that its queue %s exists%s", queue, command)
	}
	return blocked("GangPending", "its scheduler has not admitted the pod group: it is %s in queue %s", phase, queue).
		do("check that the queue is open and has free capacity%s", command)
}
