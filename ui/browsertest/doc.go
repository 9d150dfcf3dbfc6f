// Package browsertest opens the page of "armature ui" in a real browser: headless Chromium, which hack/chromium.sh installs where it can.
//
//	go test .                          everything, with a cluster of its own (bin/devcluster and bin/armature)
//	go test -short .                   without a cluster: what a server with made data can show
//	MEASURE=1 go test -run TestBig -v  the numbers of docs/benchmarks.md
//	SCREENSHOTS=../../docs/img go test -run TestPictures .   the pictures of the documentation
//
// It is a Go module of its own, so that Armature's has no browser among its dependencies.
package browsertest
