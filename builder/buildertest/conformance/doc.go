// Package conformance has the cases that the fake API server of buildertest imitates. A case is a list of calls; its transcript has
// the replies. The transcripts in testdata were recorded from a real API server. The tests of this package replay them against the
// fake server, those in test/integration/buildertest against a real one. So the fake server can't drift.
//
// To record again: go test ./test/integration/buildertest -update
package conformance
