// Package testcluster gives tests a real Kubernetes cluster: that of devcluster, started when the first test
// asks for it, shared by the test binary, and gone with it, whether it ends well, panics on a timeout or is
// killed.
//
//	func TestMain(m *testing.M) { os.Exit(testcluster.Run(m)) }
//
//	func TestIt(t *testing.T) {
//		testcluster.InstallCRDs(t, "config/crd")
//		c := testcluster.Client(t, v1alpha1.AddToScheme)
//		namespace := testcluster.Namespace(t)
//		...
//		out, err := testcluster.Kubectl(t, "-n", namespace, "get", "pods")
//	}
//
// A cluster has three nodes that run containers as local processes (minikube, node-2, node-3), unless Run is
// given other options. Without a Run in TestMain everything works too; the cluster then stops a moment after
// the test binary.
//
// A connection by [OperatorConfig] has the permissions that an operator is installed with, and no more. What is refused fails
// the test, and what no test made use of fails the run.
//
// Environment:
//
//	ARMATURE_TEST_KUBECONFIG  use the cluster of this kubeconfig; start nothing
//	DEVCLUSTER_BIN            the devcluster binary (default: bin/devcluster of the repository, built if missing)
package testcluster
