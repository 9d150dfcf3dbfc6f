// Package world is a simulated cluster around the API server in memory of package buildertest: the controllers of Jobs, Deployments,
// ReplicaSets, StatefulSets and DaemonSets, a scheduler, kubelets whose pods run scripts, and managers that run operators. It runs
// without goroutines and without real time, so an hour of a cluster takes milliseconds, and a run with the same seed is the same run.
//
//	server := buildertest.NewServer(scheme, buildertest.WithCRDs("config/crd"), buildertest.WithObjects(node, flow))
//	w := world.New(server, world.Options{})
//	_, err := w.AddManager("manager", world.OperatorOf(jobflow.Operator))
//	err = w.Script("train-*", world.Script{Ends: true, Run: 2 * time.Minute, ExitCode: 137})
//	err = w.Wait(ctx, 10*time.Minute)
//
// # Steps
//
// Everything that happens is a [Step]: one write of one controller, or one pass of a manager over one owner. [World.Steps] returns those
// that are possible now. [World.Settle] runs them until there are none, in an order that Options.Seed selects, and [World.SettleOnly] only
// some of them; [World.Wait] also moves the clock. A test that wants an order of its own runs single steps. Package story runs tests that
// are written as text.
//
// A [Controller] has no memory and sees only the [State]. It returns the writes that it would make now. So a crash of a controller is no
// event of its own, and an author adds a controller of his cluster with Options.Controllers.
//
// # What is simulated
//
//	job.go           Jobs: parallelism, completions, Indexed, backoffLimit, backoffLimitPerIndex, maxFailedIndexes, podFailurePolicy,
//	                 successPolicy, podReplacementPolicy, suspend, activeDeadlineSeconds, ttlSecondsAfterFinished; finalizers, uncounted
//	                 pods and interim conditions
//	deployment.go    both strategies, maxSurge, maxUnavailable, pauses, collisions of names; progressDeadlineSeconds
//	replicaset.go    pods, readiness, minReadySeconds
//	statefulset.go   the order of pods, claims, rolling updates with a partition and maxUnavailable
//	daemonset.go     the nodes that a template selects and tolerates, rolling updates with maxUnavailable
//	claim.go         adoption of the orphans that a workload selects, and release of what it no longer selects; not for Jobs
//	scheduler.go     node capacity, selectors and affinity, taints, cordons
//	kubelet.go       start, end, restart and deletion of pods, as a [Script] says, and their activeDeadlineSeconds; a sidecar runs
//	                 until the containers have ended, and then ends with 143
//	references.go    pods that wait for a Secret or a ConfigMap of their volumes or their environment; not at a restart
//	node_lifecycle.go nodes that aren't ready: their taints, and the readiness of their pods; Ready=False counts as a lost node too
//	pod_collector.go pods of deleted nodes, evictions by NoExecute taints
//	quota.go         pods that a ResourceQuota refuses; no scopes, and no LimitRanges
//	manager.go       passes, requeues, crashes, lagging caches, two managers
//
// What the API server refuses, such as a pod whose name another object has, its controller tries again once it can succeed: the world
// comes to rest meanwhile, and the status of the workload shows the missing pod. No controller of the world emits events.
//
// The server itself collects garbage. Names of pods end with a number instead of random letters, so that a test can name them. A
// simulation differs from a cluster where its controllers' comments say so: no pod affinity, preemption or volumes. It ignores
// revisionHistoryLimit, the strategy Recreate of StatefulSets, persistentVolumeClaimRetentionPolicy, and maxSurge of DaemonSets.
// The cases of package conformance, which also run on a real cluster, hold it to the behaviour of the real controllers.
package world
