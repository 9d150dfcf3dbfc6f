// Package minicluster runs MiniClusters: HPC clusters of pods that Flux brokers join.
//
// [Planner.Plan] is the whole operator: a pure function of a MiniCluster, its Job and the Job's pods. [Setup] adds it to a manager. A
// pass is these files, in this order:
//
//	setup.go    which events run a plan, and what the plan reads in its view
//	plan.go     from what is observed to what is done
//	observe.go  the Job, its pods, the leader
//	decide.go   how the cluster continues: start, run, restart, a pause, the end
//	status.go   the status and its conditions
//
// Each policy and each object is in a file of its own:
//
//	change_job.go  what a decision means for the Job: suspend, size, deadline
//	failure.go     why a start came to nothing
//	workers.go     which worker failed or was lost, and whether the work can still begin
//	end.go         a cluster that has ended, or is being deleted
//	events.go      events, on transitions of the status
//	validate*.go   which specs are invalid
//
//	job.go       the Indexed Job, and how it ends
//	pod.go, container.go, volumes.go  its pods
//	mode.go      which container does the work, and how
//	objects.go   ConfigMaps, Secret, Service, and the services' Deployment
//	prepared.go  whether all these are as the pods need them
//	broker.go    broker.toml
//	scripts.go, run.go, scripts/  what the containers run
//	names.go     the names and labels of all these
//	curve.go     the certificate by which the brokers trust each other
//
// # Who does what
//
// Kubernetes' Job controller makes the pods, replaces lost workers, scales, and stops everything when the leader, index
// 0, has ended: its success is the Job's (successPolicy), and its own failure is the Job's (podFailurePolicy by exit
// codes). So a command isn't run twice while no operator is there. The scripts see to it that no other pod ends with such
// an exit code. The operator decides on restarts, and on ends that exit codes don't distinguish: a leader that was killed
// or deleted looks like a lost worker, so the operator lowers the Job's backoffLimit to 0, which makes it fail.
//
// # What is remembered
//
// status.restarts counts the starts, and each Job carries the count it was made with. A Job of an older count is deleted
// once its pods have stopped, and only then is the next one made: no two pods of a cluster have the same name in DNS. If
// others delete the Job, the next one is made once the pods that it has left have ended. The count is written before the
// Job is deleted, so a crash in between starts nothing twice. status.leader is the leader of this start; another pod in
// its place means that it was lost. status.startSize is what the configuration was made for, so that scaling changes
// nothing in it.
//
// # What is random
//
// The certificate. A plan can't be random, so the Planner is given what makes one; it is used only while there is no
// Secret, and the Secret is created once and never compared.
package minicluster
