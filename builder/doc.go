// Package builder brings a cluster to the state that an operator desires.
//
// # The one idea
//
// An operator is a function. It takes a custom resource (the owner) and the observed state, and returns the desired state:
//
//	owner + observed state  --Plan-->  desired objects + status  --builder-->  cluster
//
// The function is yours and pure: no client, no clock, no goroutine. All that talks to the API server is here, written
// once: create, compare, apply, adopt, refuse, prune, report. There are two ways in.
//
// With a [Plan], the loop is written as well: it reads the owner, observes its children, calls the plan, carries it
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
// Give objects as you would create them: [Want] in a plan, [Builder.Object] in a Builder. Fields left empty belong to the API
// server's defaults and to other writers. Fields that you set are restored whoever changed them; a field that you no longer set is
// removed. Children live in their owner's namespace, have fixed names, and are garbage collected with their owner. An unchanged child
// costs no request, a new one a POST, a changed one a PATCH, a pruned one a DELETE.
//
// Options say what is different about one child:
//
//	Ignore("spec.replicas")      a first value, and then left to others: an autoscaler's replicas
//	HashFrom(configMap, secret)  roll the pods when their configuration changes
//	Adopt(AdoptOptions{})        take over an object without a controller, or the fields of a former operator
//	OnImmutable(Recreate{})      recreate a child with a changed immutable field; or keep it: Keep{}
//	CreateOnly()                 create it if it doesn't exist, and leave it as it is
//	RunOnce("schema-7")          run a Job to success once for the value, before the children of later phases
//	Retain()                     keep it when it is no longer desired, and when the owner is deleted
//	ReadyWhen(ready)             a rule of your own for its readiness
//	CrossNamespace()             a child in another namespace, or a cluster-scoped one
//	InPhase("storage")           change it after the children of earlier phases are ready
//
// [Builder.Prune] deletes children of a kind that are no longer desired; [Builder.PruneAll] does for all kinds that the owner ever had
// children of. [Builder.Diff] shows beforehand what a pass would write. [Builder.Rollout] orders changes: the next phase is changed when
// the last is ready, and a phase that fails halts the roll-out or rolls it back. A Plan has a field for each of these.
//
// # Watch sources
//
// A line of the [Operator] declares what a plan reads, and which events run it. The plan reads it from its [View]:
//
//	Owns(kind)                              children: Owned, one by its name with Lookup
//	Owns(kind, Dependents(other))           and the objects that these control, such as the Pods of Jobs: Owned
//	OwnsByName(kind, namesOf)               children that are read by name and not watched, such as Secrets: Owned
//	Watches(kind, ReferencedBy(namesOf))    objects that the owner's spec names: Lookup, Watched
//	Watches(kind, Referencing(ownersOf))    objects that name the owner: Watched
//	Watches(kind, SeenByAll())              objects that all owners read, such as the nodes: Watched
//	External(observe)                       the state of something outside the cluster: External
//
// A reconciler of your own watches the kinds of its children by itself, and indexes them with [Engine.Index]. The manager's client
// must cache with read-your-writes consistency (client.CacheOptions), and the cache must keep metadata.managedFields.
//
// # What is refused
//
// An object of a child's name that isn't the owner's is left alone, with [ErrNotOwned]. A wrong plan or call is [ErrMisuse]. A change
// that the API server can't make is [ErrImmutable]; nothing is deleted because the API server calls a change invalid. Nothing is pruned
// after an error, and nothing is created for an owner that is being deleted. Errors about an object are an [*Error]; [IsTerminal] says
// whether a retry can help.
//
// # Status and events
//
// Plan.Report, or [Engine.ReportStatus] after a Builder's Reconcile, writes the standard conditions Ready, Progressing and Stalled from
// the [Result], in one patch and only if they changed. Package events has their reasons and those of the events, which are emitted on
// transitions only. docs/metrics.md explains the metrics and spans.
//
// # Tests
//
// A plan is a function: give it an owner and a [NewView], and compare the [Plan]; [Operator.PlanFor] checks it as the loop does. Package
// buildertest has an API server in memory, and lets the loop ([Operator.Reconciler]) crash after each of its writes.
//
// docs/concepts.md explains the words and how a pass goes, with the permissions that it takes; docs/recipes.md has answers to tasks.
package builder
