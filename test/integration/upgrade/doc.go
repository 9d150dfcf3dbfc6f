// Package upgrade upgrades programs by real binaries of two builds: what the new one previews is what it then does, write by write; owners
// that are paused or wait for their turn get no writes, as the API server's audit log shows; and a kill in the middle changes nothing of
// that. One of the former builds is that of the previous commit. It builds programs, so it is part of make e2e and not of make test:
//
//	go test -tags e2e ./test/integration/upgrade
package upgrade
