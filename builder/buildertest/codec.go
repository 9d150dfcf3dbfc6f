package buildertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest/internal/defaults"
	"github.com/armature-dev/armature/builder/buildertest/internal/rules"
)

// Objects are encoded as JSON here too, so that the same information is lost as in a real cluster (fractions of seconds, nil beside
// empty).

// decode returns a client's object as the server would decode it, with defaults.
func (s *Server) decode(k kind, obj client.Object) (client.Object, error) {
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	return s.decodeJSON(k, data)
}

func (s *Server) decodeJSON(k kind, data []byte) (client.Object, error) {
	into := k.empty()
	if err := unmarshal(data, into, k.gvk); err != nil {
		return nil, err
	}
	rules.Decode(into)
	s.setDefaults(into)
	return into, nil
}

// setDefaults sets defaults, and changes the metadata as decoding does.
func (s *Server) setDefaults(obj runtime.Object) {
	defaults.Set(obj)
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return
	}
	if c := s.crds[u.GroupVersionKind()]; c != nil {
		c.Prune(u.Object)
		c.Default(u.Object)
	}
	if metadata, ok := u.Object["metadata"].(map[string]any); ok && metadata["creationTimestamp"] == nil {
		delete(metadata, "creationTimestamp")
	}
}

func unmarshal(data []byte, into client.Object, gvk schema.GroupVersionKind) error {
	if u, ok := into.(*unstructured.Unstructured); ok {
		u.Object = map[string]any{}
		if err := utiljson.Unmarshal(data, &u.Object); err != nil {
			return err
		}
		u.SetGroupVersionKind(gvk)
		return nil
	}
	if err := utiljson.Unmarshal(data, into); err != nil {
		return err
	}
	into.GetObjectKind().SetGroupVersionKind(gvk)
	return nil
}

// read is a stored object in the form of a client's Go type.
type read struct {
	stored client.Object
	as     reflect.Type
}

// encode writes a stored, immutable object into a client's object. It converts the object through JSON once for each Go type, and
// copies the result for later reads.
func (s *Server) encode(stored client.Object, gvk schema.GroupVersionKind, into client.Object) error {
	as := reflect.TypeOf(into).Elem()
	known, ok := s.reads.Load(read{stored, as})
	if !ok {
		fresh := reflect.New(as).Interface().(client.Object)
		if err := transfer(stored, gvk, fresh); err != nil {
			return err
		}
		known, _ = s.reads.LoadOrStore(read{stored, as}, fresh)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(known.(client.Object).DeepCopyObject()).Elem())
	return nil
}

// transfer decodes a stored object into an empty one of a client. As from a real client, typed objects have no kind.
func transfer(stored client.Object, gvk schema.GroupVersionKind, into client.Object) error {
	data, err := json.Marshal(stored)
	if err != nil {
		return err
	}
	if err := unmarshal(data, into, gvk); err != nil {
		return fmt.Errorf("decode %s into %T: %w", gvk.Kind, into, err)
	}
	switch into.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata:
	default:
		into.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return nil
}

// maxRequest is the size of the largest request to etcd.
const maxRequest = 1.5 * 1024 * 1024

// checkSize refuses an object that etcd doesn't store: a built-in one in its binary form, another one as JSON. A dry run stores nothing.
func checkSize(r *request, obj client.Object) error {
	if r.DryRun {
		return nil
	}
	size := 0
	if o, ok := obj.(interface{ Size() int }); ok {
		size = o.Size()
	} else if data, err := json.Marshal(obj); err == nil {
		size = len(data)
	}
	if size > maxRequest {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: "etcdserver: request is too large",
		}}
	}
	return nil
}

// asMap returns the JSON form of an object.
func asMap(obj any) (map[string]any, error) {
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	m := map[string]any{}
	return m, utiljson.Unmarshal(data, &m)
}

func copyOf(obj client.Object) client.Object { return obj.DeepCopyObject().(client.Object) }
