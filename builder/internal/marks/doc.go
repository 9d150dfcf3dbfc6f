// Package marks says whose an object without an owner reference is: a cross-namespace child, or one that outlives its owner.
//
// It takes an [Owner] and objects as they were read, and returns an ownership; it changes objects that are about to be desired. It makes no
// request.
//
// Invariant: a label or an annotation by itself proves nothing. Templates, GitOps and other controllers copy onto objects whatever their
// users write. So a mark counts only if the object's managed fields say that the builder has set it: the API server keeps that record, and
// takes a field off it when another manager changes the field's value.
//
// Who may patch an object can write under any manager's name. Such a person can have the object deleted without the builder as well:
// garbage collection deletes what names an owner that isn't there.
package marks
