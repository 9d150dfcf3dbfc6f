package apply

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/inventory"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// Cluster is the part of a pass over one owner that this package uses: the owner and its observed children, and the engine's clients.
type Cluster struct {
	*sources.Children
	// Client writes, and reads from the cache. In a dry run its writes are dry runs.
	Client client.Client
	// Live reads past the cache if ReadsLive is true, otherwise as Client.
	Live      client.Reader
	ReadsLive bool
	// Name is the field manager.
	Name string
	// Now returns the current time.
	Now func() time.Time
	// Parallelism limits the concurrent requests.
	Parallelism int
	// DryRun is true if all writes are dry runs. The steps then remember nothing.
	DryRun bool
	// OwnerKind is the kind of the owner.
	OwnerKind schema.GroupVersionKind

	// DesiredKeys are the keys of the pass's desired children. Desire adds to it.
	DesiredKeys store.Store

	slots []slot // for further children

	ownerConfirmed, ownerGone bool // the API server has the owner; it is deleted
}

// slot is a preallocated pair of a desired object and its write, so that an unchanged child allocates nothing.
type slot struct {
	desired Desired
	write   Write
}

// Allocate allocates the memory for n children at once. Single allocations are a large part of a pass's cost.
func (c *Cluster) Allocate(n int) {
	c.slots = make([]slot, n)
	c.DesiredKeys.Grow(n)
}

// Desired is one desired object. Stamp makes what a comparison needs (a copy with the owner on it, and its digest), unless the hash
// shows that nothing has changed.
type Desired struct {
	// Kind and Key identify the object.
	Kind kinds.Kind
	Key  store.Key
	// Child is the child as it was given.
	Child *Child
	// Hash is the hash of the child; Hashed is false if it has none.
	Hash   uint64
	Hashed bool
	// Digest is the digest of the applied fields. Stamp sets it.
	Digest string

	object   client.Object  // a copy of the child's, with namespace, label, owner reference and digest: the body of a create
	compared client.Object  // object without the ignored fields: compared with the observed object
	fields   map[string]any // compared as decoded from JSON: the body of an apply
	first    map[string]any // fields with the ignored ones, for a revision; nil if none is ignored
	ignored  []paths.Path
	released *fieldpath.Set // fields of the builder that stay in the object without a manager

	neverWritten bool // the engine has never written the observed object

	write *Write // preallocated; nil after its use
}

// Desire adds a child to the desired objects of the pass. The child must not be among them yet, and must not change during the pass.
func (c *Cluster) Desire(child *Child) (*Desired, error) {
	k, key, err := c.KeyOf(child)
	if err != nil {
		return nil, c.Kinds.NoteMissing(k.GVK, err)
	}
	if !c.DesiredKeys.Put(key) {
		return nil, fmt.Errorf("%w: %s is desired twice", failure.ErrMisuse, key)
	}
	if len(c.slots) == 0 {
		c.Allocate(1)
	}
	next := &c.slots[0]
	c.slots = c.slots[1:]
	d := &next.desired
	d.Kind, d.Key, d.Child, d.write = k, key, child, &next.write
	if err := d.checkRetain(); err != nil {
		return nil, err
	}
	if child.CreateOnly {
		return d, d.checkCreateOnly()
	}
	d.Hash, d.Hashed = child.Hash()
	return d, nil
}

// KeyOf returns the kind and key of a child. The child must have a name. Without CrossNamespace it must be in its owner's namespace,
// because garbage collection and owner references don't reach other namespaces. All keys of children come from here.
func (c *Cluster) KeyOf(child *Child) (kinds.Kind, store.Key, error) {
	obj := child.Object
	k, err := c.Kinds.Of(obj)
	if err != nil {
		return k, store.Key{}, err
	}
	key := k.Key(obj)
	if key.Name == "" {
		return k, key, fmt.Errorf("%w: metadata.name of a %s is empty; a child needs a fixed name "+
			"(generateName would make a twin in each pass)", failure.ErrMisuse, k.GVK.Kind)
	}
	namespaced, err := c.Kinds.IsNamespaced(k, obj)
	if err != nil {
		return k, key, &failure.Error{Key: key, Operation: "read", Err: err}
	}
	if child.CrossNamespace {
		key, err = keyCrossNamespace(key, namespaced)
		return k, key, err
	}
	home := c.Owner.GetNamespace()
	switch {
	case !namespaced && home != "":
		return k, key, fmt.Errorf("%w: %s is cluster-scoped and its owner %s is not: garbage collection would never remove it; "+
			"see CrossNamespace",
			failure.ErrMisuse, key, c.OwnerKey)
	case !namespaced:
		key.Namespace = "" // meaningless for a cluster-scoped object
	case key.Namespace == "" && home == "":
		return k, key, fmt.Errorf("%w: metadata.namespace of %s is empty and its owner has none", failure.ErrMisuse, key)
	case key.Namespace == "":
		key.Namespace = home
	case home != "" && key.Namespace != home:
		return k, key, fmt.Errorf("%w: metadata.namespace of %s must be that of its owner, %s: garbage collection takes an owner in another "+
			"namespace for absent and would delete the child; see CrossNamespace", failure.ErrMisuse, key, home)
	}
	return k, key, nil
}

// keyCrossNamespace completes the key of a child that names its own namespace.
func keyCrossNamespace(key store.Key, namespaced bool) (store.Key, error) {
	if !namespaced {
		key.Namespace = "" // meaningless for a cluster-scoped object
		return key, nil
	}
	if key.Namespace == "" {
		return key, fmt.Errorf("%w: metadata.namespace of %s is empty; a cross-namespace child must say where", failure.ErrMisuse, key)
	}
	return key, nil
}

// Stamp renders a child into the forms to compare and to send. It doesn't change the child's object.
func (d *Desired) Stamp(c *Cluster) error {
	if d.object != nil {
		return nil
	}
	obj, err := d.withOwner(c)
	if err != nil {
		return err
	}
	if d.Child.CreateOnly {
		d.object = obj
		return nil
	}
	options := d.Child.Options
	if options != nil {
		if err := d.checkPolicy(); err != nil {
			return err
		}
		if err := d.setHash(c, obj); err != nil {
			return err
		}
	}
	fields, err := payload.Of(obj, d.Kind.GVK)
	if err != nil {
		return fmt.Errorf("%w: %w", failure.ErrMisuse, err)
	}
	if options != nil && len(options.Ignored) > 0 {
		d.first = runtime.DeepCopyJSON(fields)
		if err := d.leaveOut(fields); err != nil {
			return err
		}
	}
	if d.Digest, err = payload.Digest(fields); err != nil {
		return fmt.Errorf("%w: digest of %s: %w", failure.ErrMisuse, d.Key, err)
	}
	annotation, err := d.annotationOf(fields)
	if err != nil {
		return err
	}
	// The next pass, and the next process, finds the digest here.
	payload.SetAnnotation(obj, wellknown.AnnotationDigest, annotation)
	for _, fields := range []map[string]any{fields, d.first} {
		if fields == nil {
			continue
		}
		if err := unstructured.SetNestedField(fields, annotation, "metadata", "annotations", wellknown.AnnotationDigest); err != nil {
			return fmt.Errorf("%w: annotations of %s: %w", failure.ErrMisuse, d.Key, err)
		}
	}
	d.object, d.fields, d.compared = obj, fields, obj
	if len(d.ignored) > 0 {
		d.compared, err = d.toCompare()
	}
	return err
}

// withOwner returns a copy of the given object, in its namespace, with the owner and the builder's label on it, and without the fields
// that only the server sets.
func (d *Desired) withOwner(c *Cluster) (client.Object, error) {
	obj := d.Child.Object.DeepCopyObject().(client.Object)
	payload.Clean(obj)
	obj.SetNamespace(d.Key.Namespace)
	if obj.GetLabels()[wellknown.LabelManagedBy] == "" {
		payload.SetLabel(obj, wellknown.LabelManagedBy, wellknown.ManagedBy)
	}
	refs := slices.DeleteFunc(obj.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == c.Owner.GetUID() })
	for _, ref := range refs {
		if ref.Controller != nil && *ref.Controller {
			return nil, fmt.Errorf("%w: metadata.ownerReferences of %s has a controller, %s %s; it shall be %s",
				failure.ErrMisuse, d.Key, ref.Kind, ref.Name, c.OwnerKey)
		}
	}
	switch {
	case d.Child.CrossNamespace:
		c.Marks.SetCrossNamespace(obj)
	case d.Child.Retained():
		c.Marks.SetRetained(obj)
	default:
		refs = append(refs, inventory.ControllerReference(c.Owner, c.OwnerKind))
	}
	obj.SetOwnerReferences(refs)
	return obj, nil
}
