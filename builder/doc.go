// Package builder turns "what should exist" into a cluster.
//
// # The one idea
//
// An operator is a function. It looks at a custom resource (the owner) and at what exists, and says what should exist:
//
//	owner + what exists  --Plan-->  what should exist + status  --Builder-->  cluster
//
// The function is yours and pure: no client, no clock, no goroutine. All that talks to the API server is here, written
// once: create, compare, repair, take ownership, refuse, prune, report. There are two ways in.
//
// With a reconciler of your own, make an [Engine] once and a [Builder] in each pass:
//
//	engine := builder.EngineFor(mgr, "webapp")
//
//	func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
//		... get the owner ...
//		res, err := r.engine.For(owner).
//			ConfigMap(config).
//			Deployment(server).
//			Prune(&corev1.ConfigMap{}).
//			Reconcile(ctx)
//		return reconcile.Result{RequeueAfter: res.RequeueAfter}, err
//	}
//
// With a [Plan], the loop is written as well: it fetches the owner, gathers its children, calls the plan, carries it
// out, writes the status once and emits the events. The example of [NewOperator] is a whole operator.
//
// # What to want
//
// Give objects as you would create them ([Want], [Builder.Object] and a method for each common kind). Fields left empty
// are not yours: the API server's defaults and other writers (an autoscaler's replicas, an injected sidecar) are left
// alone. Fields that you set are put back whoever changed them. A field that you no longer set is removed. There is no
// way to want a field empty, other than through a pointer. Children live in their owner's namespace, have fixed names,
// and are garbage collected with their owner; those that can't be are wanted with [CrossNamespace]. Nothing is ever created or
// changed for an owner that is being deleted.
//
// # What goes
//
// What is no longer wanted is deleted of the kinds that [Builder.Prune] names, or of all kinds that the owner ever had
// children of: [Builder.PruneAll] keeps them with the owner, so that nothing stays behind when the last object of a kind
// goes, or when the next version of your program no longer knows the kind. Cross-namespace children go with their owner by a
// finalizer. [Builder.Diff] says beforehand what would be created, changed and deleted.
//
// What is other than usual about one child is said by options, which [Want] and every method for a kind take:
//
//	Ignore("spec.replicas")      a first value, and then left to others: an autoscaler's replicas
//	HashFrom(configMap, secret)  roll the pods when what they are configured with changes
//	Adopt(AdoptOptions{})        take over an object of that name that no one controls, or what a former operator has set
//	OnImmutable(Recreate{})      recreate what can't be changed into what is desired; or leave it: Keep{}
//	CreateOnly()                 create it if it isn't there, and leave it as it is
//	RunOnce("schema-7")          run a Job to success once for the value, before what is in later phases
//	Retain()                     keep it when it is no longer wanted, and when the owner goes: a claim with data
//	ReadyWhen(ready)             a rule of one's own for when it is ready, and when it has failed
//
// # What a pass costs
//
// Nothing, if nothing has changed: no request, and a few microseconds for a child, since all reads come from the cache.
// A new object is one POST, a repaired one is one PATCH, a pruned one is one DELETE. The first time that an existing
// object is wanted otherwise it costs a second PATCH, which turns the record of its fields from one of a create into
// one of an apply. Requests of one pass run in parallel, after a first few have shown that they fare well
// ([Options.Parallelism]).
//
// For this the client must be a manager's, with a cache that waits for one's own writes:
//
//	ctrl.Options{Client: client.Options{Cache: &client.CacheOptions{
//		EnableReadYourWritesConsistency: ptr.To(true),
//		Unstructured: true, // if you want unstructured objects: they are read past the cache otherwise
//	}}}
//
// Without it everything still ends the same way, with more requests. (In controller-runtime v0.25 reads of unstructured
// objects don't wait: that costs a request now and then.) Index what you own, so that a pass looks at the
// owner's children only, without copies, and waits for its own writes only and not for those of other owners: an
// [Operator] does it by itself, for others there is [Engine.IndexOwned]. Two things a cache
// must not do. It must not strip metadata.managedFields: fields that are no longer wanted could not be removed. And one
// that is filtered by labels must let the children through: the API server is asked about each child that the cache
// hides, in each pass.
//
// # Leaving CreateOrUpdate
//
// Objects that an operator made with controllerutil.CreateOrUpdate become the builder's in its first pass, if the owner is
// their controller. A field that isn't desired any more goes if this program has set it, under the name that a client
// without a field owner has. If another field manager has set it, it stays, with the event [events.ReasonFieldsLeft] and a line in
// [Builder.Diff], until [AdoptOptions] of the child name that manager; see docs/recipes.md.
//
// # Phases
//
// What has to be changed in order is put in phases:
//
//	engine.For(owner).
//		ConfigMap(shared).
//		StatefulSet(coordinator, builder.InPhase("coordinator")).
//		StatefulSet(storage, builder.InPhase("storage")).
//		Rollout(builder.RolloutOptions{Phases: []string{"coordinator", "storage"}, RollbackAfter: 10 * time.Minute}).
//		Reconcile(ctx)
//
// The first install is in parallel. A later change is made phase by phase, the next when the last is ready, and goes no
// further than a phase that fails; see [RolloutOptions] for what is a change and what is drift. It also says
// whether to wait then, which is the default, to tell of it when that takes long, or to return to the last completed
// revision. Revisions are ControllerRevisions of the owner. Without phases there are none, and nothing is paid for them.
//
// A migration, or what else must run once and first, is a Job with [RunOnce] in a phase: what is in later phases waits for
// its success, at the first install too. InstallInOrder orders a first install without one.
//
// Whatever the readiness of a child depends on must cause passes: a controller of one's own must watch the children's
// kinds and ControllerRevisions, an [Operator] must have them in Owns.
//
// # What is refused
//
//   - An object of that name that isn't the owner's is left alone, with [ErrNotOwned], unless [Adopt] says to take it
//     and no one controls it. An object of a predecessor of the same name, about to be collected, is waited for:
//     [Result.Waiting].
//   - A wrong call or a wrong plan is [ErrMisuse]: no name, desired twice, another namespace than the owner's, a
//     cluster-scoped child of a namespaced owner, if it isn't said to be [CrossNamespace]. Of a plan also: a kind that the
//     operator doesn't declare, in what it asks its view or among its children; a panic; a changed owner or observed object,
//     which fails a test, and is reported once by a running manager.
//   - Nothing is pruned in a pass that had an error. Only what the owner controls is (elsewhere: what has its UID as a
//     label), in the very version that was seen.
//   - An object is never deleted because the API server calls its change invalid. If what is wanted is valid as a new
//     object, the change is [ErrImmutable], unless [OnImmutable] says what to do.
//
// # Errors
//
// Errors about an object are an [*Error], which names it, and the fields that are at fault ([Error.Fields]); errors.Is,
// errors.As and apierrors.IsForbidden and its kin see through it. [IsTerminal] says whether it is of any use to try
// again. How far a failure reaches decides what else is tried in the pass:
//
//	this object alone       invalid, immutable: terminal; a conflict: tried again, and not told;
//	                        not ours; denied by an admission webhook or policy
//	its kind and namespace  no permission, a full quota, no such kind or namespace, a webhook that doesn't answer
//	everything              no connection, too many requests, a server in trouble
//
// All but the terminal ones are for a reconciler to return, so that they are tried again with backoff: someone can mend
// them.
//
// # Work that runs once
//
// An operator that starts Jobs or Pods, by the thousand perhaps, wants them with [CreateOnly]: one POST each, and from
// then on no more than a look at their names. Around that, a [Plan] has what such work needs:
//
//	Edits                 change single fields of what runs: suspend it, resume it
//	Delete, DeleteOwner   let go what has ended, and in the end the owner, when its time is up
//	RequeueAfter          look again then
//	StatusCanWait         write a status that only counts at most so often
//
// # Watch sources
//
// What a plan reads, and which events run it, is declared once, by a line of the [Operator] each:
//
//	Owns(kind)                              children; the plan reads them with Owned, one by its name with Lookup
//	Owns(kind, Dependents(other))           and what these control, such as the Pods of Jobs: Owned
//	OwnsByName(kind, namesOf)               children that are read by name and not watched, such as Secrets: Owned
//	Watches(kind, ReferencedBy(namesOf))    objects that the owner's spec names: Lookup, Watched
//	Watches(kind, Referencing(ownersOf))    objects that name the owner: Watched
//	Watches(kind, SeenByAll())              objects that all owners read, such as the nodes: Watched
//	External(observe)                       the state of something outside the cluster: External
//
// All of it is in the [View], from the cache. Where thousands of owners read one object, [EnqueueFor] says which of them an
// event concerns.
//
// # Status and events
//
// The standard conditions Ready, Progressing and Stalled say what a [Result] says: whether all children are as wanted,
// and what is waited for ([Result.SetConditions]). Write them with [Engine.ReportStatus] after a Builder's Reconcile; a
// [Plan] asks for them with Report. Both make one patch a pass, and none if nothing has changed. Whether children are
// ready, not just applied, is looked at on request: [Builder.AwaitReady], [ReadyWhen], Plan.Report.
//
// A plan that can't go on before something outside of it is there says so in WaitingFor: "Secret shop/tls" makes Ready=False
// and Progressing=True with the reason Waiting. So it isn't Ready with half of its children.
//
// The rest of a status is the plan's business. In a plan without Report so are the conditions; but what the builder
// can't do it reports all the same, on owners that are [Conditioned]: Ready=False, and Stalled=True if no retry can
// help, until it can. Events say what was created, updated and deleted, one for each kind and pass, and what failed,
// once for each failure; see package events. Metrics named armature_builder_... are in controller-runtime's registry,
// and [Options.TracerProvider] receives spans; docs/metrics.md explains both.
//
// # Tests
//
// A plan is a function: give it an owner and a [NewView] of what exists, and look at the [Plan]. [Operator.PlanFor] checks
// it, too, against what the operator declares. Package
// builder/buildertest has an API server in memory that behaves like one where it matters, and CrashEverywhere, which lets
// the loop ([Operator.Reconciler]) or a reconciler of one's own die after each of its writes and holds that the end is the
// same.
//
// # Permissions
//
//	the owner's kind        get, list, watch
//	                        patch                             (for PruneAll and CrossNamespace)
//	                        delete                            (for Plan.DeleteOwner)
//	its status              patch                             (subresource status)
//	its finalizers          update                            (where OwnerReferencesPermissionEnforcement is on)
//	each kind of children   get, list, watch, create, patch; delete if it is pruned, recreated or deleted
//	                        (with CreateOnly: patch only for Adopt and Plan.Edits)
//	kinds CrossNamespace         the same and delete, in the whole cluster
//	kinds once recorded     list, delete                      (for PruneAll: until they are pruned)
//	watched kinds and dependents                              get, list, watch
//	events.events.k8s.io    create, patch
//	controllerrevisions     get, list, watch, create, patch, delete   (of apps, if there are phases)
//	pods                    list, delete                      (for StatefulSets in phases that go by OrderedReady; see RolloutOptions)
package builder
