package diagnose

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// unready: a container runs, and its probes fail; or the pod waits for a readiness gate.
func unready(s subject) *Finding {
	if s.pod == nil || s.pod.Status.Phase != corev1.PodRunning {
		return nil
	}
	allReady := true
	for _, c := range containers(s.pod) {
		if c.isInit || c.status.Ready {
			continue
		}
		allReady = false
		if c.status.State.Running == nil {
			continue
		}
		words := ""
		if e := s.warning("Unhealthy"); e != nil {
			words = ": " + firstLine(strings.TrimSpace(e.Message))
		}
		isEarly := s.Now.Sub(c.status.State.Running.StartedAt.Time) < grace && words == ""
		switch started := c.status.Started; {
		case c.StartupProbe != nil && (started == nil || !*started) && words != "":
			return blocked("StartupProbeFailing", "%s runs, but its startup probe hasn't succeeded%s", c.what(), words).do("%s", s.logs(c))
		case c.ReadinessProbe != nil && !isEarly && s.Now.Sub(c.status.State.Running.StartedAt.Time) >= initialDelay(c):
			return blocked("ReadinessProbeFailing", "%s runs, but its readiness probe hasn't succeeded%s", c.what(), words).
				do("%s; and check that the probe matches what the container serves", s.logs(c))
		}
	}
	if !allReady {
		return nil
	}
	for _, gate := range s.pod.Spec.ReadinessGates {
		if s.isTrue(string(gate.ConditionType)) == nil {
			return blocked("ReadinessGate", "its containers are ready, but its readiness gate %s is not True", gate.ConditionType).
				do("check that the controller that sets this condition runs, for example a load balancer's")
		}
	}
	return nil
}

func initialDelay(c container) time.Duration {
	return time.Duration(c.ReadinessProbe.InitialDelaySeconds) * time.Second
}
