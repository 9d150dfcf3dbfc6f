package events_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-dev/armature/events"
)

// printer is a recorder; in a program it is what manager.GetEventRecorder returns.
type printer struct{}

func (printer) Eventf(_, related runtime.Object, eventtype, reason, action, note string, args ...any) {
	fmt.Println(eventtype, reason, action, fmt.Sprintf(note, args...))
	if pod, ok := related.(*corev1.Pod); ok {
		fmt.Println("related:", pod.Name)
	}
}

func ExampleEmit() {
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "flow"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "flow-job1-x7kq2"}}
	events.Emit(printer{}, owner, events.Normal("Completed", "all jobs have succeeded"))
	events.Emit(printer{}, owner, events.Warning("Retrying", "job1 failed: attempt 2 of 3").About(pod))
	// Output:
	// Normal Completed Reconcile all jobs have succeeded
	// Warning Retrying Reconcile job1 failed: attempt 2 of 3
	// related: flow-job1-x7kq2
}

// A plan returns its events; the builder emits them once the status that they tell of is written.
func ExampleWarning() {
	ev := events.Warning("DeadlineExceeded", "the flow ran for more than 1h")
	ev.Action = events.ActionPrune
	fmt.Println(ev.Type, ev.Reason, ev.Action)
	// Output: Warning DeadlineExceeded Prune
}
