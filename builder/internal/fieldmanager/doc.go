// Package fieldmanager answers questions about the field ownership of server-side apply: which manager owns which fields of an object,
// which fields the builder takes over, which fields a former manager leaves, and which fields other writers have changed.
//
// Functions take the managed fields of an observed object, and objects as decoded from JSON. They return field sets, paths and new
// managed fields. They send nothing and change no argument, because the cache shares managed fields.
//
// Invariants:
//   - Fields of a subresource, and those of a manager that is neither the builder nor a former one, stay with their manager.
//   - The builder takes over finalizers, and references to owners other than the controller, only from a named former manager,
//     because another program may have the same default name.
//   - After TakeOver has been applied to an object, it changes nothing more.
//
// See https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management.
package fieldmanager
