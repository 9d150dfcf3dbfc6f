package fieldmanager

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/merge"
	"github.com/armature-dev/armature/builder/internal/paths"
)

// Released are fields that the builder releases: they keep their values, without a manager or with another one that has set them.
type Released struct {
	Paths  []paths.Path
	Fields *fieldpath.Set // nil: none
}

// TakeOver returns the managed fields with which an apply of the builder removes undesired fields, and whether they differ from the
// given ones. controller is the UID of the object's controller, empty if it has none.
//
// The API server records a create as an update. An apply would own the fields a second time, and so could never remove one of them.
// TakeOver converts that entry into one of an apply, once for each object, as client-go's csaupgrade does. csaupgrade itself handles
// only managers of updates: it has no former appliers, and no fields to leave or to release. The builder also takes over the fields of
// former managers. TakeOver removes released fields from its entry, because an apply without them would otherwise remove them.
func (m Manager) TakeOver(
	entries []metav1.ManagedFieldsEntry, controller types.UID, released Released,
) (after []metav1.ManagedFieldsEntry, changed bool, err error) {
	ours := m.ownEntry(entries)
	if ours < 0 {
		return entries, false, nil
	}
	owned := entries[ours]
	owned.Manager, owned.Operation = m.Name, metav1.ManagedFieldsOperationApply
	changed = owned.Operation != entries[ours].Operation || owned.Manager != entries[ours].Manager
	fields := &fieldpath.Set{}
	applied, err := Fields(entries[ours])
	if err != nil {
		return nil, false, err
	}
	own := -1
	for i, entry := range entries {
		var taken, left *fieldpath.Set
		switch {
		case i == ours || m.TakesOver(entry):
			taken, left, err = m.split(entry, controller)
		case entry.Manager == beforeFirstApply:
			taken, left, err = splitBy(entry, applied)
		default:
			after = append(after, entry)
			continue
		}
		if err != nil {
			return nil, false, err
		}
		switch {
		case i == ours:
			own, fields = len(after), fields.Union(taken)
			after = append(after, owned)
		case taken.Empty() && !left.Empty():
			after = append(after, entry)
			continue
		default:
			changed = true
			if entry.APIVersion == owned.APIVersion { // the paths of another version may be invalid in this one
				fields = fields.Union(taken)
			}
		}
		if !left.Empty() {
			if entry.FieldsV1, err = fieldsV1(left); err != nil {
				return nil, false, err
			}
			after = append(after, entry)
		}
	}
	kept := paths.Without(fields, released.Paths)
	if released.Fields != nil && !released.Fields.Empty() {
		kept = kept.Difference(released.Fields)
	}
	if !changed && kept == fields {
		return entries, false, nil
	}
	if after[own].FieldsV1, err = fieldsV1(kept); err != nil {
		return nil, false, err
	}
	return after, true, nil
}

// ownEntry returns the index of the entry for the builder's applies, or of the one to convert; -1 if there is none.
func (m Manager) ownEntry(entries []metav1.ManagedFieldsEntry) int {
	first := -1
	for i, entry := range entries {
		if entry.Manager == m.Name && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			return i
		}
		if first < 0 && m.TakesOver(entry) {
			first = i
		}
	}
	return first
}

// split returns the fields of an entry that the builder takes over, and those that stay. For the program's default manager, which may
// be another program's too, such as "manager", finalizers and references to owners other than the controller stay, because an object
// without them may be deleted too early.
func (m Manager) split(entry metav1.ManagedFieldsEntry, controller types.UID) (taken, left *fieldpath.Set, err error) {
	left = &fieldpath.Set{}
	taken, err = Fields(entry)
	if err != nil || entry.Manager == m.Name || m.isFormer(entry) {
		return taken, left, err
	}
	for path := range taken.All() {
		if holdsObject(path, controller) {
			left.Insert(path.Copy())
		}
	}
	return taken.Difference(left), left, nil
}

// beforeFirstApply is the manager to which the API server gives all fields of an object that has no managed fields when it is first
// applied, because it is old, or someone has reset them. It is no writer, so what the builder has applied since is the builder's alone.
const beforeFirstApply = "before-first-apply"

func splitBy(entry metav1.ManagedFieldsEntry, applied *fieldpath.Set) (taken, left *fieldpath.Set, err error) {
	fields, err := Fields(entry)
	if err != nil {
		return nil, nil, err
	}
	return fields.Intersection(applied), fields.Difference(applied), nil
}

// holdsObject reports whether a field is a finalizer, or a reference to an owner other than the controller.
func holdsObject(path fieldpath.Path, controller types.UID) bool {
	names := merge.Names(path)
	if len(path) < 2 || names[0] != "metadata" || names[1] != "ownerReferences" {
		return len(path) > 1 && names[0] == "metadata" && names[1] == "finalizers"
	}
	return len(path) > 2 &&
		(controller == "" || !path[2].Equals(fieldpath.PathElement{Key: fieldpath.KeyByFields("uid", string(controller))}))
}

func fieldsV1(fields *fieldpath.Set) (*metav1.FieldsV1, error) {
	raw, err := fields.ToJSON()
	if err != nil {
		return nil, fmt.Errorf("write metadata.managedFields: %w", err)
	}
	return metav1.NewFieldsV1(string(raw)), nil
}

// Leftovers returns the fields that TakeOver would take over and that no apply has, and the fields that stay. A dry run of an apply
// can't show the removal of leftovers, because a dry run of TakeOver stores nothing.
func (m Manager) Leftovers(entries []metav1.ManagedFieldsEntry, controller types.UID) (leftovers, kept *fieldpath.Set, err error) {
	created, kept := &fieldpath.Set{}, &fieldpath.Set{}
	for _, entry := range entries {
		if !m.TakesOver(entry) {
			fields, err := Fields(entry)
			if err != nil {
				return nil, nil, err
			}
			kept = kept.Union(fields)
			continue
		}
		taken, left, err := m.split(entry, controller)
		if err != nil {
			return nil, nil, err
		}
		created, kept = created.Union(taken), kept.Union(left)
	}
	return created.Difference(kept), kept, nil
}

// Managed are the fields of an object by manager.
type Managed struct {
	Ours         *fieldpath.Set // the builder's, and those that it takes over
	Others       *fieldpath.Set // with those of subresources
	Subresources *fieldpath.Set
}

// Managed returns the fields of an object by manager.
func (m Manager) Managed(entries []metav1.ManagedFieldsEntry) (Managed, error) {
	s := Managed{fieldpath.NewSet(), fieldpath.NewSet(), fieldpath.NewSet()}
	for _, entry := range entries {
		set, err := Fields(entry)
		if err != nil {
			return s, err
		}
		switch {
		case entry.Subresource != "":
			s.Others, s.Subresources = s.Others.Union(set), s.Subresources.Union(set)
		case entry.Manager == m.Name || m.TakesOver(entry):
			s.Ours = s.Ours.Union(set)
		default:
			s.Others = s.Others.Union(set)
		}
	}
	return s, nil
}
