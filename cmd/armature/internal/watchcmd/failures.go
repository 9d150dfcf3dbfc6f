package watchcmd

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
)

const (
	// tailLines is how many lines are shown of a node that failed.
	tailLines = 5
	// mostTails is of how many rows: those that failed first.
	mostTails = 5
	// tailPatience is how long the end of the command waits for logs.
	tailPatience = 5 * time.Second
)

// tails are the last lines that rows printed that failed, by their names.
type tails map[string][]string

// tail is what a row printed last.
type tail struct {
	row   string
	lines []string
}

// failures reads the logs of rows that fail, each once, when it has failed.
type failures struct {
	pods  typedcorev1.PodInterface
	tails tails
	found chan tail

	asked   map[string]int32 // the attempt of each row whose log was asked for
	pending int
}

func newFailures(pods typedcorev1.PodInterface) *failures {
	return &failures{pods: pods, tails: tails{}, found: make(chan tail, mostTails), asked: map[string]int32{}}
}

// read asks for the logs of rows that have failed since it was last called.
func (f *failures) read(ctx context.Context, rows []row) {
	for _, r := range rows {
		attempt, isKnown := f.asked[r.name]
		if r.state != v1alpha1.FlowFailed || r.pods == "" || (isKnown && attempt == r.attempt) ||
			f.pending >= mostTails || (!isKnown && len(f.asked) >= mostTails) {
			continue
		}
		f.asked[r.name] = r.attempt
		delete(f.tails, r.name) // of an attempt before
		f.pending++
		go func() { f.found <- tail{r.name, f.tailOf(ctx, r.pods)} }()
	}
}

// keep takes up what was read.
func (f *failures) keep(t tail) {
	f.pending--
	f.tails[t.row] = t.lines
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

// tailOf returns what the last of some pods that failed printed last; nothing if that can't be read, since it only helps.
func (f *failures) tailOf(ctx context.Context, pods string) []string {
	list, err := f.pods.List(ctx, metav1.ListOptions{LabelSelector: pods})
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

// failedContainer returns the container that a pod failed by, or the first one if the pod was evicted.
func failedContainer(pod *corev1.Pod) string {
	return cmp.Or(diagnose.FailedContainer(pod), pod.Spec.Containers[0].Name)
}
