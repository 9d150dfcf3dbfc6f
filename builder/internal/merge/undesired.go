package merge

import (
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/paths"
)

// Undesired returns those of the builder's fields that aren't desired, none if the difference is drift. Once a patch has made a change
// that the API server refuses of an apply, the builder gives them up before the next apply, which would otherwise remove them again. Of a
// map or list that an apply empties it makes null, which the schema of a custom resource refuses. An apply also removes an undesired entry
// of a map of structs with fields in it that another manager has set, and the merge leaves these.
func (o Objects) Undesired(ours *fieldpath.Set) *fieldpath.Set {
	undesired := fieldpath.NewSet()
	if o.Drift {
		return undesired
	}
	ours.Iterate(func(path fieldpath.Path) {
		if _, isDesired := paths.At(o.Desired, path); !isDesired {
			undesired.Insert(path.Copy())
		}
	})
	return undesired
}
