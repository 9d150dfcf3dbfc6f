// Package builder is source-compatible with package builder of github.com/datainfrahq/operator-runtime v0.0.7, and
// works with Armature's engine. An operator that was written for the original moves by changing import paths:
//
//	github.com/datainfrahq/operator-runtime/builder     ->  github.com/armature-dev/armature/compat/builder
//	github.com/datainfrahq/operator-runtime/utils       ->  github.com/armature-dev/armature/compat/utils
//	github.com/datainfrahq/operator-runtime/reconciler  ->  github.com/armature-dev/armature/compat/reconciler
//
// Use it only to migrate. New operators use package github.com/armature-dev/armature/builder.
//
// # A pass
//
//	build := builder.NewBuilder(
//		builder.ToNewBuilderConfigMap(configMaps),
//		builder.ToNewBuilderService(services),
//		builder.ToNewBuilderDeploymentStatefulSet(workloads),
//		builder.ToNewBuilderContext(builder.BuilderContext{Context: ctx}),
//		builder.ToNewBuilderRecorder(builder.BuilderRecorder{Recorder: r.Recorder, ControllerName: "MyOperator"}),
//		builder.ToNewBuilderStore(*builder.NewStore(r.Client, labels, cr.Namespace, cr)),
//	)
//	if _, err := build.ReconcileConfigMap(); err != nil {
//		return err
//	}
//	// ... ReconcileService, ReconcileDeployOrSts, and last:
//	return build.ReconcileStore()
//
// Make a Builder and its store for each pass. Every Reconcile method returns its operation and all errors. An object
// that is up to date costs no write request.
//
// # What differs from the original
//
//	the original                                        here
//	------------                                        ----
//	loses errors, of creating a Service for one         returns them all, joined; builder.Error names the object
//	looks at its own hash: drift stays                  compares the object: drift is corrected
//	replaces objects, with others' fields               applies its own fields (server-side apply)
//	takes over any object that has the name             refuses, with builder.ErrNotOwned, what the owner doesn't control
//	prunes what has the labels; with nil labels, all    prunes what the owner controls, and of that what has the labels
//	prunes a kind only if some of it is left            prunes each kind that the Builder has a list of, be it empty
//	prunes ConfigMaps and Deployments                   also Services, StatefulSets, NetworkPolicies; never claims
//	may prune what an upgrade has not reached           knows all desired objects
//	prunes after errors that it lost                    prunes nothing after an error
//	stores one kind a name                              stores names by kind
//	lists once for each object                          lists once for each kind
//	panics without store, recorder, context, PodSpec    does without; a missing spec is an error
//	writes its hash into maps that objects share        writes to copies
//	hashes objects whole, with their owner's UID        hashes data and binaryData
//	events: the message as reason, and vice versa       reason and message; a failure that lasts is reported once
//	"Statefulset" is one, "StatefulSet" is nothing      any capitalisation of either; others are an error
//	takes a status of the last generation for ready     waits for observedGeneration
//	writes two objects of one name in every pass        writes the last one
//	always returns unchanged for workloads and claims   returns what was done: created, else updated, else unchanged
//	works on for an owner that is being deleted         leaves its objects to garbage collection
//
// Drift includes replicas, because BuilderDeploymentStatefulSet always sets them. The original kept the scaling of a
// HorizontalPodAutoscaler until the next change; this package undoes it in each pass. Move a workload with an autoscaler to Armature's
// builder first.
//
// Methods of CommonBuilder create, change and delete only children of the owner. They don't write to DesiredState.
//
// # Objects that the original created
//
// The first pass takes over these objects and the fields that the original wrote. It doesn't replace them; see docs/compat.md.
//
// # Moving on to Armature's builder
//
// Move object by object: give a desired object to an Engine instead of a Builder of this package. With the same field manager, the
// Engine finds nothing to change:
//
//	engine := armature.NewEngine(mgr.GetClient(), armature.Options{Name: builder.FieldOwner, Recorder: mgr.GetEventRecorder("my")})
//	...
//	result, err := engine.For(cr).ConfigMap(cm).Service(svc).Deployment(dep).
//		Prune(&corev1.ConfigMap{}, &corev1.Service{}, &appsv1.Deployment{}).Reconcile(ctx)
//
// With the same field manager, a later pass can remove a field that an earlier one set.
package builder
