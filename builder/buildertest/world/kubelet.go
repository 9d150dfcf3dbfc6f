package world

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kubelet imitates the kubelets of all nodes: it starts pods whose Secrets and ConfigMaps exist, ends them as their scripts say, restarts
// containers with the backoff of a kubelet, and completes deletions. The kubelet of a node that isn't ready does nothing.
type kubelet struct{}

func (kubelet) Name() string { return "kubelet" }

func (kubelet) Changes(s *State) []Change {
	ready := map[string]bool{}
	for _, n := range All[*corev1.Node](s) {
		ready[n.Name] = isNodeReady(n)
	}
	var changes []Change
	for _, pod := range All[*corev1.Pod](s) {
		if !ready[pod.Spec.NodeName] {
			continue
		}
		if c := nextOfPod(s, pod); c != nil {
			changes = append(changes, *c)
		}
	}
	return changes
}

// isNodeReady reports whether a node's kubelet runs. A node without the condition Ready counts as ready.
func isNodeReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return true
}

func nextOfPod(s *State, pod *corev1.Pod) *Change {
	switch {
	case pod.DeletionTimestamp != nil && pod.Status.Phase == corev1.PodPending: // none of its containers starts
		return new(updateStatus(changed(pod, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })))
	case pod.DeletionTimestamp != nil && isTerminal(pod):
		if ptr.Deref(pod.DeletionGracePeriodSeconds, 0) == 0 {
			return nil // only finalizers keep it
		}
		return new(remove(pod, client.GracePeriodSeconds(0)))
	case isTerminal(pod):
		return nil
	case pod.DeletionTimestamp == nil && pod.Spec.ActiveDeadlineSeconds != nil && s.Due(deadlineOf(pod)):
		return overduePod(s, pod)
	case pod.Status.Phase == corev1.PodRunning:
		return runningPod(s, pod)
	case s.Due(scheduledAt(pod).Add(s.script(pod, 0).Start)):
		return startPod(s, pod)
	default:
		return nil
	}
}

func isTerminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func scheduledAt(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return pod.CreationTimestamp.Time
}

// start makes a pod run.
func start(s *State, p *corev1.Pod) {
	now := s.now()
	p.Status.Phase = corev1.PodRunning
	p.Status.InitContainerStatuses, p.Status.ContainerStatuses = nil, nil
	for _, c := range p.Spec.InitContainers {
		status := corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: true}
		if ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways { // a sidecar, which endPod ends
			status.Started, status.State.Running = new(true), &corev1.ContainerStateRunning{StartedAt: now}
		} else {
			status.State.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}
		}
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, status)
	}
	for _, c := range p.Spec.Containers {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image})
	}
	setPodCondition(p, corev1.PodInitialized, corev1.ConditionTrue, "", now)
	runContainers(s, p)
}

// runContainers makes the containers of a pod run that don't.
func runContainers(s *State, p *corev1.Pod) {
	for i := range p.Status.ContainerStatuses {
		if c := &p.Status.ContainerStatuses[i]; c.State.Running == nil {
			c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: s.now()}}
			c.Ready, c.Started = true, new(true)
		}
	}
	setReady(s, p, !s.script(p, restartsOf(p)).Unready, "ContainersNotReady")
}

func setReady(s *State, p *corev1.Pod, ready bool, reason string) {
	status := corev1.ConditionTrue
	if !ready {
		status = corev1.ConditionFalse
	} else {
		reason = ""
	}
	for i := range p.Status.ContainerStatuses {
		p.Status.ContainerStatuses[i].Ready = ready
	}
	setPodCondition(p, corev1.ContainersReady, status, reason, s.now())
	setPodCondition(p, corev1.PodReady, status, reason, s.now())
}

func setPodCondition(p *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus, reason string, now metav1.Time) {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == kind {
			if c.Status != status {
				c.LastTransitionTime = now
			}
			c.Status, c.Reason = status, reason
			return
		}
	}
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: status, Reason: reason, LastTransitionTime: now})
}

func restartsOf(p *corev1.Pod) int32 {
	var n int32
	for _, c := range p.Status.ContainerStatuses {
		n = max(n, c.RestartCount)
	}
	return n
}

// runningPod is the next change of a pod that has started: it is stopped, its containers end, wait and run again, or its readiness changes.
func runningPod(s *State, pod *corev1.Pod) *Change {
	script := s.script(pod, restartsOf(pod))
	running := runningSince(pod)
	switch {
	case pod.DeletionTimestamp != nil:
		return stopPod(s, pod, script)
	case running == nil:
		if !s.Due(crashLoopUntil(pod)) {
			return nil
		}
		return new(updateStatus(changed(pod, func(p *corev1.Pod) { runContainers(s, p) })))
	case script.Ends && s.Due(running.Add(script.Run)):
		return new(updateStatus(changed(pod, func(p *corev1.Pod) { endContainers(s, p, script) })))
	case isReady(pod) == script.Unready:
		return new(updateStatus(changed(pod, func(p *corev1.Pod) { runContainers(s, p) })))
	default:
		return nil
	}
}

// runningSince returns when the containers of a pod started; nil if none runs.
func runningSince(pod *corev1.Pod) *metav1.Time {
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Running != nil {
			return &c.State.Running.StartedAt
		}
	}
	return nil
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

const (
	exitTerminated = 143 // by SIGTERM
	exitKilled     = 137 // by SIGKILL
)

// stopPod ends the containers of a pod that is being deleted.
func stopPod(s *State, pod *corev1.Pod, script Script) *Change {
	grace := seconds(ptr.Deref(pod.DeletionGracePeriodSeconds, 0))
	took, code := stopping(script, grace)
	if !s.Due(pod.DeletionTimestamp.Add(took - grace)) {
		return nil
	}
	return new(updateStatus(changed(pod, func(p *corev1.Pod) {
		for i := range p.Status.ContainerStatuses {
			terminate(s, &p.Status.ContainerStatuses[i], code, "")
		}
		endPod(s, p)
	})))
}

// stopping returns how long the containers of a pod take to stop, and their exit code.
func stopping(script Script, grace time.Duration) (took time.Duration, code int32) {
	if script.Stop > grace {
		return grace, exitKilled
	}
	return script.Stop, exitTerminated
}

func terminate(s *State, c *corev1.ContainerStatus, code int32, message string) {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	started := s.now()
	if c.State.Running != nil {
		started = c.State.Running.StartedAt
	}
	c.Ready, c.Started = false, new(false)
	c.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message, StartedAt: started, FinishedAt: s.now(),
	}}
}

// endContainers ends the containers as the script says. What then happens depends on the pod's restartPolicy.
func endContainers(s *State, p *corev1.Pod, script Script) {
	failed := false
	for i := range p.Status.ContainerStatuses {
		c := &p.Status.ContainerStatuses[i]
		if c.Name != script.Container && (script.Container != "" || i > 0) {
			terminate(s, c, 0, "")
			continue
		}
		code := script.ExitCode
		if script.OutOfMemory {
			code = exitKilled
		}
		terminate(s, c, code, script.Message)
		if script.OutOfMemory {
			c.State.Terminated.Reason = "OOMKilled"
		}
		failed = code != 0
	}
	if policy := p.Spec.RestartPolicy; policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && failed {
		restart(s, p, policy)
		return
	}
	endPod(s, p)
}

// restart makes the ended containers wait for their next run.
func restart(s *State, p *corev1.Pod, policy corev1.RestartPolicy) {
	for i := range p.Status.ContainerStatuses {
		c := &p.Status.ContainerStatuses[i]
		if policy == corev1.RestartPolicyOnFailure && c.State.Terminated.ExitCode == 0 {
			continue
		}
		c.LastTerminationState = c.State
		c.RestartCount++
		c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	}
	setReady(s, p, false, "ContainersNotReady")
}

// deadlineOf returns when a pod with activeDeadlineSeconds must end, whether its containers run or wait.
func deadlineOf(pod *corev1.Pod) time.Time {
	return startTimeOf(pod).Add(seconds(*pod.Spec.ActiveDeadlineSeconds))
}

// startTimeOf returns status.startTime: when the kubelet has seen the pod for the first time, before it pulled images.
func startTimeOf(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return scheduledAt(pod)
}

// overduePod stops and fails a pod whose deadline has come.
func overduePod(s *State, pod *corev1.Pod) *Change {
	took, code := stopping(s.script(pod, restartsOf(pod)), seconds(ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, 0)))
	if runningSince(pod) != nil && !s.Due(deadlineOf(pod).Add(took)) {
		return nil
	}
	return new(updateStatus(changed(pod, func(p *corev1.Pod) {
		for i := range p.Status.ContainerStatuses {
			if c := &p.Status.ContainerStatuses[i]; c.State.Running != nil {
				terminate(s, c, code, "")
			}
		}
		endPod(s, p)
		p.Status.Phase, p.Status.Reason = corev1.PodFailed, "DeadlineExceeded"
		p.Status.Message = "Pod was active on the node longer than the specified deadline"
		setReady(s, p, false, "PodFailed")
	})))
}

// crashLoopUntil is when a container runs again: at once after its first run, then after 10 seconds, and twice as long each time.
func crashLoopUntil(pod *corev1.Pod) time.Time {
	const first, longest = 10 * time.Second, 5 * time.Minute
	var until time.Time
	for _, c := range pod.Status.ContainerStatuses {
		if last := c.LastTerminationState.Terminated; last != nil && c.State.Waiting != nil {
			backoff := time.Duration(0)
			if c.RestartCount > 1 {
				backoff = min(first<<min(c.RestartCount-2, 10), longest)
			}
			until = last.FinishedAt.Add(backoff)
		}
	}
	return until
}

// endPod gives a pod its final phase, and ends its sidecars, whose exit codes don't count.
func endPod(s *State, p *corev1.Pod) {
	for i := range p.Status.InitContainerStatuses {
		if c := &p.Status.InitContainerStatuses[i]; c.State.Running != nil {
			terminate(s, c, exitTerminated, "")
		}
	}
	p.Status.Phase = corev1.PodSucceeded
	reason := "PodCompleted"
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Terminated != nil && c.State.Terminated.ExitCode != 0 {
			p.Status.Phase, reason = corev1.PodFailed, "PodFailed"
		}
	}
	setReady(s, p, false, reason)
}
