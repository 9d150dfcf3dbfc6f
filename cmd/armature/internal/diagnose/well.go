package diagnose

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// well returns the finding about an object without a problem: it has succeeded, runs or starts.
func well(s subject) *Finding {
	found := &Finding{Object: s.Ref(), Path: []Step{{s.Ref(), StateOf(s.Object)}}}
	switch running, pods := runningPods(s.Object); {
	case HasSucceeded(s.Object):
		found.Phase, found.Message = Succeeded, "it has succeeded"
	case running > 0 && running == pods:
		found.Phase, found.Message = Running, fmt.Sprintf("it runs: %s", count(running, "pod"))
	case running > 0:
		found.Phase, found.Message = Running, fmt.Sprintf("it runs: %d of %s", running, count(pods, "pod"))
	case pods > 0:
		found.Phase, found.Message = Starting, fmt.Sprintf("%s starting, without a problem so far", areCount(pods, "pod"))
	case s.isTrue("Ready") != nil || s.isTrue("Available") != nil || s.text("status", "phase") == "Bound":
		found.Phase, found.Message = Running, "it is ready"
	case s.ownAccount() != "":
		found.Phase, found.Message = Starting, s.ownAccount()
		if s.text("status", "state") == string(v1alpha1.StateRunning) {
			found.Phase = Running
		}
		if !s.startsAgain() {
			found.Message = "it has no problem so far; " + found.Message
		}
		return found
	case s.text("status", "state") == "Running" && anySucceeded(s.Object):
		found.Phase, found.Message = Running, "it is active, and has no problem so far; at this moment no pod of it runs"
	case s.hasNoPods():
		found.Phase, found.Message = Running, "it exists, and has no problem; objects of this kind run no pods"
	default:
		found.Phase, found.Message = Starting, "it has no problem so far, and no running pod yet"
	}
	if s.startsAgain() && s.ownAccount() != "" {
		found.Message += "; " + s.ownAccount()
	}
	return found
}

// hasNoPods reports whether no controller makes pods for objects of a kind, as of a ConfigMap, a Service or a JobTemplate.
func (o *Object) hasNoPods() bool {
	if o.isOurs() {
		return o.is("JobTemplate", "FluxSetup")
	}
	return o.GroupVersionKind().Group == "" && !o.is("Pod", "ReplicationController", "PersistentVolumeClaim")
}

// startsAgain reports whether an object of Armature's restarts, after a failure or a preemption.
func (o *Object) startsAgain() bool {
	state := o.text("status", "state")
	return o.isOurs() && (state == string(v1alpha1.MiniClusterStateRestarting) || state == string(v1alpha1.FluxJobStopping))
}

// ownAccount is the state of an object of Armature's and the message of its condition Ready; empty without a message.
func (o *Object) ownAccount() string {
	ready, state := o.isFalse("Ready"), o.text("status", "state")
	if !o.isOurs() || ready == nil || ready.Message == "" || state == "" {
		return ""
	}
	return "it is " + state + ": " + ready.Message
}

// anySucceeded reports whether something that an object owns has ended well.
func anySucceeded(o *Object) bool {
	return slices.ContainsFunc(o.Owned, HasSucceeded)
}

// runningPods counts the pods below an object that haven't ended and aren't terminating: those that run, and all.
func runningPods(o *Object) (running, all int) {
	if o.pod != nil {
		switch {
		case isTerminating(o.pod):
			return 0, 0
		case o.pod.Status.Phase == corev1.PodRunning:
			return 1, 1
		case o.pod.Status.Phase == corev1.PodPending:
			return 0, 1
		default:
			return 0, 0
		}
	}
	for _, child := range o.Owned {
		r, n := runningPods(child)
		running, all = running+r, all+n
	}
	return running, all
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func areCount(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return fmt.Sprintf("%d %ss are", n, what)
}
