package apply

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/disruption"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/builder/internal/former"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/internal/subset"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// Formers returns the states of children before writes, and whether the writes are disruptive, as package disruption says. Fewer replicas
// are, unless an earlier pass has carried out the owner's spec.
func (c *Cluster) Formers(writes []*Write) (children []former.Child, isDisruptive bool, err error) {
	for _, w := range writes {
		child, disrupts, err := c.former(w)
		if err != nil {
			return nil, false, err
		}
		if child == nil {
			continue
		}
		children = append(children, *child)
		onlyScales := strings.HasPrefix(disrupts, disruption.ScaledDown) && !strings.HasSuffix(disrupts, disruption.RestartsPods)
		isDisruptive = isDisruptive || disrupts != "" && !(onlyScales && c.Memory.Steady.IsCarriedOut(c.Owner))
	}
	return children, isDisruptive, nil
}

// FormersOfDeleted returns the states of children before their deletion.
func (c *Cluster) FormersOfDeleted(stale []client.Object) (children []former.Child, err error) {
	for _, obj := range stale {
		k, err := c.Kinds.Of(obj)
		if err != nil {
			return nil, err
		}
		child, err := c.formerOfDeleted(k, obj)
		if err != nil {
			return nil, err
		}
		if child != nil {
			children = append(children, *child)
		}
	}
	return children, nil
}

// former returns the state of a child before its change, and what the change disrupts. It returns nil if there is nothing to keep: the
// object is new, or isn't controlled by the owner, or the write only restores the last applied state.
func (c *Cluster) former(w *Write) (child *former.Child, disrupts string, err error) {
	d := w.Desired
	if w.Action != Apply || w.Observed == nil || d.Child.CreateOnly || !w.isDesiredChanged() || !c.isKept(d.Key, w.Observed) {
		return nil, "", nil
	}
	child, fields, err := c.formerOf(d.Kind, d.Key, w.Observed, d)
	if err != nil {
		return nil, "", err
	}
	operation := events.ReasonUpdated
	if recreate := d.recreates(); recreate != nil {
		child.Recreate = cmp.Or(recreate.Dependents, metav1.DeletePropagationBackground)
		operation = events.ReasonRecreating
	}
	changed, err := changedFields(d, w.Observed, fields)
	return child, disruption.Of(d.Key.Group, operation, changed), err
}

// formerOfDeleted returns the state of a child before its deletion, nil if there is nothing to keep.
func (c *Cluster) formerOfDeleted(k kinds.Kind, observed client.Object) (*former.Child, error) {
	if key := k.Key(observed); c.isKept(key, observed) {
		child, _, err := c.formerOf(k, key, observed, nil)
		return child, err
	}
	return nil, nil
}

func (c *Cluster) isKept(key store.Key, observed client.Object) bool {
	return former.IsKept(key.GroupKind()) && metav1.IsControlledBy(observed, c.Owner) && observed.GetDeletionTimestamp() == nil
}

// formerOf returns the state of an observed child in the fields that the builder manages. d is the desired object, nil for none.
func (c *Cluster) formerOf(
	k kinds.Kind, key store.Key, observed client.Object, d *Desired,
) (*former.Child, map[string]any, error) {
	child := &former.Child{Child: revision.Child{
		Group: k.GVK.Group, Version: k.GVK.Version, Kind: k.GVK.Kind, Untyped: k.Untyped, Namespace: key.Namespace, Name: key.Name,
	}}
	if isSecret(key) {
		return child, nil, nil
	}
	stored, err := payload.Stored(observed)
	if err != nil {
		return nil, nil, err
	}
	manager := fieldmanager.Manager{Name: c.Name}
	var desired map[string]any
	var ignored []paths.Path
	if d != nil {
		manager, desired, ignored = c.fieldManager(d), d.fields, d.ignored
	}
	managed, err := manager.Managed(observed.GetManagedFields())
	if err != nil {
		return nil, nil, err
	}
	fields := former.Fields(stored, desired, paths.Without(managed.Ours, ignored))
	fields["apiVersion"], fields["kind"] = k.GVK.ToAPIVersionAndKind()
	meta, _ := fields["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		fields["metadata"] = meta
	}
	meta["name"] = key.Name
	if key.Namespace != "" {
		meta["namespace"] = key.Namespace
	}
	if child.Payload, err = revision.Payload(fields); err != nil {
		return nil, nil, err
	}
	child.Digest, err = digestWithout(fields)
	return child, fields, err
}

// digestWithout returns the digest of an object's fields without the annotation that has a digest.
func digestWithout(fields map[string]any) (string, error) {
	fields = runtime.DeepCopyJSON(fields)
	unstructured.RemoveNestedField(fields, "metadata", "annotations", wellknown.AnnotationDigest)
	if annotations, _, err := unstructured.NestedMap(fields, "metadata", "annotations"); err == nil && len(annotations) == 0 {
		unstructured.RemoveNestedField(fields, "metadata", "annotations")
	}
	return payload.Digest(fields)
}

// changedFields returns the fields of a spec that can make a change disruptive, if the apply may change them. kept are the observed
// fields that the builder manages: the apply removes those that are no longer desired.
func changedFields(d *Desired, observed client.Object, kept map[string]any) (changed []delta.Change, err error) {
	stored, err := payload.Stored(observed)
	if err != nil {
		return nil, err
	}
	at := func(fields map[string]any, name string) any {
		spec, _ := fields["spec"].(map[string]any)
		return spec[name]
	}
	for _, name := range []string{"replicas", "template"} {
		was, desired := at(stored, name), at(d.fields, name)
		if !subset.Untyped(desired, was) || !subset.Untyped(at(kept, name), desired) {
			changed = append(changed, delta.Change{Path: "spec." + name, Old: was, New: desired})
		}
	}
	return changed, nil
}
