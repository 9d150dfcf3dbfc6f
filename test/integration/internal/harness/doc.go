// Package harness is what the suites of the operators share: a namespace on the test cluster, a manager in it that can be stopped
// and started again, and ways to wait for what becomes of objects.
//
// A suite embeds a [Place] in a place of its own, to which it adds what it knows about its kind:
//
//	type place struct{ *harness.Place }
//
//	func newPlace(t *testing.T) *place {
//		t.Helper()
//		return &place{harness.New(t, "JobFlow", patience)}
//	}
//
//	func (p *place) manage(change ...func(*rest.Config)) (stop func()) {
//		p.T.Helper()
//		mgr := p.NewManager(testcluster.OperatorConfig(p.T, "jobflow"), p.Options(), change...)
//		require.NoError(p.T, jobflow.Setup(mgr))
//		return p.Start(mgr)
//	}
//
// A suite of an example, whose kinds aren't in config/crd, starts from [Connect]. What runs bin/armature as a process is in
// package binary instead.
package harness
