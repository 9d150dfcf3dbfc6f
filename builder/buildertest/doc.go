// Package buildertest tests operators: against a fake API server that behaves like one where it matters, and by crashing
// them everywhere.
//
// # A server in memory
//
//	server := buildertest.NewServer(scheme, buildertest.WithCRDs("config/crd"), buildertest.WithObjects(owner))
//	c := server.Client("my-operator") // a client.WithWatch, and a client.FieldIndexer
//
// It sets UIDs, times and generations, counts resource versions, and keeps them on writes that change nothing. It fills
// in the defaults of the common built-in kinds and of CRDs, refuses what the API server refuses with the same errors
// (a stale version, another UID, an immutable field, negative replicas), writes the status apart from the rest, merges
// applies by field owner with conflicts, keeps objects that have finalizers, and collects garbage. What it imitates is
// written down as cases in the package conformance, which are run on a real API server too. What it does not:
//
//   - Controllers. No Pods come of a Deployment; play that with a [World].
//   - Validation beyond the common, the rules and patterns of CRDs, admission webhooks, quotas and RBAC: inject what
//     they would answer with [Client.Fail].
//   - Subresources but status, and patches of scale: no eviction or binding.
//   - Conversion between versions of a kind: each version has objects of its own.
//   - The finalizers of controllers that are not there, such as that of claims in use.
//
// The server's time stands still until [Clock.Step]. [Settle] and [CrashEverywhere] step it, once nothing changes any more,
// to when the operator asked for another pass, unless [Scenario.ClockStands].
//
// # What was called
//
// Each client, and the server for all of them, has a [Ledger]:
//
//	server.Ledger().Count(buildertest.VerbCreate, schema.GroupKind{Group: "batch", Kind: "Job"})
//	c.Ledger().Writes()
//
// # What goes wrong
//
// A [Client] stands for one process. [Client.Fail] lets its calls fail, all of them or the n-th; [Client.Lag] and
// [Client.Freeze] let it read what a cache would still show; [Client.DropEvents] loses events of its watches;
// [Client.CrashAfter] lets it die after a write, with or without having learnt of it.
//
// # Crash everywhere
//
// [CrashEverywhere] takes an operator and a [Scenario] and runs it once in peace, until nothing changes any more. Then it
// crashes it after its first write, after its second, and so on, each time twice: knowing the server's reply and not.
// Whatever the write, a new process must come to the same end state, having made nothing twice and touched nothing that
// is not its own:
//
//	buildertest.CrashEverywhere(t, buildertest.Scenario{
//		Objects:  []client.Object{flow},
//		Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(flow)}},
//		World:    buildertest.CompleteJobs,
//		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
//			return jobflow.Operator(nil).Reconciler(c, c.Now)
//		},
//	})
//
// Run it with a [Scenario.Lag] as well: then the operator's cache is behind. [Scenario.Then] goes on from there: the spec
// changes ([Change]), and the operator is crashed after each write of that too. [Settle] runs a scenario without a crash
// and returns the server, for a test to look at its end.
package buildertest
