package logscmd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/family"
)

// partLabels say which part of its owner a pod is of, by the owner's kind: nodes of flows, nodes of the cluster, types of replicas.
var partLabels = []string{"api.practice.com/flow", "api.practice.com/node", "api.practice.com/replica-type"}

// source is where the logs of an object come from.
type source struct {
	options
	cluster *connect.Cluster
	pods    typedcorev1.PodInterface
	part    string
	root    *unstructured.Unstructured
	errs    io.Writer
	pause   atomic.Int64 // between two searches for its pods, in ns
	said    []string     // the kinds and groups that say has named
}

// runOf is one start of a container.
type runOf struct {
	pod       string
	container string
	uid       string
	restarts  int32
	runs      bool
	since     time.Time // when it was started again, or when its last line was printed; older lines are left out
	again     bool      // the stream of its log has ended, and goes on after since
	label     string    // what its lines begin with
}

// found has the logs to print.
type found struct {
	started []runOf
	pods    int
	parts   string // the parts that there are
	unread  []error
	// otherContainers are those of other names than the one that was asked for.
	otherContainers []string
}

// find returns the containers that have started, in the order of their pods' age.
func (s *source) find(ctx context.Context) (found, error) {
	members, err := s.gather(ctx)
	if err != nil {
		return found{}, err
	}
	f := found{unread: members.Unread}
	parts := map[string]bool{}
	s.collect(members.Root, "", &f, parts)
	slices.Sort(f.otherContainers)
	f.otherContainers = slices.Compact(f.otherContainers)
	f.parts = connect.Some(slices.Sorted(maps.Keys(parts)))
	return f, nil
}

// say names each kind that the user may list and whose list failed, and each group that can't be discovered: their objects and the pods of
// these are missing. It names each once, and reports whether a request may succeed later.
func (s *source) say(unread []error) (failed bool) {
	for _, err := range unread {
		if apierrors.IsForbidden(err) {
			continue
		}
		failed = failed || !connect.IsRefusal(err)
		if request, _, _ := strings.Cut(err.Error(), ": "); !slices.Contains(s.said, request) {
			s.said = append(s.said, request)
			fmt.Fprintf(s.errs, "%v; logs of pods below such objects may be missing\n", err)
		}
	}
	return failed
}

// collect walks down a family. What is said of a Job holds for its pods.
func (s *source) collect(m *family.Member, part string, f *found, parts map[string]bool) {
	for _, label := range partLabels {
		if value := m.GetLabels()[label]; value != "" {
			part = value
			parts[value] = true
		}
	}
	if m.GetKind() == "Pod" && m.GetAPIVersion() == "v1" && (s.part == "" || strings.EqualFold(s.part, part)) {
		pod := &corev1.Pod{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(m.Object, pod) == nil {
			f.pods++
			f.otherContainers = append(f.otherContainers, s.others(pod)...)
			f.started = append(f.started, s.started(pod)...)
		}
	}
	for _, child := range m.Owned {
		s.collect(child, part, f, parts)
	}
}

// others returns the names of a pod's containers, unless it has the one that was asked for.
func (s *source) others(pod *corev1.Pod) []string {
	var names []string
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if c.Name == s.container {
			return nil
		}
		names = append(names, c.Name)
	}
	if s.container == "" {
		return nil
	}
	return names
}

// started returns the containers of a pod that have started.
func (s *source) started(pod *corev1.Pod) []runOf {
	var all []runOf
	statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
	for _, c := range statuses {
		if s.container != "" && c.Name != s.container {
			continue
		}
		if c.State.Running == nil && c.State.Terminated == nil && c.LastTerminationState.Terminated == nil {
			continue
		}
		r := runOf{
			pod: pod.Name, container: c.Name, uid: string(pod.UID), restarts: c.RestartCount, runs: c.State.Running != nil, label: pod.Name,
		}
		if len(statuses) > 1 && s.container == "" {
			r.label += "/" + c.Name
		}
		if c.RestartCount > 0 && c.State.Running != nil {
			r.since = c.State.Running.StartedAt.Time
		}
		all = append(all, r)
	}
	return all
}
