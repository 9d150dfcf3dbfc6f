package diagnose

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// outOfMemory: a container exceeded its memory limit, or the node ran out of memory.
func outOfMemory(s subject) *Finding {
	if s.pod == nil {
		return nil
	}
	for _, c := range containers(s.pod) {
		end := c.ended()
		if end == nil || end.Reason != "OOMKilled" {
			continue
		}
		limit := "it has no limit, so the node ran out of memory"
		if l, ok := c.Resources.Limits[corev1.ResourceMemory]; ok {
			limit = "its limit is " + l.String()
		}
		return s.end("OutOfMemory", "%s was killed because it ran out of memory: %s%s", c.what(), limit, s.again(c)).
			do("raise resources.limits.memory of %s in the pod template, or reduce its memory usage", c.what())
	}
	return nil
}

// crashed: a container ended with an exit code that isn't 0.
func crashed(s subject) *Finding {
	if s.pod == nil {
		return nil
	}
	for _, c := range containers(s.pod) {
		end := c.ended()
		if end == nil || end.ExitCode == 0 {
			continue
		}
		how := fmt.Sprintf("exited with code %d", end.ExitCode)
		next := s.logs(c)
		if meaning, known := notRun[end.ExitCode]; known {
			how += ": " + meaning
			next = fmt.Sprintf("correct command and args of %s in the pod template, or its image; "+
				"if the image has a shell, its error message is in the logs: %s", c.what(), s.logsCommand(c))
		}
		if end.Signal != 0 {
			how = fmt.Sprintf("was killed by signal %d", end.Signal)
		}
		if words := strings.TrimSpace(end.Message); words != "" {
			how += ": " + firstLine(words)
		} else if end.Reason != "" && end.Reason != "Error" {
			how += ": " + end.Reason
		}
		if e := s.warning("Unhealthy"); e != nil && strings.HasPrefix(e.Message, "Liveness probe failed") {
			how += ", and its liveness probe had failed"
		}
		reason := "ExitCode"
		if w := c.status.State.Waiting; w != nil && w.Reason == "CrashLoopBackOff" {
			reason = "CrashLoop"
		}
		return s.end(reason, "%s %s%s%s", c.what(), how, s.again(c), s.gaveUp()).do("%s", next)
	}
	return nil
}

// end is a finding about a container that ended: a failure if its pod has failed.
func (s subject) end(reason, format string, args ...any) *Finding {
	if s.pod.Status.Phase == corev1.PodFailed {
		return failed(reason, fmt.Sprintf(format, args...))
	}
	return blocked(reason, format, args...)
}

// again says how often a container was restarted.
func (s subject) again(c container) string {
	switch w := c.status.State.Waiting; {
	case w != nil && w.Reason == "CrashLoopBackOff":
		return fmt.Sprintf("; it was restarted %s and keeps crashing", times(int(c.status.RestartCount)))
	case c.status.RestartCount > 0:
		return fmt.Sprintf("; it was restarted %s", times(int(c.status.RestartCount)))
	default:
		return ""
	}
}

// gaveUp says that the pod's Job has given up, or that it retries.
func (s subject) gaveUp() string {
	if s.parent == nil || s.parent.job == nil {
		return ""
	}
	job := s.parent.job
	limit := int32(6)
	if job.Spec.BackoffLimit != nil {
		limit = *job.Spec.BackoffLimit
	}
	c := s.parent.isTrue("Failed")
	if c == nil {
		c = s.parent.isTrue("FailureTarget")
	}
	switch {
	case c != nil && c.Reason == "BackoffLimitExceeded":
		return fmt.Sprintf("; its Job has given up after %s: the backoffLimit of %d is reached",
			count(int(job.Status.Failed), "failed pod"), limit)
	case c != nil:
		return fmt.Sprintf("; its Job has failed: %s", ending(c.Reason, c.Message))
	case job.Spec.BackoffLimitPerIndex == nil && limit > 0:
		return fmt.Sprintf("; its Job retries up to %s", times(int(limit)))
	default:
		return ""
	}
}

// notRun are the exit codes of shells and of container runtimes for a command that couldn't run, so that the logs can be empty.
var notRun = map[int32]string{
	126: "a command could not be executed", 127: "a command was not found", 128: "it could not be started",
}

// logs says how to see why a container ended.
func (s subject) logs(c container) string { return "see why in its logs: " + s.logsCommand(c) }

func (s subject) logsCommand(c container) string {
	previous := ""
	if c.status.State.Terminated == nil {
		previous = " --previous"
	}
	return fmt.Sprintf("kubectl logs %s -n %s -c %s%s", s.GetName(), s.GetNamespace(), c.Name, previous)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
