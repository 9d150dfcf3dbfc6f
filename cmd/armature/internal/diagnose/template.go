package diagnose

import "github.com/armature-dev/armature/api/v1alpha1"

// templateMissing: a flow names a JobTemplate that doesn't exist.
func templateMissing(s subject) *Finding {
	ready := s.isFalse("Ready")
	if ready == nil || ready.Reason != v1alpha1.ReasonJobTemplateNotFound {
		return nil
	}
	return blocked("JobTemplateNotFound", "%s", ready.Message).
		do("create the JobTemplate in namespace %s; the flow then continues automatically: kubectl get jobtemplates -n %[1]s", s.GetNamespace())
}
