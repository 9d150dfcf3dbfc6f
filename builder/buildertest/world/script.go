package world

import (
	"path"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Script is what the containers of a pod do. The zero value starts at once and runs until the pod is deleted.
type Script struct {
	// Ends makes the containers end by themselves, Run after their start. Default: false, they run until the pod is deleted.
	Ends bool
	// Run is the containers' run time. Default: 0, they end at once.
	Run time.Duration
	// ExitCode is the exit code of Container. All other containers exit with 0. Default: 0.
	ExitCode int32
	// Message is the termination message of Container. Default: empty.
	Message string
	// OutOfMemory makes Container end with the reason OOMKilled; its exit code is 137. Default: false.
	OutOfMemory bool
	// Container is the name of the container that ExitCode is about. Default: the first one.
	Container string
	// Restarts limits the script to a pod's first restarts: 1 is the first run only. Default: 0, no limit.
	Restarts int32
	// Labels limits the script to pods with these labels. Default: none.
	Labels map[string]string
	// Before limits the script to pods that were created before. Default: the zero time, no limit.
	Before time.Time
	// Start is the time from a pod's scheduling to its start, as for pulling an image. Default: 0.
	Start time.Duration
	// Stop is the time from a pod's deletion to the end of its containers, at most the pod's grace period. Default: 0.
	Stop time.Duration
	// Unready keeps the pod's condition Ready False while it runs. Default: false, it is ready.
	Unready bool
}

// rule is a script for pods of some names.
type rule struct {
	pattern string
	script  Script
}

// Script sets what pods do whose name matches a pattern of package path, such as "demo-*". It applies to present and later pods. Of
// several patterns that match, the last one counts. A pod without a script has that of Options.Pods. It returns path.ErrBadPattern for an
// invalid pattern.
func (w *World) Script(pattern string, s Script) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return err
	}
	w.scripts = append(w.scripts, rule{pattern, s})
	return nil
}

// scriptOf returns the script of a pod after some restarts.
func (w *World) scriptOf(pod *corev1.Pod, restarts int32) Script {
	for _, r := range slices.Backward(w.scripts) {
		if r.matches(pod, restarts) {
			return r.script
		}
	}
	if w.options.Pods == nil {
		return Script{}
	}
	return w.options.Pods(pod)
}

func (r rule) matches(pod *corev1.Pod, restarts int32) bool {
	for key, value := range r.script.Labels {
		if pod.Labels[key] != value {
			return false
		}
	}
	if !r.script.Before.IsZero() && !pod.CreationTimestamp.Time.Before(r.script.Before) {
		return false
	}
	matches, _ := path.Match(r.pattern, pod.Name)
	return matches && (r.script.Restarts == 0 || restarts < r.script.Restarts)
}
