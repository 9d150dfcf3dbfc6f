package builder

import (
	"errors"

	lru "github.com/hashicorp/golang-lru/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/errorlist"
)

// BuilderRecorder writes events about the owner. The zero value writes none.
//
// The reason of an event about a written or deleted object is ControllerName + CreateObjectSuccess, UpdateObjectSuccess or
// DeleteObjectSuccess. The reason of a failure is ControllerName + CreateObjectFail, UpdateObjectFail, DeleteObjectFail, GetObjectFail
// or, if it is about no single object, ReconcileFail. It reports a lasting failure once.
type BuilderRecorder struct {
	// Recorder is an event recorder, as manager.GetEventRecorderFor returns.
	Recorder record.EventRecorder
	// ControllerName is the prefix of the reasons.
	ControllerName string
}

// ToNewBuilderRecorder sets the recorder of events.
func ToNewBuilderRecorder(builder BuilderRecorder) func(*Builder) {
	return func(s *Builder) { s.Recorder = builder }
}

// GenericEvent writes an event about crObj. eventType is Normal or Warning, reason one word in UpperCamelCase, message a text for
// people.
func (b *BuilderRecorder) GenericEvent(crObj client.Object, eventType, reason, message string) {
	if b == nil || isNil(b.Recorder) || isNil(crObj) {
		return
	}
	b.Recorder.Event(crObj, eventType, reason, message)
}

// emit writes events about the result of a pass over the owner. Scope names the call, so that a success of one call doesn't end the
// failure of another. It doesn't report a conflict, because the pass is retried.
func (b *BuilderRecorder) emit(owner client.Object, scope string, res builder.Result, err error) {
	for _, c := range res.Changes {
		b.GenericEvent(owner, corev1.EventTypeNormal, b.ControllerName+successReason(c.Reason), c.Reason+" "+c.Key.String())
	}
	key := failureKey{owner.GetUID(), scope}
	before, _ := reported.Get(key)
	now := map[string]bool{}
	for _, e := range errorlist.Of(err) {
		if apierrors.IsConflict(e) {
			continue
		}
		message := e.Error()
		now[message] = true
		if !before[message] {
			b.GenericEvent(owner, corev1.EventTypeWarning, b.ControllerName+failureReason(e), message)
		}
	}
	if len(now) > 0 {
		reported.Add(key, now)
	} else if len(before) > 0 && err == nil {
		reported.Remove(key)
	}
}

func successReason(reason string) string {
	switch reason {
	case events.ReasonCreated:
		return "CreateObjectSuccess"
	case events.ReasonDeleted:
		return "DeleteObjectSuccess"
	default:
		return "UpdateObjectSuccess"
	}
}

func failureReason(err error) string {
	about := (*builder.Error)(nil)
	if !errors.As(err, &about) {
		return "ReconcileFail"
	}
	switch about.Operation {
	case "create":
		return "CreateObjectFail"
	case "delete":
		return "DeleteObjectFail"
	case "read":
		return "GetObjectFail"
	default:
		return "UpdateObjectFail"
	}
}

// failureKey identifies the owner and the call of a failure.
type failureKey struct {
	owner types.UID
	scope string
}

// reported has the messages of the last reported failures, by failureKey. A failure that it has forgotten, as after a restart, is
// reported again.
var reported, _ = lru.New[failureKey, map[string]bool](1 << 12) // fails only for a size below 1
