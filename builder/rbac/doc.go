// Package rbac derives the role of an operator from its declarations, so that nobody has to write it: what the operator owns, watches
// and reads decides the verbs. The role has a verb only if something needs it.
//
//	role, err := rbac.Role(rbac.Options{Name: "backup", Scheme: scheme, CRDs: []string{"config"}, Setup: operator.Setup, Samples: owners})
//
// [Derive] sets the operators up with a manager that never connects. Each declaration needs:
//
//	the owner's kind          get, list, watch; status: patch; finalizers: update, for owner references
//	Owns(kind)                get, list, watch, create, patch
//	Owns(kind, ByName(...))   get, create, patch
//	Dependents, Watches       list, watch
//	Owns(kind, CrossNamespace) also delete, and patch of the owner's kind, for the finalizer
//	events                    create, patch
//	undo.Around               get, create, delete of ControllerRevisions
//	effects.PerformedBy       get, list, watch, create, patch, delete of ControllerRevisions; patch of the owner's kind, for the finalizer
//
// Other verbs depend on the plan: delete for kinds that it prunes, or recreates, and for an owner that it deletes; for PruneAll, patch of
// the owner's kind and list of kinds with ByName. Plans are pure, so Derive calls them with the sample owners.
// Without samples it assumes that each owned kind is pruned, and no PruneAll.
//
// A plan without children yet shows neither Plan.Edits nor Plan.Delete, and a program may use a client of its own. Such permissions are
// Options.More. So are those by which the API server lets an operator write RoleBindings and Roles: bind on each role that a binding
// refers to, and escalate on Roles. A test finds what is missing and what is too much: see buildertest.CheckRole for the API server in
// memory. [Usage] is the same for requests to a real one.
//
// [Diff] compares the roles of two versions: what an upgrade grants and revokes.
package rbac
