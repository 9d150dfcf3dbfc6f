package uiserver

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
	"github.com/armature-dev/armature/cmd/armature/internal/explaincmd"
	"github.com/armature-dev/armature/cmd/armature/internal/family"
	"github.com/armature-dev/armature/operators/jobflow"
)

const (
	// restAfterExplain is the shortest time between two explanations of a stream, and busyShare how many times an explanation's own
	// time the next one waits: so explaining takes at most a tenth of the time, however large a flow is.
	restAfterExplain = 2 * time.Second
	busyShare        = 9
	// maxExplanations is how many explanations are made at a time, and of each user one: each holds the children and the events of a
	// namespace.
	maxExplanations = 2
	// maxExplanation limits the time of an explanation, because a slot is one of few: an API server may accept a request and never answer.
	maxExplanation = time.Minute
)

var errUnanswered = fmt.Errorf("the API server has not answered all requests within %s", maxExplanation)

// explaining are the slots of all viewers.
var explaining = newSlots(maxExplanations)

// explained is an answer of explain.
type explained struct {
	diagnose.Finding
	Unread []string `json:"unread,omitempty"`

	members []types.UID // and no more of them than their pods: the objects can be large
	pods    []podView
}

// explainer explains an object again when it is asked, beside the stream, and never twice at once.
type explainer struct {
	slots *slots
	user  any // who the slot is taken for
	wake  chan<- struct{}

	mu     sync.Mutex
	busy   bool
	next   func(context.Context) explained // what to explain after this one; nil: nothing
	latest *explained
}

// ask has the object explained, now or after a rest.
func (e *explainer) ask(ctx context.Context, explain func(context.Context) explained) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.busy {
		e.next = explain
		return
	}
	e.busy = true
	go e.work(ctx, explain)
}

func (e *explainer) work(ctx context.Context, explain func(context.Context) explained) {
	for {
		leave, err := e.slots.take(ctx, e.user)
		if err != nil {
			return
		}
		began := time.Now()
		limited, cancel := context.WithTimeoutCause(ctx, maxExplanation, errUnanswered)
		answer := explain(limited)
		cancel()
		leave()
		e.mu.Lock()
		e.latest = &answer
		e.mu.Unlock()
		select {
		case e.wake <- struct{}{}:
		default:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(restAfterExplain, busyShare*time.Since(began))):
		}
		e.mu.Lock()
		explain, e.next = e.next, nil
		e.busy = explain != nil
		e.mu.Unlock()
		if explain == nil {
			return
		}
	}
}

// take returns a new answer, nil if there is none.
func (e *explainer) take() *explained {
	e.mu.Lock()
	defer e.mu.Unlock()
	answer := e.latest
	e.latest = nil
	return answer
}

// explain explains an object, which the feed keeps, or a node of a JobFlow, as "armature explain" does. What can't be read is said in the
// answer.
func (v *Viewer) explain(ctx context.Context, object []byte, node string) explained {
	root, err := objectOf(object)
	if err != nil {
		return unexplained(ctx, err)
	}
	from := family.Source{Client: v.cluster.Client, Discovery: v.cluster.Discovery}
	if node != "" {
		from.Labels = client.MatchingLabels{
			jobflow.LabelJobFlow: labelValue(root.GetName()), jobflow.LabelFlow: labelValue(node),
		}
	}
	members, err := from.Gather(ctx, root)
	var found explaincmd.Explanation
	if err == nil {
		found, err = explaincmd.Of(ctx, v.cluster, members, node, time.Now())
	}
	if err != nil {
		return unexplained(ctx, err)
	}
	answer := explained{Finding: found.Finding}
	for _, err := range found.Unread {
		answer.Unread = append(answer.Unread, err.Error())
	}
	answer.add(members.Root)
	return answer
}

// add adds a family.
func (e *explained) add(m *family.Member) {
	e.members = append(e.members, m.GetUID())
	if m.GetKind() == "Pod" && m.GetAPIVersion() == "v1" && len(e.pods) < maxPods {
		e.pods = append(e.pods, podViewOf(m.Unstructured))
	}
	for _, child := range m.Owned {
		e.add(child)
	}
}

// unexplained is the answer if an explanation fails, or takes too long.
func unexplained(ctx context.Context, err error) explained {
	return explained{Finding: diagnose.Finding{Message: "it can't be explained: " + cmp.Or(context.Cause(ctx), err).Error()}}
}
