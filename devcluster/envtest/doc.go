// Package envtest is a drop-in for sigs.k8s.io/controller-runtime/pkg/envtest on a cluster of devcluster: an existing suite moves by one
// import, and has controllers, garbage collection, a scheduler and a node from then on.
//
//   - "sigs.k8s.io/controller-runtime/pkg/envtest"
//   - "github.com/armature-dev/armature/devcluster/envtest"
//
// The types of options are those of controller-runtime, in the version of the suite's module: CRDs are installed and webhooks are set up
// by its own code. Only the cluster is another one.
//
// # What is different
//
//   - Namespaces are deleted, owners' children are collected, Deployments have pods, Jobs complete, and each namespace has a default
//     service account. A suite that plays controllers itself, as suites of envtest have to, excludes the real ones:
//     env.Use(devcluster.WithoutControllers()).
//   - The program devcluster replaces the binaries of envtest, so the fields that say where those are have no effect
//     (BinaryAssetsDirectory, DownloadBinaryAssets, DownloadBinaryAssetsIndexURL), nor has KUBEBUILDER_ASSETS.
//   - The version of Kubernetes is that of devcluster. Start returns an error where DownloadBinaryAssetsVersion asks for another one.
//   - Flags of the API server are kept: env.ControlPlane.GetAPIServer().Configure().Append("feature-gates", "..."). They are added to those
//     of devcluster. Start returns an error for what devcluster decides itself: etcd, addresses, paths, and authentication.
//   - With UseExistingCluster, and USE_EXISTING_CLUSTER=true, everything is as in controller-runtime.
package envtest
