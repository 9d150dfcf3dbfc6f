// Package builder brings a cluster to the state that an operator desires.
//
// # The one idea
//
// An operator is a function. It takes a custom resource (the owner) and the observed state, and returns the desired state:
//
//	owner + observed state  --Plan-->  desired objects + status  --builder-->  cluster
//
// You write the function. It is pure: no client, no clock, no goroutine. The builder makes all requests to the API server: it creates,
// compares, applies, adopts, prunes and reports. You can use it in two ways.
//
// With a [Plan], the builder also runs the reconcile loop. It reads the owner, observes its children, calls the plan, carries the plan
// out, writes the status once and emits the events. The example of [NewOperator] is a whole operator.
//
//	builder.NewOperator[*v1.WebApp](mgr, "webapp").
//		Owns(&appsv1.Deployment{}).
//		Plan(plan).
//		Complete()
//
// With a reconciler of your own, make an [Engine] once and a [Builder] in each pass:
//
//	engine := builder.EngineFor(mgr, "webapp")
//
//	res, err := engine.For(owner).
//		ConfigMap(config).
//		Deployment(server, builder.HashFrom(config)).
//		Prune(&corev1.ConfigMap{}).
//		Reconcile(ctx)
//	return reconcile.Result{RequeueAfter: res.RequeueAfter}, err
//
// # Children
//
// Give objects as you would create them: [Want] in a plan, [Builder.Object] in a Builder. Empty fields belong to the API server's
// defaults and to other writers. The builder restores a field that you set when another writer changes it, and removes a field that
// you no longer set. Children live in their owner's namespace and have fixed names. The garbage collector deletes them with their
// owner. An unchanged child costs no request, a new one a POST, a changed one a PATCH, a pruned one a DELETE.
//
// Options configure one child:
//
//	Ignore("spec.replicas")      an initial value, then left to others: an autoscaler's replicas
//	HashFrom(configMap, secret)  roll the pods when their configuration changes
//	Adopt(AdoptOptions{})        take over an object without a controller, or a former operator's fields
//	RecreateImmutable(deps)      recreate a child with a changed immutable field; or keep it: KeepImmutable()
//	CreateOnly()                 create it if it doesn't exist, and leave it unchanged
//	RunOnce("schema-7")          run a Job to success once for the value, before the children of later phases
//	Retain()                     keep it when it is no longer desired, and when the owner is deleted
//	ReadyWhen(ready)             your own rule for its readiness
//	CrossNamespace()             a child in another namespace, or a cluster-scoped one
//	InPhase("storage")           apply its changes after the children of earlier phases are ready
//
// [Builder.Prune] deletes children of a kind that are no longer desired. [Builder.PruneAll] does so for all kinds that the owner ever had
// children of. [Builder.Diff] shows what a pass would write, and writes nothing. [Builder.Rollout] orders changes: the builder changes a
// phase when the phase before is ready, and a phase that fails stops the roll-out or rolls it back; package
// rollout explains it. A Plan has a field for each of these.
//
// # Watch sources
//
// An operator declares its watch sources, one line each. A source runs the plans of the owners that an event concerns, and puts its
// objects into the plan's [View]:
//
//	Owns(kind)                              children; the plan reads them with Owned, one by its name with Lookup
//	Owns(kind, Dependents(other))           and the objects that they control, such as the Pods of Jobs: Owned
//	Watches(kind, ReferencedBy(namesOf))    objects that the owner's spec names: Lookup, Watched
//	Watches(kind, Referencing(ownersOf))    objects that name the owner: Watched
//	Watches(kind, ObservedByAll())          objects that all owners read, such as the nodes: Watched
//
// The View reads from the cache. With [CrossNamespace] children are outside the owner's namespace. With [ByName] the builder reads
// children by name and doesn't watch them: use it for Secrets. [Operator.External] observes the state of something outside the cluster.
// [EnqueueFor] reduces the owners that an event enqueues, where thousands of owners read one object.
//
// A reconciler of your own must watch the kinds of its children, and index them with [Engine.Index]. The manager's client
// must cache with read-your-writes consistency (client.CacheOptions), and the cache must keep metadata.managedFields.
//
// # What the builder refuses
//
// The builder leaves an object of a child's name unchanged if the owner doesn't own it; the error is [ErrNotOwned]. An invalid plan or
// call is [ErrMisuse]. A change of an immutable field is [ErrImmutable]; an answer Invalid of the API server alone never causes a
// deletion. The builder prunes nothing after an error, and creates nothing for a terminating owner. Errors about an object are an
// [*Error]; [IsTerminal] reports whether a retry can't help.
//
// # Status and events
//
// Plan.Report, or [Engine.ReportStatus] after a Builder's Reconcile, writes the standard conditions Ready, Progressing and Stalled from
// the [Result], in one patch and only if they changed. Package events has the reasons of conditions and events. The builder emits events
// on transitions only. docs/metrics.md explains the metrics and spans.
//
// # Tests
//
// A plan is a function: call it with an owner and a View of package buildertest, and compare the [Plan]. That package also checks a plan as
// the reconciler does (PlanFor), and has an API server in memory, on which the reconciler (NewReconciler) crashes after each write.
//
// docs/concepts.md explains the terms, the steps of a pass, and the permissions that it needs. docs/recipes.md has answers to tasks.
package builder
