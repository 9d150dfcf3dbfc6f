package uiserver

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// eventView is what the drawer shows of an event.
type eventView struct {
	UID     types.UID `json:"uid"`
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Count   int32     `json:"count"`
	Last    time.Time `json:"last"`
	About   string    `json:"about"`

	of types.UID
}

func eventViewOf(u *unstructured.Unstructured) eventView {
	e := &corev1.Event{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, e) != nil {
		return eventView{UID: u.GetUID()}
	}
	v := eventView{
		UID: e.UID, Type: e.Type, Reason: e.Reason, Message: e.Message, Count: max(1, e.Count), Last: e.LastTimestamp.Time,
		About: e.InvolvedObject.Kind + "/" + e.InvolvedObject.Name, of: e.InvolvedObject.UID,
	}
	if v.Last.IsZero() {
		v.Last = cmp.Or(e.EventTime.Time, e.CreationTimestamp.Time)
	}
	if e.Series != nil {
		v.Count, v.Last = max(v.Count, e.Series.Count), e.Series.LastObservedTime.Time
	}
	return v
}

// eventLog has the events of a namespace by their object, because an object can turn out to belong to a family after its events.
type eventLog struct {
	byObject map[types.UID]map[types.UID]eventView
	places   map[types.UID]types.UID
	members  map[types.UID]bool
}

func newEventLog() *eventLog {
	return &eventLog{
		byObject: map[types.UID]map[types.UID]eventView{}, places: map[types.UID]types.UID{}, members: map[types.UID]bool{},
	}
}

// take takes what has changed, and returns the events about members.
func (t *eventLog) take(c changes[eventView]) (about []eventView) {
	for _, e := range c.set {
		if t.byObject[e.of] == nil {
			t.byObject[e.of] = map[types.UID]eventView{}
		}
		t.byObject[e.of][e.UID], t.places[e.UID] = e, e.of
		if t.members[e.of] {
			about = append(about, e)
		}
	}
	for _, uid := range c.gone { // the page keeps earlier events
		of := t.places[uid]
		delete(t.byObject[of], uid)
		if len(t.byObject[of]) == 0 {
			delete(t.byObject, of)
		}
		delete(t.places, uid)
	}
	return about
}

// join makes an object a member, and returns its events if it wasn't one.
func (t *eventLog) join(uid types.UID) (about []eventView) {
	if uid == "" || t.members[uid] {
		return nil
	}
	t.members[uid] = true
	for _, e := range t.byObject[uid] {
		about = append(about, e)
	}
	slices.SortFunc(about, func(a, b eventView) int { return cmp.Or(a.Last.Compare(b.Last), cmp.Compare(a.UID, b.UID)) })
	return about
}
