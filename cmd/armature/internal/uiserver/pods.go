package uiserver

import (
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
	"github.com/armature-dev/armature/operators/daemonjob"
	"github.com/armature-dev/armature/operators/jobflow"
	"github.com/armature-dev/armature/operators/minicluster"
	"github.com/armature-dev/armature/operators/replicajob"
)

// podView is what the drawer shows of a pod.
type podView struct {
	UID        types.UID       `json:"uid"`
	Name       string          `json:"name"`
	Namespace  string          `json:"namespace"`
	State      string          `json:"state"`
	Tone       tone            `json:"tone"`
	Node       string          `json:"node,omitempty"`
	Created    time.Time       `json:"created"`
	Started    *time.Time      `json:"started,omitempty"`
	Ended      *time.Time      `json:"ended,omitempty"`
	Restarts   int32           `json:"restarts,omitempty"`
	Containers []containerView `json:"containers"`
	Rank       *int            `json:"rank,omitempty"`
	Role       string          `json:"role,omitempty"`
	Job        string          `json:"job,omitempty"`
	Ready      bool            `json:"ready,omitempty"`

	owner types.UID
	// version lets each version of a pod be news: an explanation reads more of a pod than is shown.
	version string
}

// containerView is what it shows of a container.
type containerView struct {
	Name     string `json:"name"`
	Init     bool   `json:"init,omitempty"`
	State    string `json:"state"` // waiting, running or terminated
	Reason   string `json:"reason,omitempty"`
	ExitCode int32  `json:"exitCode,omitempty"`
	Restarts int32  `json:"restarts,omitempty"`
}

// podViewOf reads a pod.
func podViewOf(u *unstructured.Unstructured) podView {
	o := diagnose.NewObject(u, nil)
	v := podView{
		UID: u.GetUID(), Name: u.GetName(), Namespace: u.GetNamespace(), State: diagnose.StateOf(o), Tone: toneOf(o),
		Node: diagnose.NodeOf(o), Created: u.GetCreationTimestamp().Time, Started: timeAt(u, "status", "startTime"),
		version: u.GetResourceVersion(),
	}
	for _, ref := range u.GetOwnerReferences() {
		if ref.Controller != nil && *ref.Controller {
			v.owner = ref.UID
			if ref.Kind == "Job" {
				v.Job = ref.Name
			}
		}
	}
	labels := u.GetLabels()
	v.Role = labels[replicajob.LabelType]
	for _, value := range []string{labels[replicajob.LabelIndex], labels[batchv1.JobCompletionIndexAnnotation]} {
		if n, err := strconv.Atoi(value); err == nil && v.Rank == nil {
			v.Rank = &n
		}
	}
	pod := &corev1.Pod{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, pod) != nil {
		return v
	}
	v.readContainers(pod)
	for _, c := range pod.Status.Conditions {
		v.Ready = v.Ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	}
	return v
}

// readContainers lists the containers, also those that have no status yet.
func (v *podView) readContainers(pod *corev1.Pod) {
	hasEnded := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	add := func(specs []corev1.Container, statuses []corev1.ContainerStatus, isInit bool) {
		for i := range specs {
			c := containerView{Name: specs[i].Name, Init: isInit, State: "waiting"}
			at := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == c.Name })
			if at >= 0 {
				s := &statuses[at]
				c.Restarts = s.RestartCount
				v.Restarts += s.RestartCount
				switch {
				case s.State.Running != nil:
					c.State = "running"
				case s.State.Terminated != nil:
					c.State, c.Reason, c.ExitCode = "terminated", s.State.Terminated.Reason, s.State.Terminated.ExitCode
					if at := s.State.Terminated.FinishedAt.Time; hasEnded && (v.Ended == nil || at.After(*v.Ended)) && !at.IsZero() {
						v.Ended = &at
					}
				case s.State.Waiting != nil:
					c.Reason = s.State.Waiting.Reason
				}
			}
			v.Containers = append(v.Containers, c)
		}
	}
	add(pod.Spec.InitContainers, pod.Status.InitContainerStatuses, true)
	add(pod.Spec.Containers, pod.Status.ContainerStatuses, false)
}

// podsOf returns where the pods of an object are, by the labels that its operator gives them. It is false for kinds of which that isn't
// known.
func podsOf(k kind, namespace, name, node string) (source, bool) {
	s := source{gvk: corev1.SchemeGroupVersion.WithKind("Pod"), namespace: namespace}
	isOwn := k.Group == v1alpha1.GroupVersion.Group
	switch {
	case isOwn && k.Kind == "JobFlow":
		s.labels = jobflow.LabelJobFlow + "=" + labelValue(name)
		if node != "" {
			s.labels += "," + jobflow.LabelFlow + "=" + labelValue(node)
		}
	case isOwn && k.Kind == "DaemonJob":
		s.labels = daemonjob.LabelDaemonJob + "=" + labelValue(name)
	case isOwn && k.Kind == "ReplicaJob":
		s.labels = replicajob.LabelJob + "=" + labelValue(name)
	case isOwn && (k.Kind == "MiniCluster" || k.Kind == "FluxJob"): // a FluxJob's MiniCluster has its name
		s.labels = minicluster.LabelMiniCluster + "=" + labelValue(name)
	case k.Kind == "Job":
		s.labels = batchv1.JobNameLabel + "=" + labelValue(name)
	case k.Kind == "Pod":
		s.fields = "metadata.name=" + name
	default:
		return source{}, false
	}
	return s, true
}

// labelValue is a name as the value of a label, as all operators write it: a long one is cut.
func labelValue(name string) string {
	flow := &v1alpha1.JobFlow{}
	flow.Name = name
	return jobflow.PodLabels(flow, "")[jobflow.LabelJobFlow]
}
