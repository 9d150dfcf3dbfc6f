package apply

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/revision"
)

// Snapshot returns a stamped child as a revision has it, without its payload.
func (d *Desired) Snapshot() revision.Child {
	child := revision.Child{
		Group: d.Kind.GVK.Group, Version: d.Kind.GVK.Version, Kind: d.Kind.GVK.Kind, Untyped: d.Kind.Untyped,
		Namespace: d.Key.Namespace, Name: d.Key.Name, Phase: d.Child.Phase, Digest: d.Digest,
	}
	if d.first != nil {
		child.Ignored = d.Child.Options.Ignored
	}
	return child
}

// Sent returns the fields of a stamped child as it is created.
func (d *Desired) Sent() map[string]any {
	if d.first != nil {
		return d.first
	}
	return d.fields
}

// Restore returns a child of a revision as a desired object, with the options of the currently desired child. It checks that the child
// belongs to this owner, because people can edit revisions.
func (c *Cluster) Restore(recorded *revision.Child, like Child) (*Desired, error) {
	if len(recorded.Ignored) > 0 {
		like = like.ignoring(recorded.Ignored)
	}
	like.Phase = recorded.Phase
	d := &Desired{
		Kind: kinds.Kind{GVK: recorded.GVK(), Untyped: recorded.Untyped}, Key: recorded.Key(), Digest: recorded.Digest, Child: &like,
	}
	var err error
	if d.object, err = c.Kinds.Empty(d.Kind); err != nil {
		return nil, err
	}
	if d.fields, err = recorded.Restore(d.object); err != nil {
		return nil, fmt.Errorf("revision of %s: %w", d.Key, err)
	}
	like.Object = d.object
	if err := d.leaveOut(d.fields); err != nil {
		return nil, err
	}
	if d.compared, err = d.toCompare(); err != nil {
		return nil, err
	}
	_, key, err := c.KeyOf(d.Child)
	if err == nil && (key != d.Key || !metav1.IsControlledBy(d.object, c.Owner) || d.object.GetDeletionTimestamp() != nil) {
		err = fmt.Errorf("revision of %s: it is of %s, or of another owner", d.Key, key)
	}
	return d, err
}
