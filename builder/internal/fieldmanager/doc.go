// Package fieldmanager answers questions about server-side apply's field ownership: which manager owns which fields of an object, what
// becomes the builder's, what a former manager leaves behind, and which fields others have changed.
//
// Functions take the managed fields of an observed object, and objects as decoded from JSON; they return field sets, paths and new
// managed fields. Nothing is sent, and no argument is changed: managed fields are shared with the cache.
//
// Invariants:
//   - Fields of a subresource, and those of a manager that is neither the builder nor a former one, stay with their manager.
//   - Finalizers, and references to owners other than the controller, are taken from a former manager only if it is named: another
//     program may have the same default name.
//   - Once TakeOver has been applied to an object, it changes nothing more.
//
// See https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management.
package fieldmanager
