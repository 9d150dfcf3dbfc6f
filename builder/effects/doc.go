// Package effects lets a plan desire things outside of the cluster: a database, a DNS record, an account behind an HTTP API.
//
// A plan is pure, so it can't make them. It returns each as an Effect, which is data: a key, the desired state as JSON, and the name of a
// performer. A Performer is what the operator's author writes: Do brings the thing outside to the desired state, Undo removes it. Only the
// builder calls it.
//
//	builder.NewOperator[*v1.Database](mgr, "database").
//		Owns(&appsv1.ControllerRevision{}, effects.PerformedBy("postgres", performer, effects.Options{})).
//		Plan(plan)
//
//	func plan(db *v1.Database, observed builder.View) builder.Plan[*v1.Database] {
//		return builder.Plan[*v1.Database]{
//			Children: []builder.Child{effects.Want(db, effects.Effect{
//				Performer: "postgres", Key: "database/" + db.Name, Payload: database{Owner: db.Spec.Role},
//			})},
//			Report: true,
//		}
//	}
//
// # How an effect is performed
//
// The journal of an effect is a ControllerRevision of the owner. It is an ordinary child: the builder creates it, changes it when the
// payload changes, and prunes it when the plan no longer has it. A later pass, which finds the journal in the API, records an attempt in
// it, calls the performer, and records the result. The next view has the result: see Find. After an error the builder tries again, with a
// backoff from 1 second to 5 minutes, which is in the journal and so outlives the process.
//
//   - A crash at any point repeats at most the attempt in which it happened. So the builder performs each effect at least once, and a
//     performer must be idempotent: the same call twice leaves the same state as once. Call.ID is equal in all attempts for one desired
//     state, for systems that take an idempotency key.
//   - A changed payload, and another version of one of its Secrets, is performed again. The key must have all that identifies the thing
//     outside, because the payload of an existing key may change and nothing of the old one is undone.
//   - An effect that the plan no longer has is undone, and so are all effects of a deleted owner: finalizers keep the owner and the
//     journals until then. Effect.Retain keeps what is outside. The annotation armature.dev/abandon-effects: "true" on an owner lets the
//     journals go without an undo, when the system outside is gone for ever.
//   - A journal that someone deletes is created again, and its effect performed again. It is not undone.
//   - A performer with the method Observe repairs drift: see Observer.
//
// Effects with InPhase are steps of a roll-out: later phases wait until they are done, and a rollback performs their former payloads.
//
// # What a user sees
//
// Until all effects are done, Plan.Report sets Ready to False with the reason EffectPending, or EffectFailed and the performer's error. On
// a terminating owner the builder sets these conditions in any case. Events tell of effects that were performed, failed, drifted or were
// undone. A paused owner's effects are neither performed nor observed. A preview, and Operator.Diff, lists the effects that would be
// performed or undone, and calls no performer.
//
// # Secrets
//
// A payload is stored in the journal in clear. A password belongs into a Secret that the plan reads from its view, and gives in
// Effect.Secrets. The journal then has the Secret's name and version, and the performer receives its data.
//
// # Limits
//
// The owner must be namespaced. The performers of an operator are called one after another, in the operator's worker, each call within
// Options.Timeout. A payload has at most 128 KiB, a result 16 KiB. Undo receives no Secrets. Deletion of an owner with --cascade=orphan
// leaves the journals, and what is outside; remove their finalizer armature.dev/effect by hand. An undo of package undo doesn't include
// effects.
package effects
