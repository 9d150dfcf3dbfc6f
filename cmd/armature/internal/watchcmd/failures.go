package watchcmd

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/flowstate"
	"github.com/armature-dev/armature/operators/jobflow"
)

const (
	// tailLines is how many lines are shown of a node that failed.
	tailLines = 5
	// mostTails is of how many nodes: those that failed first.
	mostTails = 5
	// tailPatience is how long the end of the command waits for logs.
	tailPatience = 5 * time.Second
)

// tails are the last lines that nodes printed that failed, by their names.
type tails map[string][]string

// tail is what a node printed last.
type tail struct {
	node  string
	lines []string
}

// failures reads the logs of nodes that fail, each once, when it has failed.
type failures struct {
	pods  typedcorev1.PodInterface
	tails tails
	found chan tail

	asked   map[string]int32 // the attempt of each node whose log was asked for
	pending int
}

func newFailures(pods typedcorev1.PodInterface) *failures {
	return &failures{pods: pods, tails: tails{}, found: make(chan tail, mostTails), asked: map[string]int32{}}
}

// read asks for the logs of nodes that have failed since it was last called.
func (f *failures) read(ctx context.Context, flow *v1alpha1.JobFlow) {
	for _, s := range flowstate.Of(flow) {
		attempt, isKnown := f.asked[s.Name]
		if s.State != v1alpha1.FlowFailed || (isKnown && attempt == s.Attempts) || f.pending >= mostTails || (!isKnown && len(f.asked) >= mostTails) {
			continue
		}
		f.asked[s.Name] = s.Attempts
		delete(f.tails, s.Name) // of an attempt before
		f.pending++
		go func() { f.found <- tail{s.Name, f.tailOf(ctx, flow, s.Name)} }()
	}
}

// keep takes up what was read.
func (f *failures) keep(t tail) {
	f.pending--
	f.tails[t.node] = t.lines
}

// await waits for what is being read.
func (f *failures) await(ctx context.Context) {
	late := time.NewTimer(tailPatience)
	defer late.Stop()
	for f.pending > 0 {
		select {
		case t := <-f.found:
			f.keep(t)
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// tailOf returns what the last pod of a node that failed printed last; nothing if that can't be read, since it only helps.
func (f *failures) tailOf(ctx context.Context, flow *v1alpha1.JobFlow, node string) []string {
	list, err := f.pods.List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(jobflow.PodLabels(flow, node)).String()})
	if err != nil {
		return nil
	}
	failed := slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodFailed })
	if len(failed) == 0 {
		return nil
	}
	last := slices.MaxFunc(failed, func(a, b corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	lines := int64(tailLines)
	body, err := f.pods.GetLogs(last.Name, &corev1.PodLogOptions{Container: failedContainer(&last), TailLines: &lines}).Stream(ctx)
	if err != nil {
		return nil
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, 64<<10))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// failedContainer returns the first container that failed.
func failedContainer(pod *corev1.Pod) string {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if s.State.Terminated != nil && s.State.Terminated.ExitCode != 0 {
			return s.Name
		}
	}
	return pod.Spec.Containers[0].Name
}
