// Package story runs tests of operators that are written as text, in the simulated cluster of package world. Everyone who knows the kind
// can read a story, and review what a change of the operator changes in it:
//
//	# At the first failure of three Jobs the others are stopped.
//
//	node n1 n2 n3
//	----
//
//	pod demo-n1-* run=1m exit=1
//	----
//
//	apply
//	apiVersion: api.practice.com/v1alpha1
//	kind: DaemonJob
//	metadata: {name: demo}
//	spec:
//	  failurePolicy: FailFast
//	  ...
//	----
//
//	wait 1m
//	----
//	create Job demo-n1, demo-n2, demo-n3
//	patch DaemonJob/status demo (2 times)
//	Warning Failed: stopped by failurePolicy FailFast, ...
//	delete Job demo-n2, demo-n3
//
// A line is a command with words and options. YAML may follow. Below "----", which every line has, is the output: what the managers
// wrote and emitted, and what status, show and list print. [Run] compares it, and with update it writes it. The format is that of the
// library datadriven, in which the stories of etcd's Raft are written: commands and outputs alternate, so that a story reads from top to
// bottom. (An archive in the format txtar has all files first, and needs a script language beside it.)
//
// # Commands
//
//	cluster [NODE...] [seed=N]            begin again with a new cluster; the seed selects another order of steps
//	node NAME... [cpu=4 memory=8Gi pods=9 labels=(k=v) taints=(k=v:NoSchedule)]
//	cordon NAME..., uncordon NAME...      make nodes unschedulable, and schedulable
//	break-node NAME..., repair-node NAME...   stop the kubelet of nodes, and start it; the control plane notices at once, and evicts
//	                                      the pods of a broken node after 5 minutes, unless their tolerations say otherwise
//	apply                                 apply the YAML documents below, with their status
//	TEMPLATE [name=NAME namespace=NS]     apply an object of Config.Templates; the YAML below is merged into its spec
//	edit KIND/NAME..., edit-status KIND/NAME...   merge the YAML below into objects, or into their status
//	delete KIND/NAME... [policy=Foreground grace=0]
//	replace KIND/NAME                     delete an object, and at once create one with its name, labels and spec
//	pod PATTERN... [run=2m exit=137 message=(text) oom container=NAME restarts=1 labels=(k=v) before=1m start=5s
//	  stop=10s unready]                   how pods run and end; without run, exit, message and oom until they are deleted
//	settle                                everything happens that can happen now
//	wait DURATION                         time passes
//	idle                                  time passes until nothing waits for a later time, at most a day
//	clock DURATION                        the clock moves, and nothing happens yet
//	steps, step TEXT                      list the next steps; run the first one whose name contains the text
//	crash [MANAGER] [after=N] [lost]      the manager crashes after its N-th write, whose reply is lost; the next process starts by itself
//	stop [MANAGER], start [MANAGER]       end a manager's process, and start one
//	manager NAME                          a further manager, beside the first one, whose name is "manager"
//	lag [MANAGER] [changes=N kind=Job]    the manager's caches lag behind, all or that of one kind
//	refuse [MANAGER] [verb= kind= name= subresource= times=1 after=0]   the API server refuses calls of the manager, as for an exceeded
//	                                      quota; with lost, the call has its effect and its reply is lost
//	status KIND/NAME [FIELD...]           fields and conditions of a status; times count from the begin, as in @1m0s
//	show KIND/NAME... PATH...             fields, by JSONPath
//	list KIND...                          objects and their states
//	writes, events                        what the managers did since the last output
//
// KIND is a kind's name, such as Job. If several groups have the name, the group follows it, or the version and the group:
// Event.events.k8s.io, Event.v1.events.k8s.io, and Event.v1 for the core group. Without a version it is the scheme's first one of the
// group.
//
// With the word quiet, settle, wait and idle have no output but errors: for a beginning that another story shows.
//
// [Scenario] makes a scenario of buildertest.Explore from a file; its counterexamples are stories again. [CrashEverywhere] crashes the
// operators of such scenarios after each write.
//
// Config.Commands adds further ones. An error of a command is its output, after "error: ". An unknown command, and text below a command
// that takes none, fail the test.
package story
