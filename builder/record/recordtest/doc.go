// Package recordtest tests that the passes of an operator replay: that its plans depend on nothing but their arguments, and that a
// record has all that they read.
//
//	recorder := record.NewRecorder(1 << 20)
//	buildertest.Settle(t, buildertest.Scenario{
//		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
//			return buildertest.NewReconciler(webapp.Operator(nil), recordtest.Client{Client: c, Recorder: recorder}, c.Now)
//		},
//	})
//	recordtest.Replay(t, recorder, webapp.Operator(nil), scheme)
package recordtest
