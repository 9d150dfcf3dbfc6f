// Package marks identifies the owner of an object without an owner reference: a cross-namespace child, or a retained one.
//
// It takes an [Owner] and objects as they were read, and returns an ownership. It changes objects that are about to be desired. It
// makes no request.
//
// Invariant: a label or an annotation alone proves nothing, because templates, GitOps tools and other controllers copy them onto
// objects. So a mark counts only if the object's managed fields show that the builder has set it. The API server keeps that record,
// and removes a field from it when another manager changes the field's value.
//
// A mark that the builder hasn't set deletes nothing. It keeps the finalizer of its owner only if the manager that has set it has also set
// that finalizer: such a manager is probably a former name of the operator. A user who copies marks onto an object in another namespace
// can't write the owner.
//
// Anyone who can patch an object can write under any manager's name. Such a person can have the object deleted without the builder as
// well, because the garbage collector deletes an object whose owner reference names a missing owner.
package marks
