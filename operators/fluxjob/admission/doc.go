// Package admission keeps the reservations of the FluxSetups: which FluxJobs hold a share of the quota, and which one is next. It is
// public, because a manager's program names itself with a [Manager], and commands and the validating webhook read and check queues.
//
// [Plan] is a pure function of a FluxSetup and of everything that the queues of its cohort depend on: the other FluxSetups, the
// FluxJobs, their MiniClusters, the namespaces. The package queue makes the decisions, as numbers. Read it in this order:
//
//	setup.go         which events run a plan; watches.go has which FluxSetups an event concerns
//	plan.go          Plan: from the view to the builder's plan
//	observe.go       the FluxSetups that lend to each other, and their jobs, as numbers
//	decide.go        which jobs are admitted and evicted, entered into the reservations
//	status.go        the status and its condition
//
// Each idea is in a file of its own:
//
//	reservations.go  which reservations of the status still hold
//	full.go          how many reservations the status can record
//	queue.go         which jobs wait, in which order, and why
//	validate.go      which specs are invalid
//	manager.go       which manager has the queue
//	takeover.go      how another manager refuses it, requests it, takes it over
//	forecast.go      when waiting jobs are admitted, for those who show queues
//
// # How a share changes hands
//
// The reservations are a list in a FluxSetup's status. The builder writes it in one request with the resource version that the pass has
// read, so two writers can't both give away the same quota. This write is the admission, and nothing of the job exists before. The
// FluxJob's own plan observes its reservation and accepts it: it records the attempt and the share in the FluxJob's status, and only then
// creates the MiniCluster. From then on both objects have the record, and either can be lost: a FluxSetup that is deleted and recreated
// finds the shares in the FluxJobs.
//
// An eviction is a mark in the reservation. The FluxJob's plan observes the mark and stops the MiniCluster. When the pods are gone, it
// gives the share back: it removes the admission from its status. Then the reservation is removed. A FluxJob that is deleted holds its
// share until its MiniCluster is gone.
//
// A reservation is for one attempt of one job: the attempt's number is one more than the job's last. So a reservation that the job has
// given back differs from one that it hasn't accepted yet.
//
// # One manager
//
// A manager may watch only some of the namespaces, and so only some of a queue's jobs. The manager whose name is in the status admits
// jobs. Each other manager keeps the reservations of those jobs up to date that only it watches. The name is written with the resource
// version that was read, too, and the pass that writes it admits no job.
//
// A pass decides for all FluxSetups of a cohort, and writes only the decisions about its own. Passes run one at a time.
package admission
