// Package admission keeps the books of the FluxSetups: which FluxJobs hold a share of the quota, and who is next.
//
// [Plan] is a pure function of a FluxSetup and of all that the queues of its cohort depend on: the other FluxSetups, the
// FluxJobs, their MiniClusters, the namespaces. The decisions are those of the package queue. The files follow the
// thought:
//
//	manager.go   which manager has the queue
//	takeover.go  another manager refuses it, requests it, takes it over
//	validate.go  is the spec sound?
//	book.go      what is still held: the reservations that are in the status, less those that were given back
//	cohort.go    the setups that lend to each other, and their jobs, as numbers
//	grant.go     what was decided, entered into the book
//	queue.go     who waits, in which order, and why
//	status.go    the rest of the status
//	wakes.go     which FluxSetups a change concerns
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
