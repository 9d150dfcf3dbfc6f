// Package readiness says of an object read from a cluster whether it is as its spec asks for.
//
// The rules are those of kstatus (sigs.k8s.io/cli-utils/pkg/kstatus), on Go types: kstatus reads unstructured objects
// only, which would cost a conversion of each child in each pass, and its module requires kubectl's. They differ where
// order matters, and are these:
//
//   - Deployment, StatefulSet, DaemonSet, ReplicaSet: the newest spec is observed, and all pods are available and of the
//     newest template. A Deployment has failed at ProgressDeadlineExceeded. A StatefulSet is rolled out when its
//     currentRevision is its updateRevision, or its partition is reached; it never fails. With OnDelete, pods of an
//     older template aren't waited for.
//   - Job: complete (kstatus: started); failed when the Job has.
//   - Pod: ready, or succeeded; failed when it has failed (kstatus: ready) or is in CrashLoopBackOff.
//   - PersistentVolumeClaim: bound, or unused (kstatus: bound): it has a storage class, and nothing on it says that a volume
//     is looked for: no volume name, selected node or provisioner. So it is with a class that binds on first consumption, as
//     long as no pod uses the claim. A claim of a class that no one provisions isn't told from an unused one: the pods that
//     use it say that they wait.
//   - Service: has a cluster IP, and an address if it is a LoadBalancer (kstatus: without). PodDisruptionBudget: observed.
//     CustomResourceDefinition: established.
//   - Any other: status.observedGeneration, if set, is the generation, and of its conditions Stalled isn't True (else it
//     has failed), Reconciling isn't True, and Ready, if it has one, is True. A kind that says nothing of itself is
//     ready as soon as it exists.
package readiness
