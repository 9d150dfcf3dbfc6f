// Package effectstest tests operators with external effects: see package effects.
//
// System is a simulated system outside of the cluster, with a performer that crashes with the operator's process. In a scenario of package
// buildertest, CrashEverywhere then crashes the process after each of its calls, too.
//
//	outside := effectstest.NewSystem()
//	buildertest.CrashEverywhere(t, buildertest.Scenario{
//		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
//			return buildertest.NewReconciler(operator(outside.Through(c)), c, c.Now)
//		},
//	})
//
// Each run of a scenario needs a System of its own: make it for the first process of the run, as ForRuns does.
//
// Done returns the journal of an effect that was performed, for the view of a test of a plan.
package effectstest
