// Package buildertest tests operators. It has a fake API server that behaves like a real one where that matters, and crashes operators
// after each of their writes.
//
// # A server in memory
//
//	server := buildertest.NewServer(scheme, buildertest.WithCRDs("config/crd"), buildertest.WithObjects(owner))
//	c := server.Client("my-operator") // a client.WithWatch, and a client.FieldIndexer
//
// The server sets UIDs, times and generations, counts resource versions, and keeps them on writes that change nothing. It sets the
// defaults of the common built-in kinds and of CRDs. It refuses what the API server refuses, with the same errors (a stale version,
// another UID, an immutable field, negative replicas, a template's label that is too long). It writes the status separately, merges
// applies by field manager with conflicts, keeps objects that have finalizers, and collects garbage. The package conformance has these
// behaviours as cases, which also run on a real API server. The server doesn't imitate:
//
//   - Controllers. A Deployment gets no Pods. Package world has the controllers of a cluster: see [Cluster].
//   - Rare validation, admission webhooks and RBAC (but see [CheckRole]), LimitRanges, scopes of quotas, and quotas of anything but pods.
//     Inject their answers with [Client.Fail].
//   - Validation by a CRD's CEL rules, and of duplicates in its lists of the types set and map.
//   - Namespaces, unless it has had an object of the name: a namespace that was deleted is missing, any other one exists.
//   - Subresources except status, patches of scale, and the binding of pods: no eviction.
//   - Conversion between versions of a kind: each version has its own objects.
//   - The finalizers of missing controllers, such as that of claims in use.
//
// The server's time moves only by [Clock.Step]. When nothing changes any more, [Settle] and [CrashEverywhere] step it to the time for
// which the operator requested another pass, unless [Scenario.ClockStands].
//
// # Record of calls
//
// Each client has a [Ledger], and the server has one for all clients:
//
//	server.Ledger().Count(buildertest.VerbCreate, schema.GroupKind{Group: "batch", Kind: "Job"})
//	c.Ledger().Writes()
//
// # Faults
//
// A [Client] stands for one process. [Client.Fail] makes its calls fail, all of them or the n-th. [Client.Lag] and [Client.Freeze]
// make it read an older state, as from a cache. [Client.DropEvents] drops events of its watches. [Client.CrashAfter] crashes it after
// a write, with or without the server's reply.
//
// # Crash everywhere
//
// [CrashEverywhere] takes an operator and a [Scenario]. It runs the scenario once without a crash, until nothing changes any more.
// Then, for each write of that run, it goes on from the state after that write with a new process, as after a crash. In each run the new
// process must reach the same end state, by itself or through a state from which another of these runs does. It must create nothing twice
// and write to no object of another owner:
//
//	buildertest.CrashEverywhere(t, buildertest.Scenario{
//		Objects:  []client.Object{flow, world.Node("n1")},
//		Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(flow)}},
//		Cluster:  world.Cluster(world.Options{Pods: world.JobsSucceed}),
//		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
//			return buildertest.NewReconciler(jobflow.Operator(nil), c, c.Now)
//		},
//	})
//
// # Every order
//
// [Explore] runs a [Scenario] in all orders of what can happen: which pass comes next and what its cache misses, after which write it
// crashes, which object the rest of the cluster changes next, when a user edits. [Bounds] limit the number of faults. Within them it
// visits every state once, and takes no two orders that lead to the same state if it can know that:
//
//	buildertest.Explore(t, scenario, buildertest.Bounds{Crashes: 1, StaleReads: 1, Edits: 1})
//
// A state is the server's objects without resource versions and the messages of refused pods, with ages instead of times, the names of
// deleted namespaces, the queues, the timers, what a stale cache could show, and how many faults have happened. UIDs don't depend on the
// order of creations there. What is checked is in [Explore]; the errors are [ErrNoRest], [ErrOtherEnd], [ErrStuck], [ErrCreatedTwice],
// [ErrNotOwned], [ErrBackwards], [ErrPanic] and those of [Scenario.Invariants]. A [Counterexample] is a numbered list of what happened and
// what passes wrote, made as short as leaving out steps makes it, and [Replay] runs it again:
//
//	explore_test.go:12:   1. pass of default/demo
//	         - create Job.batch default/demo-a
//	         - patch JobFlow.api.practice.com/status default/demo
//	      2. step Job default/demo-a
//	      3. a user makes edit 1
//	      4. pass of default/demo
//	         - create Job.batch default/demo-a
//	    then: pods demo-a-1 and demo-a-2 of node a run at the same time
//
// Events arrive at once, and wake the requests that a manager would enqueue; a pass that waits, or that reads an older state, stands for
// an event that is late. A cache never shows an older state than in an earlier pass of its process. A crash with the reply to the last
// write, one without it, and one before the next write leave the same state, so they are one crash here. A reply that is lost while the
// process lives on is a fault of its own: [Bounds.LostReplies].
// Nothing else happens during a pass, neither an edit nor a pass of another operator. A crash takes no time: the next process starts at the
// same time, without what the crashed one had read.
//
// The rest of the cluster is [Scenario.Cluster], such as a world of package world; it must be deterministic and use the server's clock, or
// no state comes twice. Two orders are left out because they show nowhere: a step that changes a kind which no operator and no invariant
// reads comes first, and a pass that would write nothing is no step. Where a ResourceQuota may refuse a pod, a step that changes a quota,
// the spec of a workload, or what a pod uses has any place. The writes of a controller about one object are one step, so that no operator
// reads what is between them; [Bounds.EachStep] makes each a step. [Bounds.Coarse] leaves out more: all steps about a Job and its pods are
// one until the Job has changed. With [Bounds.WholeWorkloads] they are one until nothing about the Job can happen.
//
// Scenario of package story makes a scenario from a file. Its counterexamples are stories: see [Counterexample].
//
// Each pass is the first one of a new process, unless [Bounds.KeepMemory]: so the state is all that a pass depends on, and the
// exploration of a builder's operator is exact, because forgetting costs it only requests. [Bounds.Walks] adds random walks with more
// faults and with processes that remember. They continue from states that no walk had seen. Their counterexamples begin with these bounds,
// within which [Replay] runs them. A counterexample may also begin with kinds that operators read, and namespaces in which pods compete for
// a quota, if only other runs showed that. It says so if [Replay] doesn't meet it again.
//
// # A simulated cluster
//
// Package world runs controllers, a scheduler, kubelets and managers around the server, in single steps and with a clock of its own.
// Package story runs tests in it that are written as text, such as operators/daemonjob/testdata/stories. Use them for what an operator
// does over time, and CrashEverywhere for crashes at each write.
//
// # More about crashes
//
// Run CrashEverywhere with a [Scenario.Lag] as well, so that the operator's cache lags behind. [Scenario.Then] continues from the end
// state: the spec changes ([Change]), and the operator crashes after each write of that part too. [Settle] runs a scenario without a crash
// and returns the server, so that a test can check the end state.
package buildertest
