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
)

// KubectlApply is the field manager of kubectl apply without --server-side.
const KubectlApply = "kubectl-client-side-apply"

// Manager is the field manager of the builder, and the managers whose fields it takes over.
type Manager struct {
	// Name is the field manager of the builder's own writes.
	Name string
	// Former are managers whose fields become the builder's.
	Former []string
	// Program is the default field manager of this program, whose updates become the builder's. Empty: they stay.
	Program string
	// Digest is the annotation in which the builder records what it has applied.
	Digest string
}

// Program returns the field manager of what this program writes without naming one, as controllerutil.CreateOrUpdate does: the API
// server takes the user agent up to its first slash, which by default is the program's name.
var Program = sync.OnceValue(func() string { return programOf(os.Args[0]) })

func programOf(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), "/")
	const limit = 128 // of the API server
	return name[:min(len(name), limit)]
}

// TakesOver reports whether the fields of an entry become the builder's: those of what it created, of former managers, and of the
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

// TakesOverAny reports whether the fields of any entry become the builder's.
func (m Manager) TakesOverAny(entries []metav1.ManagedFieldsEntry) bool {
	return slices.ContainsFunc(entries, m.TakesOver)
}

// HasFormer reports whether an object has fields of a named former manager, so that there is something to do even if nothing else is
// desired. What kubectl applied beside the builder waits for the next change of the child, because people do so.
func (m Manager) HasFormer(entries []metav1.ManagedFieldsEntry) bool {
	return len(m.Former) > 0 && slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager != KubectlApply && entry.Manager != m.Name && m.TakesOver(entry)
	})
}

// HasWritten reports whether the builder has written an object under its present name.
func (m Manager) HasWritten(entries []metav1.ManagedFieldsEntry) bool {
	return slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == m.Name })
}

// HasApplied reports whether the builder has applied an object, and the entry of its creation is no longer beside: then its own fields
// are known. The entry of a creation, which an apply that only puts back drift leaves there, has the API server's defaults too; the next
// TakeOver makes all of it one apply's, and what isn't desired goes with that.
func (m Manager) HasApplied(entries []metav1.ManagedFieldsEntry) bool {
	applied := false
	for _, entry := range entries {
		if entry.Manager != m.Name || entry.Subresource != "" {
			continue
		}
		if entry.Operation == metav1.ManagedFieldsOperationApply {
			applied = true
		} else if set, err := Fields(entry); err == nil && set.Has(m.digestPath()) { // a patch that adjusts the object leaves one without
			return false
		}
	}
	return applied
}

func (m Manager) digestPath() fieldpath.Path {
	return fieldpath.MakePathOrDie("metadata", "annotations", m.Digest)
}

// HasSet reports whether the builder has set all of some fields, or else former managers have. kubectl apply is no proof, since anyone
// uses it.
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

// Setter returns the last entry, but those of the manager except, that has a field or something in it; nil if there is none.
func Setter(entries []metav1.ManagedFieldsEntry, path fieldpath.Path, except string) *metav1.ManagedFieldsEntry {
	for _, entry := range slices.Backward(entries) {
		if except != "" && entry.Manager == except {
			continue
		}
		if set, err := Fields(entry); err == nil && (set.Has(path) || !below(set, path).Empty()) {
			return &entry
		}
	}
	return nil
}

func below(set *fieldpath.Set, path fieldpath.Path) *fieldpath.Set {
	for _, element := range path {
		set = set.WithPrefix(element)
	}
	return set
}

// Describe names the manager of an entry for people: "kube-controller-manager (Update of scale)".
func Describe(entry metav1.ManagedFieldsEntry) string {
	how := string(entry.Operation)
	if entry.Subresource != "" {
		how += " of " + entry.Subresource
	}
	return entry.Manager + " (" + how + ")"
}
