// Package effectstest tests operators with external effects: see package effects.
//
// System is a simulated system outside of the cluster. Its performer crashes with the operator's process, and its things belong to the
// state of the simulated API server. So in a scenario of package buildertest, CrashEverywhere crashes the process after each change
// outside, too, and Explore returns to each state of the system.
//
//	var outside effectstest.System
//	scenario := buildertest.Scenario{
//		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
//			return buildertest.NewReconciler(operator(outside.Through(c)), c, c.Now)
//		},
//	}
//	buildertest.CrashEverywhere(t, scenario)
//	buildertest.Explore(t, scenario, buildertest.Bounds{Crashes: 1, StaleReads: 1})
//
// Things returns what is outside, for a step or an invariant of the scenario. The scheme needs corev1.
//
// A performer of a real system is tested in the same way, with buildertest's Scenario.Outside and Client.Outside.
//
// Done returns the journal of an effect that was performed, for the view of a test of a plan. Describe returns the effects of the plan as
// text.
package effectstest
