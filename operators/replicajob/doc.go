// Package replicajob runs jobs of several types of replicas, such as a chief, parameter servers and workers. It is the
// operator of the kind ReplicaJob, and the engine for kinds of one's own.
//
// # A kind of one's own
//
// A job kind is a Go type with a [v1alpha1.ReplicaJobStatus] for its status, a function that returns its spec, and one
// that describes the other replicas to a replica. The engine does the rest:
//
//	var TorchJobs = replicajob.Kind[*v1.TorchJob]{
//		Name: "torchjob",
//		Spec: func(j *v1.TorchJob) v1alpha1.ReplicaJobSpec {
//			return v1alpha1.ReplicaJobSpec{ReplicaSpecs: j.Spec.TorchReplicaSpecs, RunPolicy: j.Spec.RunPolicy}
//		},
//		Status: func(j *v1.TorchJob) *v1alpha1.ReplicaJobStatus { return &j.Status },
//		ClusterSpec: func(j *v1.TorchJob, world *replicajob.World, me replicajob.Replica, pod *corev1.PodTemplateSpec) {
//			replicajob.SetEnv(pod,
//				replicajob.Env("MASTER_ADDR", world.Host("Master", 0)),
//				replicajob.Env("WORLD_SIZE", strconv.Itoa(world.Size())),
//				replicajob.Env("RANK", strconv.Itoa(me.Rank)))
//		},
//	}
//
//	err := TorchJobs.Setup(mgr)
//
// ReplicaJob itself is [ReplicaJobs], one such value. The examples torchjob and tfjob are whole operators.
//
// # A pass
//
// [Kind.Plan] is a pure function of the job, its pods and the time. Read it in this order:
//
//	setup.go    which events run a plan, and what the plan reads in its view
//	plan.go     from what is observed to what is done
//	observe.go  the state of each replica
//	decide.go   how the job continues: start, run, restart, a pause, the end
//	status.go   the status and its conditions
//
// What is special about a kind is in kind.go, and the description of the job for its replicas in world.go. Each policy is in a
// file of its own, named after the field of the API or the idea that it implements:
//
//	validate.go           which specs can't be carried out, and what holds of jobs that have one
//	success_policy.go     which replicas decide on success, and whether they have succeeded
//	failure_policy.go     what the failure of a pod means: failure rules, restart policy, restarts of the whole job
//	evaluated.go          how much of the failure rules one pass evaluates, and what it records for the next
//	restarts.go           how restarts are counted and limited
//	suspend.go            suspension and resume
//	end.go                clean-up and time to live
//	depends_on.go         which types wait for which
//	pod.go, network.go    the pods and Services
//	names.go              the names and labels of pods and Services
//	environment.go        the variables that tell a replica of a ReplicaJob about the others
//	scheduling_policy.go  gang scheduling; gang_apis.go has the APIs of the cluster
//	events.go             events, on transitions of the status
//
// A pod's name, <job>-<type>-<index>, identifies its replica, because no one can change it. So no two pods are one replica, and
// labels that say otherwise don't matter. The operator deletes a pod that it controls and that is no replica (its index is past the
// replicas, its name is unknown). It releases a pod whose labels say that it is another job's.
//
// # What survives a crash
//
// Invariant: an earlier pass has recorded in the status why a pod is deleted: the outcome before the clean-up, a restart
// before the deletion of the failed pod, a suspension before the deletion of all pods.
//
// The number of a replica's restarts can be read from the pod alone: its label says how many there were before, the
// kubelet how many there were in place, and its failure is one more. The plan records the number as soon as it observes
// it, and deletes the pod once the record is as high. A recreated pod gets the recorded number as its label. So a crash
// before the record changes nothing, one after it can't count twice, and no number is lost with a pod.
//
// A restart of the whole job is a number too: pods that are labelled with a lower one are deleted and recreated.
//
// # What became of kubeflow's names
//
// Who has written an operator with github.com/kubeflow/common finds here what became of its 18 methods and their kin:
//
//	ReconcileJobs                        Kind.Plan, and builder carries it out
//	NewJobController, ControllerName     Kind, Kind.Setup, Kind.Name
//	GetAPIGroupVersionKind, -GroupVersion  from the Go type and the scheme
//	GetJobFromInformerCache, -APIClient  builder reads the job and its pods from the cache
//	SetClusterSpec                       Kind.ClusterSpec, with a World
//	GetDefaultContainerName              Kind.Container
//	GetDefaultContainerPortName          Kind.PortName, Kind.Port, World.Port
//	IsMasterRole                         World.Leads, Kind.Leaders; the label job-role
//	UpdateJobStatus                      Kind.Status says where; success by SuccessPolicy and Kind.Leaders
//	UpdateJobStatusInApiServer           builder writes it, once a pass and only when it changed
//	UpdateJobConditions, commonutil      the conditions follow from what is observed, never both Running and Restarting
//	CreatePod, DeletePod, PodControl     builder.CreateOnly, Plan.Delete
//	CreateService, DeleteService, ServiceControl  created and pruned as any child
//	GetPodsForJob, GetServicesForJob     builder.Owned; adoption by builder.Adopt with labels, orphaning by Plan.Edits
//	RecheckDeletionTimestamp             builder makes and adopts nothing for a job that is being deleted
//	FilterPodsForReplicaType, GetPodSlices  the observed replicas, by the names of pods
//	GenGeneralName                       PodName
//	GenLabels, GetGroupNameLabelKey ...  the Label constants, Kind.Selector
//	GenOwnerReference                    builder's, with blockOwnerDeletion
//	GenExpectationPodsKey, -ServicesKey, Expectations   none: names are deterministic, and a pass sees the writes of
//	                                     the one before (EnableReadYourWritesConsistency)
//	AddPod, UpdatePod, DeletePod, AddService ...  builder.Operator.Owns watches
//	WorkQueue, BackoffStatesQueue        Plan.RequeueAfter; delays follow from what the API keeps
//	SyncPdb, DeletePdb, SyncPodGroup     RunPolicy.SchedulingPolicy
//	EnableGangScheduling                 a job's own choice: SchedulingPolicy.Provider
//	CleanupJob, PastActiveDeadline, PastBackoffLimit    RunPolicy, also when the time passed while nothing ran
//	RunPolicy, ReplicaSpec, JobStatus    v1alpha1.RunPolicy, ReplicaSpec, ReplicaJobStatus
//	ReconcilerSyncLoopPeriod             none: there is a pass when something changes, or when a time comes
package replicajob
