// Package readiness says of an object read from a cluster whether it has become what its spec asks for.
//
// The rules are those of kstatus (sigs.k8s.io/cli-utils/pkg/kstatus), on Go types: kstatus reads unstructured objects
// only, which would cost a conversion of each child in each pass, and its module requires kubectl's. They differ where
// order matters: a Job is ready when it is complete (kstatus: when it has started), a pod that failed has failed
// (kstatus: is as it should be), a Service of type LoadBalancer is ready when it has an address. What no rule knows is
// ready as soon as it exists.
package readiness
