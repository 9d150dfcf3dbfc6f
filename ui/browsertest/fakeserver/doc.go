// Package fakeserver serves the built page with made data, by the contract in ui/API.md: whatever a test wants a screen to show, without a cluster.
//
//	s := fakeserver.New("../assets")
//	s.Stream("flow", "a/nightly", fakeserver.E("flow", row), fakeserver.E("graph", graph))
//	s.Send("flow", "a/nightly", "nodes", nodes)
//
// Tests of sizes, of markup in names and of outages use it. What the real server does is tested with the real one, on a cluster.
package fakeserver
