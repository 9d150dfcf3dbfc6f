// Package devcluster gives a Go test a real Kubernetes cluster: etcd, the API server, the controllers and their garbage collection, the
// scheduler and nodes, as processes of this machine. It needs no container runtime, no root and no cluster elsewhere.
//
//	func TestIt(t *testing.T) {
//		config := devcluster.Start(t, devcluster.WithManifests("config/crd/bases"))
//		c, err := client.New(config, client.Options{})
//		...
//	}
//
// The cluster stops at the end of the test, and also when the test process is killed. [Shared] keeps it for all tests of the test binary.
// A suite that has a TestMain, and a program, use [Up] instead of [Start].
//
// # Nodes
//
// A cluster has one simulated node, fake-0: its pods run, end and are ready as their annotations say, and run nothing. [WithFakeNodes]
// gives more of them; [WithNodes] gives nodes that run containers as local processes. [WithoutControllers] is for tests that play
// the controllers themselves.
//
// # The program
//
// The cluster is another program, devcluster, because a cluster has the dependencies of all of Kubernetes. A module that imports this
// package gets none of them. [Binary] finds the program or builds it once, at the version of this package, in the cache of the user. The
// first build takes minutes, so do it before the tests, with the Go command and nothing else:
//
//	go run github.com/armature-dev/armature/devcluster/install
//
// # Webhooks
//
// [WithWebhooks] lets the API server call admission and conversion webhooks of the test process, whose configurations are those of a
// production cluster. See [Webhooks].
//
// # Moving from envtest
//
// Package envtest beside this one has the names of controller-runtime's, so a suite moves by one import.
//
// # Environment
//
//	DEVCLUSTER_KUBECONFIG  use the cluster of this kubeconfig; start nothing
//	DEVCLUSTER_BIN         the program
//	DEVCLUSTER_FLAGS       more flags of `devcluster up` for each cluster, separated by spaces
package devcluster
