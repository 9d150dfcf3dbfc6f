package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// step is one call and its reply.
type step struct {
	Step   string         `json:"step"`
	Note   any            `json:"note,omitempty"`
	Error  *failure       `json:"error,omitempty"`
	Object map[string]any `json:"object,omitempty"`
}

// failure is an error as the API server sends it.
type failure struct {
	Code    int32    `json:"code,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	Message string   `json:"message"`
	Causes  []string `json:"causes,omitempty"`
}

// session runs one case.
type session struct {
	t          *testing.T
	ctx        context.Context
	client     client.WithWatch
	namespace  string
	other      string
	target     Target
	transcript []step
	uids       map[types.UID]string
	keepStatus bool // in the transcript
}

func newSession(t *testing.T, target Target) *session {
	return &session{
		t: t, ctx: t.Context(), client: target.Client, target: target,
		namespace: target.Namespaces[0], other: target.Namespaces[1],
		uids: map[types.UID]string{},
	}
}

// did records a call in the transcript, with the returned object or the error.
func (s *session) did(name string, obj client.Object, err error) {
	s.t.Helper()
	entry := step{Step: name}
	if err != nil {
		entry.Error = asFailure(err)
	} else if obj != nil {
		entry.Object = s.show(obj)
	}
	s.transcript = append(s.transcript, entry)
}

// note records an observation.
func (s *session) note(name string, value any) {
	s.transcript = append(s.transcript, step{Step: name, Note: value})
}

func asFailure(err error) *failure {
	var api apierrors.APIStatus
	if !errors.As(err, &api) {
		return &failure{Message: err.Error()}
	}
	st := api.Status()
	f := &failure{Code: st.Code, Reason: string(st.Reason), Message: withoutValues(st.Message)}
	if st.Details != nil {
		for _, c := range st.Details.Causes {
			f.Causes = append(f.Causes, fmt.Sprintf("%s %s: %s", c.Field, c.Type, withoutValues(c.Message)))
		}
	}
	return f
}

func (s *session) create(name string, obj client.Object, opts ...client.CreateOption) client.Object {
	s.t.Helper()
	s.place(obj)
	err := s.client.Create(s.ctx, obj, opts...)
	s.did(name, obj, err)
	return obj
}

func (s *session) update(name string, obj client.Object, opts ...client.UpdateOption) {
	s.t.Helper()
	err := s.client.Update(s.ctx, obj, opts...)
	s.did(name, obj, err)
}

func (s *session) patch(name string, obj client.Object, kind types.PatchType, body string, opts ...client.PatchOption) {
	s.t.Helper()
	patched := like(obj)
	err := s.client.Patch(s.ctx, patched, client.RawPatch(kind, []byte(body)), opts...)
	s.did(name, patched, err)
}

// apply applies an untyped object, given as JSON or YAML without its namespace.
func (s *session) apply(name string, obj map[string]any, opts ...client.PatchOption) {
	s.t.Helper()
	u := s.untyped(obj)
	body, err := json.Marshal(u.Object)
	if err != nil {
		s.t.Fatal(err)
	}
	answer := &unstructured.Unstructured{}
	answer.SetGroupVersionKind(u.GroupVersionKind())
	answer.SetName(u.GetName())
	answer.SetNamespace(s.namespace)
	err = s.client.Patch(s.ctx, answer, client.RawPatch(types.ApplyPatchType, body), opts...)
	s.did(name, answer, err)
}

func (s *session) delete(name string, obj client.Object, opts ...client.DeleteOption) {
	s.t.Helper()
	s.did(name, nil, s.client.Delete(s.ctx, obj, opts...))
}

// read records the present object.
func (s *session) read(name string, obj client.Object) client.Object {
	s.t.Helper()
	now := like(obj)
	err := s.client.Get(s.ctx, client.ObjectKeyFromObject(obj), now)
	s.did(name, now, err)
	return now
}

// fresh returns the present object, without a record.
func (s *session) fresh(obj client.Object) client.Object {
	s.t.Helper()
	now := like(obj)
	if err := s.client.Get(s.ctx, client.ObjectKeyFromObject(obj), now); err != nil {
		s.t.Fatalf("read %s: %v", obj.GetName(), err)
	}
	return now
}

// given creates an object that a case needs, without a record.
func (s *session) given(obj client.Object) client.Object {
	s.t.Helper()
	s.place(obj)
	if err := s.client.Create(s.ctx, obj); err != nil {
		s.t.Fatalf("create %T %s: %v", obj, obj.GetName(), err)
	}
	return obj
}

func (s *session) exists(obj client.Object) bool {
	err := s.client.Get(s.ctx, client.ObjectKeyFromObject(obj), like(obj))
	if err != nil && !apierrors.IsNotFound(err) {
		s.t.Fatal(err)
	}
	return err == nil
}

// goes waits until an object is deleted, and records whether it was.
func (s *session) goes(name string, obj client.Object) {
	s.note(name, s.target.Await(func() bool { return !s.exists(obj) }))
}

// keepsVersion records whether a write without a change keeps the resource version.
func (s *session) keepsVersion(name string, obj client.Object, write func(now client.Object) error) {
	s.t.Helper()
	tries := 1
	if s.target.Busy {
		tries = 20
	}
	kept := false
	for range tries {
		now := s.fresh(obj)
		before := now.GetResourceVersion()
		if err := write(now); err != nil && !apierrors.IsConflict(err) {
			s.t.Fatalf("%s: %v", name, err)
		}
		kept = s.fresh(obj).GetResourceVersion() == before
		if kept {
			break
		}
	}
	s.note(name, kept)
}

func (s *session) place(obj client.Object) {
	if namespaced, err := s.client.IsObjectNamespaced(obj); err == nil && namespaced && obj.GetNamespace() == "" {
		obj.SetNamespace(s.namespace)
	}
}

func (s *session) untyped(content map[string]any) *unstructured.Unstructured {
	u := (&unstructured.Unstructured{Object: content}).DeepCopy()
	u.SetNamespace(s.namespace)
	return u
}

func copyOf[T client.Object](obj T) T { return obj.DeepCopyObject().(T) }

// like returns an empty object of the kind and name of another.
func like(obj client.Object) client.Object {
	u := &unstructured.Unstructured{}
	if o, ok := obj.(*unstructured.Unstructured); ok {
		u.SetGroupVersionKind(o.GroupVersionKind())
	} else {
		gvks, _, err := scheme.ObjectKinds(obj)
		if err != nil {
			panic(err)
		}
		u.SetGroupVersionKind(gvks[0])
	}
	u.SetName(obj.GetName())
	u.SetNamespace(obj.GetNamespace())
	return u
}

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
