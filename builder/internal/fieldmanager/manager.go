package fieldmanager

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/internal/wellknown"
)

// KubectlApply is the field manager of kubectl apply without --server-side.
const KubectlApply = "kubectl-client-side-apply"

// Manager is the field manager of the builder, and the managers whose fields it takes over.
type Manager struct {
	// Name is the field manager of the builder's own writes.
	Name string
	// Former are managers whose fields the builder takes over.
	Former []string
	// Program is the default field manager of this program. The builder takes over the fields of its updates. Default: empty, none.
	Program string
}

// Program returns the field manager of this program's writes without a named one, as of controllerutil.CreateOrUpdate. The API server
// takes the user agent up to its first slash, which by default is the program's name.
var Program = sync.OnceValue(func() string { return programOf(os.Args[0]) })

func programOf(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), "/")
	const limit = 128 // of the API server
	return name[:min(len(name), limit)]
}

// TakesOver reports whether the builder takes over the fields of an entry: of its own creates, of former managers, and of the
// program's own updates.
func (m Manager) TakesOver(entry metav1.ManagedFieldsEntry) bool {
	if entry.Subresource != "" || entry.FieldsV1 == nil {
		return false
	}
	isUpdate := entry.Operation == metav1.ManagedFieldsOperationUpdate
	if entry.Manager == m.Name {
		return isUpdate
	}
	return m.isFormer(entry) || m.Program != "" && isUpdate && entry.Manager == m.Program
}

func (m Manager) isFormer(entry metav1.ManagedFieldsEntry) bool {
	return slices.Contains(m.Former, entry.Manager)
}

// HasFormer reports whether an object has fields of a named former manager, so that a write is needed even if the desired state is
// unchanged. Fields of kubectl apply wait for the next change of the child, because people use it beside the builder.
func (m Manager) HasFormer(entries []metav1.ManagedFieldsEntry) bool {
	return len(m.Former) > 0 && slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager != KubectlApply && entry.Manager != m.Name && m.TakesOver(entry)
	})
}

// HasWritten reports whether the builder has written an object under its present name.
func (m Manager) HasWritten(entries []metav1.ManagedFieldsEntry) bool {
	return slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == m.Name })
}

// HasApplied reports whether the builder has applied an object, and the entry of its creation no longer exists: then its own fields
// are known. The entry of a creation, which an apply that only corrects drift keeps, also has the API server's defaults. The next
// TakeOver merges it into the apply's entry, and so removes undesired fields.
func (m Manager) HasApplied(entries []metav1.ManagedFieldsEntry) bool {
	applied := false
	for _, entry := range entries {
		if entry.Manager != m.Name || entry.Subresource != "" {
			continue
		}
		if entry.Operation == metav1.ManagedFieldsOperationApply {
			applied = true
		} else if set, err := Fields(entry); err == nil && set.Has(digestPath) { // a refit's patch leaves an entry without
			return false
		}
	}
	return applied
}

// digestPath is the annotation with the digest of the builder's last apply.
var digestPath = fieldpath.MakePathOrDie("metadata", "annotations", wellknown.AnnotationDigest)

// HasSet reports whether the builder, or former managers, have set all of some fields. kubectl apply is no proof, because anyone uses
// it.
func (m Manager) HasSet(entries []metav1.ManagedFieldsEntry, fields *fieldpath.Set) bool {
	for _, entry := range entries {
		if entry.Subresource != "" || entry.Manager != m.Name && (entry.Manager == KubectlApply || !m.isFormer(entry)) {
			continue
		}
		set, err := Fields(entry)
		if err != nil {
			return false
		}
		fields = fields.Difference(set)
	}
	return fields.Empty()
}

// Fields returns the fields of an entry.
func Fields(entry metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	if entry.FieldsV1 == nil {
		return set, nil
	}
	if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
		return nil, fmt.Errorf("read metadata.managedFields of %s: %w", entry.Manager, err)
	}
	return set, nil
}

// Setter returns the last entry that has a field or a child of it, except those of the manager except; nil if there is none.
func Setter(entries []metav1.ManagedFieldsEntry, path fieldpath.Path, except string) *metav1.ManagedFieldsEntry {
	for _, entry := range slices.Backward(entries) {
		if except != "" && entry.Manager == except {
			continue
		}
		if set, err := Fields(entry); err == nil && (set.Has(path) || paths.HasBelow(set, path)) {
			return &entry
		}
	}
	return nil
}

// Describe returns the manager of an entry for messages: "kube-controller-manager (Update of scale)".
func Describe(entry metav1.ManagedFieldsEntry) string {
	how := string(entry.Operation)
	if entry.Subresource != "" {
		how += " of " + entry.Subresource
	}
	return entry.Manager + " (" + how + ")"
}
