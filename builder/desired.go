package builder

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// desired is one object that should exist. What is needed to compare it with a cluster (a copy, with the owner on it,
// and its digest) is made by stamp, unless the hash says already that nothing has changed.
type desired struct {
	key    store.Key
	kind   kinds.Kind
	child  Child  // as it was given
	hash   uint64 // of the object given
	hashed bool

	object   client.Object  // a copy of given, with namespace, label, owner reference and digest
	compared client.Object  // the same, without what is ignored
	fields   map[string]any // the same, as it is applied
	first    map[string]any // the same, as it is created; nil if that is no different
	digest   string
	ignored  []paths.Path
	released *fieldpath.Set // fields of ours that stay and are to be no one's

	neverWritten bool // the engine has never written the observed object

	write *write // preallocated; nil once it is used
}

// keyOf returns the kind and key of a child. It must have a name, and must be where its owner is, since garbage collection and the
// owner reference reach no other namespace, unless it has [CrossNamespace]. All keys of children come from here.
func (p *pass) keyOf(child Child) (kinds.Kind, store.Key, error) {
	obj := child.object
	k, err := p.engine.kinds.Of(obj)
	if err != nil {
		return k, store.Key{}, err
	}
	key := k.Key(obj)
	if key.Name == "" {
		return k, key, fmt.Errorf("%w: metadata.name of a %s is empty; a child needs a fixed name "+
			"(generateName would make a twin in each pass)", ErrMisuse, k.GVK.Kind)
	}
	namespaced, err := p.engine.kinds.IsNamespaced(k, obj)
	if err != nil {
		return k, key, &Error{Key: key, Operation: "read", Err: err}
	}
	if child.crossNamespace {
		key, err = keyCrossNamespace(key, namespaced)
		return k, key, err
	}
	home := p.owner.GetNamespace()
	switch {
	case !namespaced && home != "":
		return k, key, fmt.Errorf("%w: %s is cluster-scoped and its owner %s is not: garbage collection would never remove it; see CrossNamespace",
			ErrMisuse, key, p.ownerKey)
	case !namespaced:
		key.Namespace = "" // of no meaning
	case key.Namespace == "" && home == "":
		return k, key, fmt.Errorf("%w: metadata.namespace of %s is empty and its owner has none", ErrMisuse, key)
	case key.Namespace == "":
		key.Namespace = home
	case home != "" && key.Namespace != home:
		return k, key, fmt.Errorf("%w: metadata.namespace of %s must be that of its owner, %s: garbage collection takes an owner in another "+
			"namespace for absent and would delete the child; see CrossNamespace", ErrMisuse, key, home)
	}
	return k, key, nil
}

// desire adds a child to the desired objects of the pass. It must not be one of them yet.
func (p *pass) desire(child Child) (*desired, error) {
	k, key, err := p.keyOf(child)
	if err != nil {
		return nil, p.engine.kinds.NoteMissing(k.GVK, err)
	}
	if !p.desired.Put(key) {
		return nil, fmt.Errorf("%w: %s is desired twice", ErrMisuse, key)
	}
	if len(p.slots) == 0 {
		p.allocate(1)
	}
	d := &p.slots[0].desired
	d.write = &p.slots[0].write
	p.slots = p.slots[1:]
	d.kind, d.key, d.child = k, key, child
	if err := d.checkRetain(); err != nil {
		return nil, err
	}
	if child.once {
		return d, d.checkOnce()
	}
	d.hash, d.hashed = child.hash()
	return d, nil
}

// stamp renders a child into what is compared and sent. The child's object stays as it is.
func (d *desired) stamp(p *pass) error {
	if d.object != nil {
		return nil
	}
	obj, err := d.withOwner(p)
	if err != nil {
		return err
	}
	if d.child.once {
		d.object = obj
		return nil
	}
	how := d.child.how
	if how != nil {
		if err := d.checkPolicy(); err != nil {
			return err
		}
		if err := d.setHash(p, obj); err != nil {
			return err
		}
	}
	fields, err := payload.Of(obj, d.kind.GVK)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMisuse, err)
	}
	if how != nil && len(how.Ignored) > 0 {
		d.first = runtime.DeepCopyJSON(fields)
		if err := d.leaveOut(fields); err != nil {
			return err
		}
	}
	if d.digest, err = payload.Digest(fields); err != nil {
		return fmt.Errorf("%w: digest of %s: %w", ErrMisuse, d.key, err)
	}
	// The digest goes where the next pass, and the next process, finds it.
	payload.SetAnnotation(obj, wellknown.AnnotationDigest, d.digest)
	for _, fields := range []map[string]any{fields, d.first} {
		if fields == nil {
			continue
		}
		if err := unstructured.SetNestedField(fields, d.digest, "metadata", "annotations", wellknown.AnnotationDigest); err != nil {
			return fmt.Errorf("%w: annotations of %s: %w", ErrMisuse, d.key, err)
		}
	}
	d.object, d.fields, d.compared = obj, fields, obj
	if len(d.ignored) > 0 {
		d.compared, err = d.toCompare()
	}
	return err
}

// withOwner returns a copy of what was given, in its namespace, with the owner and the builder's label on it, and without
// what only the server sets.
func (d *desired) withOwner(p *pass) (client.Object, error) {
	obj := d.child.object.DeepCopyObject().(client.Object)
	payload.Clean(obj)
	obj.SetNamespace(d.key.Namespace)
	if obj.GetLabels()[wellknown.LabelManagedBy] == "" {
		payload.SetLabel(obj, wellknown.LabelManagedBy, wellknown.ManagedBy)
	}
	refs := slices.DeleteFunc(obj.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == p.owner.GetUID() })
	for _, ref := range refs {
		if ref.Controller != nil && *ref.Controller {
			return nil, fmt.Errorf("%w: metadata.ownerReferences of %s has a controller, %s %s; it shall be %s",
				ErrMisuse, d.key, ref.Kind, ref.Name, p.ownerKey)
		}
	}
	switch {
	case d.child.crossNamespace:
		p.marks.SetCrossNamespace(obj)
	case d.child.retained():
		p.marks.SetRetained(obj)
	default:
		refs = append(refs, inventory.ControllerReference(p.owner, p.ownerKind))
	}
	obj.SetOwnerReferences(refs)
	return obj, nil
}
