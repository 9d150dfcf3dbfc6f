// Package admission keeps the reservations of the FluxSetups: which FluxJobs hold a share of the quota, and which one is next. It is public,
// because a manager's program names itself with a [Manager], and commands and the validating webhook read and check queues.
//
// [Plan] is a pure function of a FluxSetup and of everything that the queues of its cohort depend on: the other FluxSetups, the
// FluxJobs, their MiniClusters, the namespaces. The package queue makes the decisions, as numbers. Read it in this order:
//
//	setup.go         which events run a plan; watches.go has which FluxSetups an event concerns
//	plan.go          Plan: from the view to the builder's plan
//	cohort.go        the FluxSetups that lend to each other, and their jobs, as numbers
//	reservations.go  which reservations of the status still hold
//	grant.go         the decisions, entered into the reservations
//	queue.go         which jobs wait, in which order, and why
//	status.go        the rest of the status
//	validate.go      which specs are invalid
//	manager.go       which manager has the queue
//	takeover.go      how another manager refuses it, requests it, takes it over
//
// # How a share changes hands
//
// The book is the list of reservations in a FluxSetup's status. It is written in one request with the version that was
// read, so two writers can't both give what is there once: this is the moment of admission, and nothing of the job
// exists before. The FluxJob's own plan sees its reservation and accepts it: it writes into the FluxJob's status which
// run this is and what was given, and only then makes the MiniCluster. From then on both know, and either can be lost:
// a FluxSetup that is deleted and made again finds the shares in the FluxJobs.
//
// To evict a job is to mark its reservation. The FluxJob's plan sees the mark, stops the MiniCluster, and when the pods are
// gone it gives the share back, by taking the admission out of its status. Then the reservation goes. A FluxJob that is
// deleted holds its share until its MiniCluster is gone.
//
// A reservation is of one run of one job: the run's number is one more than the job has had. So a reservation that the
// job has given back can be told from one that it has yet to accept.
//
// # One manager
//
// A manager may see only some of the namespaces, and so only some of a queue's jobs. The manager whose name is in the status
// gives; of the jobs that it doesn't see, each other manager keeps the reservations up to date. The name is written with the
// version that was read, as the book is, and nothing is given in the pass that writes it.
//
// Each setup of a cohort enters only its own decisions, having decided for all of them; passes are made one at a time.
package admission
