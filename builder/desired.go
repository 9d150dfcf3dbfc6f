package builder

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/store"
)

// desired is one object that should exist, stamped with its owner.
type desired struct {
	key    store.Key
	gvk    schema.GroupVersionKind
	object client.Object // a copy: what was given, with namespace, label, owner reference
	fields map[string]any
	digest string
}

// stamp makes of a wanted object what will be compared and sent. The given object stays as it is.
func (p *pass) stamp(given client.Object) (*desired, error) {
	gvk, err := apiutil.GVKForObject(given, p.engine.client.Scheme())
	if err != nil {
		return nil, fmt.Errorf("%w: %T is no registered kind: %w", ErrMisuse, given, err)
	}
	key, err := p.keyOf(given, gvk)
	if err != nil {
		return nil, err
	}
	obj := given.DeepCopyObject().(client.Object)
	clearServerFields(obj)
	obj.SetNamespace(key.Namespace)
	labels := obj.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	if _, ok := labels[LabelManagedBy]; !ok {
		labels[LabelManagedBy] = ManagedBy
	}
	obj.SetLabels(labels)
	obj.SetOwnerReferences(append(obj.GetOwnerReferences(), controllerRef(p.owner, p.ownerKind)))
	if secret, ok := obj.(*corev1.Secret); ok {
		mergeStringData(secret)
	}
	d := &desired{key: key, gvk: gvk, object: obj}
	if d.fields, err = payload.Of(obj, gvk); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMisuse, err)
	}
	if d.digest, err = payload.Digest(d.fields); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMisuse, err)
	}
	d.annotate()
	return d, nil
}

// annotate writes the digest where the next pass, and the next process, finds it.
func (d *desired) annotate() {
	annotations := d.object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[AnnotationDigest] = d.digest
	d.object.SetAnnotations(annotations)

	meta, ok := d.fields["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		d.fields["metadata"] = meta
	}
	sent, ok := meta["annotations"].(map[string]any)
	if !ok {
		sent = map[string]any{}
		meta["annotations"] = sent
	}
	sent[AnnotationDigest] = d.digest
}

// key names a wanted object.
func (p *pass) key(obj client.Object) (store.Key, error) {
	gvk, err := apiutil.GVKForObject(obj, p.engine.client.Scheme())
	if err != nil {
		return store.Key{}, fmt.Errorf("%w: %T is no registered kind: %w", ErrMisuse, obj, err)
	}
	return p.keyOf(obj, gvk)
}

// keyOf names a child, which must have a name and live where its owner lives: garbage collection and the owner
// reference know no other place.
func (p *pass) keyOf(obj client.Object, gvk schema.GroupVersionKind) (store.Key, error) {
	namespaced, err := p.engine.client.IsObjectNamespaced(obj)
	if err != nil {
		return store.Key{}, fmt.Errorf("scope of %s: %w", gvk.Kind, err)
	}
	key := store.KeyOf(gvk, obj.GetNamespace(), obj.GetName())
	if namespaced && key.Namespace == "" {
		key.Namespace = p.owner.GetNamespace()
	}
	switch {
	case key.Name == "":
		return key, fmt.Errorf("%w: metadata.name of a %s is empty; a child needs a fixed name (generateName would make a twin in each pass)", ErrMisuse, gvk.Kind)
	case !namespaced && p.owner.GetNamespace() != "":
		return key, fmt.Errorf("%w: %s is cluster-scoped and its owner %s is not: garbage collection would never remove it", ErrMisuse, key, p.ownerKey)
	case namespaced && p.owner.GetNamespace() != "" && key.Namespace != p.owner.GetNamespace():
		return key, fmt.Errorf("%w: metadata.namespace of %s must be that of its owner, %s: an owner elsewhere counts as absent and the child would be collected", ErrMisuse, key, p.owner.GetNamespace())
	case key.Namespace == "" && namespaced:
		return key, fmt.Errorf("%w: metadata.namespace of %s is empty and its owner has none", ErrMisuse, key)
	}
	return key, nil
}

// clearServerFields removes what only the server sets, so that an object read from a cluster can be wanted as it is.
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
func mergeStringData(s *corev1.Secret) {
	if len(s.StringData) == 0 {
		return
	}
	if s.Data == nil {
		s.Data = map[string][]byte{}
	}
	for k, v := range s.StringData {
		s.Data[k] = []byte(v)
	}
	s.StringData = nil
}
