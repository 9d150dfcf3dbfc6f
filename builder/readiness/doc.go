// Package readiness evaluates whether an object, as read from a cluster, has reached the state that its spec asks for.
//
// The rules are those of kstatus (sigs.k8s.io/cli-utils/pkg/kstatus), on Go types. kstatus reads only unstructured objects, which
// would cost a conversion of each child in each pass, and its module requires kubectl's. The rules, with the differences from kstatus,
// are:
//
//   - Deployment, StatefulSet, DaemonSet, ReplicaSet: the controller has observed the newest spec, and all pods are available and of
//     the newest template. A Deployment has failed at ProgressDeadlineExceeded. A StatefulSet is rolled out when its currentRevision
//     is its updateRevision, or its partition is reached; it never fails. With OnDelete, the rule ignores pods of an older template.
//   - Job: complete (kstatus: started); failed when the Job has failed.
//   - Pod: ready, or succeeded; failed when it has failed (kstatus: ready) or is in CrashLoopBackOff.
//   - PersistentVolumeClaim: bound, or unused (kstatus: bound). It is unused if it has a storage class, and no volume name, selected
//     node or provisioner. A claim of a class that binds on first consumption is in this state while no pod uses it. So is a claim
//     of a class without a provisioner; the pods that use it report that they wait.
//   - Service: has a cluster IP, and an address if it is a LoadBalancer (kstatus: without). PodDisruptionBudget: observed.
//     CustomResourceDefinition: established.
//   - Any other kind: status.observedGeneration, if set, is the generation; the condition Stalled isn't True (otherwise it has
//     failed); Reconciling isn't True; and Ready, if set, is True. A kind without any of these is ready when it exists.
package readiness
