package payload

import (
	"encoding/base64"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/internal/wellknown"
)

// Clean changes an object, which may come from a cluster, into one that can be desired: it removes the fields that only the server or
// the builder sets, and moves a Secret's write-only stringData to data.
func Clean(obj client.Object) {
	clearServerFields(obj)
	mergeStringData(obj)
}

// SetLabel sets a label of an object.
func SetLabel(obj client.Object, name, value string) {
	obj.SetLabels(with(obj.GetLabels(), name, value))
}

// SetAnnotation sets an annotation of an object.
func SetAnnotation(obj client.Object, name, value string) {
	obj.SetAnnotations(with(obj.GetAnnotations(), name, value))
}

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

func clearServerFields(obj client.Object) {
	obj.SetResourceVersion("")
	obj.SetUID("")
	obj.SetGeneration(0)
	obj.SetGenerateName("")
	obj.SetSelfLink("")
	obj.SetCreationTimestamp(metav1.Time{})
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetManagedFields(nil)
	if annotations := obj.GetAnnotations(); annotations[wellknown.AnnotationDigest] != "" {
		delete(annotations, wellknown.AnnotationDigest)
		if len(annotations) == 0 {
			annotations = nil // in an unstructured object an empty map would be a desired value
		}
		obj.SetAnnotations(annotations)
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		unstructured.RemoveNestedField(u.Object, "status")
		return
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // objects from a cache have none either
	if status := reflect.ValueOf(obj).Elem().FieldByName("Status"); status.IsValid() {
		status.SetZero()
	}
}

// mergeStringData moves a Secret's write-only stringData to data, as the server does, so that it can be compared.
func mergeStringData(obj client.Object) {
	switch s := obj.(type) {
	case *corev1.Secret:
		if len(s.StringData) > 0 && s.Data == nil {
			s.Data = map[string][]byte{}
		}
		for k, v := range s.StringData {
			s.Data[k] = []byte(v)
		}
		s.StringData = nil
	case *unstructured.Unstructured:
		if s.GetKind() != "Secret" || s.GetAPIVersion() != "v1" {
			return
		}
		stringData, _, err := unstructured.NestedStringMap(s.Object, "stringData")
		if err != nil {
			return // the server returns the error
		}
		for k, v := range stringData {
			_ = unstructured.SetNestedField(s.Object, base64.StdEncoding.EncodeToString([]byte(v)), "data", k)
		}
		delete(s.Object, "stringData")
	}
}
