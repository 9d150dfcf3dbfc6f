package builder

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/merge"
)

// formerSelf is the field manager of what this program wrote without naming one, as controllerutil.CreateOrUpdate does:
// the API server takes the user agent up to its first slash, which by default is the program's name.
var formerSelf = sync.OnceValue(func() string { return defaultManager(os.Args[0]) })

func defaultManager(program string) string {
	name, _, _ := strings.Cut(filepath.Base(program), "/")
	const most = 128 // of the API server's
	return name[:min(len(name), most)]
}

// takesOver reports whether an entry's fields become the engine's: those of what it created, of former managers, and, when
// it meets an object that it has never written, of this program before it had an engine.
func (e *Engine) takesOver(entry metav1.ManagedFieldsEntry, d *desired) bool {
	if entry.Subresource != "" || entry.FieldsV1 == nil {
		return false
	}
	isUpdate := entry.Operation == metav1.ManagedFieldsOperationUpdate
	if entry.Manager == e.name {
		return isUpdate
	}
	return d.isFormer(entry) || (d.neverWritten && isUpdate && entry.Manager == formerSelf())
}

// split returns which fields of an entry that is taken over become the engine's, and which stay. Another program may have
// the default name of this one, as "manager" is: finalizers, and references to owners other than the controller, stay,
// because an object without them may be deleted too early.
func (e *Engine) split(entry metav1.ManagedFieldsEntry, found client.Object, d *desired) (taken, left *fieldpath.Set, err error) {
	left = &fieldpath.Set{}
	taken, err = fieldsOf(entry)
	if err != nil || entry.Manager == e.name || d.isFormer(entry) {
		return taken, left, err
	}
	for path := range taken.All() {
		if holdsObject(path, found) {
			left.Insert(path.Copy())
		}
	}
	return taken.Difference(left), left, nil
}

// holdsObject reports whether a field is a finalizer, or a reference to an owner other than the controller.
func holdsObject(path fieldpath.Path, found client.Object) bool {
	names := merge.Names(path)
	if len(path) < 2 || names[0] != "metadata" || names[1] != "ownerReferences" {
		return len(path) > 1 && names[0] == "metadata" && names[1] == "finalizers"
	}
	controller := metav1.GetControllerOfNoCopy(found)
	return len(path) > 2 && (controller == nil || !path[2].Equals(fieldpath.PathElement{Key: fieldpath.KeyByFields("uid", string(controller.UID))}))
}

// isFormer reports whether the child's options name an entry's manager.
func (d *desired) isFormer(entry metav1.ManagedFieldsEntry) bool {
	if d.child.how == nil {
		return false
	}
	for _, name := range d.child.how.Former {
		if entry.Manager == name {
			return true
		}
	}
	return false
}

// hasFormer reports whether an object has fields of a manager that Adopt names, so that there is something to do even if
// nothing else is desired. What kubectl applied beside the builder waits for the next change of the child: people do so.
func (e *Engine) hasFormer(found client.Object, d *desired) bool {
	if d.child.how == nil || len(d.child.how.Former) == 0 {
		return false
	}
	for _, entry := range found.GetManagedFields() {
		if entry.Manager != kubectlApply && entry.Manager != e.name && e.takesOver(entry, d) {
			return true
		}
	}
	return false
}

// hasWritten reports whether the engine, or one of another name in an earlier version of the program, has ever written an
// object.
func (e *Engine) hasWritten(found client.Object) bool {
	if found.GetAnnotations()[AnnotationDigest] != "" {
		return true
	}
	for _, entry := range found.GetManagedFields() {
		if entry.Manager == e.name {
			return true
		}
	}
	return false
}
