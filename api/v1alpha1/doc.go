// Package v1alpha1 holds Armature's batch kinds, in the API group api.practice.com.
//
// A [JobFlow] runs Jobs in the order of their dependencies; a [JobTemplate] is a Job's spec that flows refer to. A
// [DaemonJob] runs a Job on every node. A [MiniCluster] is an HPC cluster of pods that Flux brokers join; a [FluxJob] runs
// a command on one, when the quota of its [FluxSetup] allows it.
// A [ReplicaJob] runs pods of several types together.
// The package depends on the Kubernetes API types only, so that clients can import it without the operators.
//
// The comments of the fields are the manual that kubectl explain shows.
//
// +kubebuilder:object:generate=true
// +groupName=api.practice.com
package v1alpha1

//go:generate go tool -modfile=../../tools/gen/go.mod controller-gen object crd:generateEmbeddedObjectMeta=true paths=. output:crd:dir=../../config/crd
//go:generate go run ../../tools/trimcrd -embedded env,shareVolumes,shareVolumeMounts,jobTemplate,template,DaemonJob.excludeNodeSelector,DaemonJob.selector,DaemonJob.podFailurePolicy,DaemonJob.successPolicy,DaemonJob.scheduling,resources,securityContext,resourceClaims,tolerations ../../config/crd
