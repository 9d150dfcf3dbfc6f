package effect

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/internal/wellknown"
)

// Journal is what is recorded of one effect.
type Journal struct {
	Object         *appsv1.ControllerRevision
	Performer, Key string
	Order          int64
	Spec           Spec
	State          State

	digest string // of the desired state
	damage error  // what can't be read
}

// Spec is the desired state of an effect in its journal.
type Spec struct {
	Payload json.RawMessage `json:"payload,omitempty"`
	// Secrets are the names, UIDs and versions of Secrets. Another version is another desired state.
	Secrets []string `json:"secrets,omitempty"`
	Retain  bool     `json:"retain,omitempty"`
}

// State is the state of an effect's performance in its journal.
type State struct {
	// For is what the rest is about: the digest of the desired state, or undo.
	For string `json:"for,omitempty"`
	// Done reports whether the effect was performed.
	Done bool `json:"done,omitempty"`
	// Attempts are the attempts since the last success, including one that has begun.
	Attempts int `json:"attempts,omitempty"`
	// RetryAt is when the next attempt begins, if the present one doesn't succeed.
	RetryAt *metav1.Time `json:"retryAt,omitempty"`
	// Error is what the last attempt returned, empty if it has returned nothing yet.
	Error string `json:"error,omitempty"`
	// Result is what the last successful performance returned.
	Result json.RawMessage `json:"result,omitempty"`
}

// undo is State.For of an effect that is being undone.
const undo = "undo"

// identity is the content of a journal's data.
type identity struct {
	Key       string `json:"key"`
	Performer string `json:"performer"`
}

// Render returns the journal of an effect as a desired object. d.Err is what can't be rendered.
func Render(owner client.Object, d *Desired, payload any, retain bool) *appsv1.ControllerRevision {
	if kinds.IsNil(owner) {
		d.Err = fmt.Errorf("effect %q: its owner is nil; give the owner of the plan", d.Key)
		return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name("", d)}}
	}
	spec := Spec{Retain: retain}
	for i, s := range d.Secrets {
		if s == nil {
			d.Err = fmt.Errorf("effect %q: its Secrets[%d] is nil; a plan waits for a Secret that Lookup doesn't find", d.Key, i)
			return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: owner.GetNamespace(), Name: name(owner.GetName(), d)}}
		}
		spec.Secrets = append(spec.Secrets, fmt.Sprintf("%s/%s/%s", s.Name, s.UID, s.ResourceVersion))
	}
	var err error
	if payload != nil {
		spec.Payload, err = json.Marshal(payload)
	}
	text, specErr := json.Marshal(spec)
	data, dataErr := json.Marshal(identity{Key: d.Key, Performer: d.Performer})
	switch {
	case err != nil:
		d.Err = fmt.Errorf("effect %q: its Payload is a %T, which has no JSON form: %w", d.Key, payload, err)
	case specErr != nil || dataErr != nil:
		d.Err = fmt.Errorf("effect %q: it has no JSON form", d.Key)
	case len(text) > maxPayload:
		d.Err = fmt.Errorf("effect %q: its Payload has %d bytes; a journal takes %d", d.Key, len(text), maxPayload)
	}
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.GetNamespace(), Name: name(owner.GetName(), d),
			Annotations: map[string]string{wellknown.AnnotationEffect: string(text)},
			Finalizers:  []string{wellknown.FinalizerEffect},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: d.Order,
	}
}

// name returns the name of a journal. It has the key in a readable form, and a hash that tells keys apart.
func name(owner string, d *Desired) string {
	readable := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(d.Key))
	const most = 200 // of the 253 bytes of a name
	readable = owner + "-" + readable
	readable = strings.Trim(readable[:min(len(readable), most)], "-.")
	return readable + "-" + digest(d.Performer + "\x00" + d.Key)[:10]
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// Is reports whether an object is a journal.
func Is(obj client.Object) bool {
	_, typed := obj.(*appsv1.ControllerRevision)
	return typed && IsMarked(obj)
}

// IsMarked reports whether an object, which may have only metadata, has the finalizer of a journal.
func IsMarked(obj client.Object) bool {
	return slices.Contains(obj.GetFinalizers(), wellknown.FinalizerEffect)
}

// Read returns the journal in an object for which Is is true.
func Read(obj client.Object) *Journal {
	r := obj.(*appsv1.ControllerRevision)
	j := &Journal{Object: r, Order: r.Revision}
	var of identity
	if err := json.Unmarshal(r.Data.Raw, &of); err != nil {
		j.damage = fmt.Errorf("field data: %w", err)
	}
	j.Performer, j.Key = of.Performer, of.Key
	text := r.Annotations[wellknown.AnnotationEffect]
	j.digest = digest(text)
	if err := json.Unmarshal([]byte(text), &j.Spec); err != nil && j.damage == nil {
		j.damage = fmt.Errorf("annotation %s: %w", wellknown.AnnotationEffect, err)
	}
	j.readState()
	return j
}

// readState reads the state of the performance. A state that can't be read is none: the effect is performed again.
func (j *Journal) readState() {
	var s State
	if err := json.Unmarshal([]byte(j.Object.Annotations[wellknown.AnnotationEffectState]), &s); err == nil {
		j.State = s
	}
}

// IsDone reports whether the desired state was performed.
func (j *Journal) IsDone() bool { return j.State.Done && j.State.For == j.digest }

// Failed returns the error of the last attempt for the present purpose, empty for none.
func (j *Journal) Failed() string {
	if j.damage != nil {
		return j.damage.Error()
	}
	if j.State.For == j.purpose() {
		return j.State.Error
	}
	return ""
}

// IsUndone reports whether the journal is terminating, and its effect is to be undone.
func (j *Journal) IsUndone() bool { return j.Object.DeletionTimestamp != nil }

func (j *Journal) purpose() string {
	if j.IsUndone() {
		return undo
	}
	return j.digest
}

// String names the effect: `postgres "database/orders"`.
func (j *Journal) String() string { return fmt.Sprintf("%s %q", j.Performer, j.Key) }

// Call returns the argument of a performer. Secrets are those of the plan.
func (j *Journal) Call(owner client.Object, of *Desired) Call {
	c := Call{
		Owner: client.ObjectKeyFromObject(owner), Key: j.Key, Payload: j.Spec.Payload, Attempt: j.State.Attempts,
		ID: digest(strings.Join([]string{string(owner.GetUID()), j.Performer, j.Key, j.purpose(), j.digest}, "\x00")),
	}
	if of != nil && len(of.Secrets) > 0 {
		c.Secrets = map[string]map[string][]byte{}
		for _, s := range of.Secrets {
			c.Secrets[s.Name] = s.Data
		}
	}
	return c
}

// StatePatch returns the merge patch that records a state. It has the observed version, so that a journal that has changed is a
// conflict.
func (j *Journal) StatePatch(s State) ([]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return j.patch(map[string]any{"annotations": map[string]any{wellknown.AnnotationEffectState: string(text)}})
}

// ReleasePatch returns the merge patch that lets the API server delete a terminating journal.
func (j *Journal) ReleasePatch() ([]byte, error) {
	kept := slices.DeleteFunc(slices.Clone(j.Object.Finalizers), func(f string) bool { return f == wellknown.FinalizerEffect })
	return j.patch(map[string]any{"finalizers": kept})
}

func (j *Journal) patch(meta map[string]any) ([]byte, error) {
	meta["uid"], meta["resourceVersion"] = j.Object.UID, j.Object.ResourceVersion
	return json.Marshal(map[string]any{"metadata": meta})
}

// Successor returns an object that the API server creates in a dry run exactly if it would create a new journal in place of j.
func (j *Journal) Successor() *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: j.Object.Namespace, Name: j.Object.Name + "-new", OwnerReferences: j.Object.OwnerReferences,
			Labels: j.Object.Labels, Annotations: j.Object.Annotations, Finalizers: j.Object.Finalizers,
		},
		Data: j.Object.Data, Revision: j.Object.Revision,
	}
}
