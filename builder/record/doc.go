// Package record keeps passes of operators on record, and runs their plans again. A bug report becomes a file.
//
//	recorder := record.NewRecorder(8 << 20)
//	mgr = recorder.Around(mgr)
//	webapp.Setup(mgr) // builder.NewOperator with this manager
//	err := mgr.AddMetricsServerExtraHandler(record.Path, recorder)
//
// The recorder keeps the last passes that wrote something or failed, in the memory of the process, and drops the oldest ones. A pass
// that changes nothing costs it nothing. A recorded pass costs the rendering of the owner, the view and the plan as JSON.
//
// # What a record has
//
// A [Pass] has all that the plan got (the owner and the [View], with its time), what it returned (the [Plan]), and what the builder then
// did (the [Result], the error, and the requests to the API server). A plan is a pure function, so the same program returns the same
// plan for a record again, and another version shows what it would do instead:
//
//	list, err := record.Read(file)
//	replayed, err := record.Replay(webapp.Operator(nil), scheme, &list.Items[0])
//	for _, d := range replayed.Differences { ... }
//
// A file is a [List]: JSON, with a version, in one canonical form. [Read] accepts nothing else.
//
// # Secrets
//
// A record has no value of a Secret. In each Secret of the view and the plan, a digest stands for each value, and in other objects for a
// text that is such a value or contains one of at least 5 bytes, plain, in base64 or in hexadecimal digits: in an environment variable,
// a ConfigMap, an error. That includes a former value, in an environment variable of a child, and in the fields for which the plan
// desires the present one. The names of objects stay. The digests have a random key for each process, so that nobody who has a record can
// try out passwords; equal values of one process have equal digests. The record doesn't recognize what a plan computes from a Secret,
// such as a part of a value, and it doesn't know of other secrets, such as a password in the owner's spec.
//
// # Limits
//
// Only the passes of operators with a Plan are recorded, not those of a Builder in a reconciler of your own. An owner that fails
// repeatedly fills the recorder with its passes.
//
// # Limits of a replay
//
// A replayed plan gets the digests as the Secrets' values. So it differs if it depends on what is in a Secret, and a value that the plan
// makes itself, such as a new password, isn't compared. The external state must survive its encoding as JSON; External.Incomplete says if
// it doesn't. A plan that reads it as an interface, such as any, is an error in a replay, because JSON has no Go type. A plan that reads managed fields, or that isn't pure, may differ too. The order of list elements that have names isn't
// compared.
package record
