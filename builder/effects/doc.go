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
// backoff from 1 second to 5 minutes, which is in the journal and so holds after a restart.
//
//   - A crash at any point repeats at most the attempt in which it happened. So the builder performs each effect at least once, and a
//     performer must be idempotent: the same call twice leaves the same state as once. Call.ID is equal in all attempts for one desired
//     state, for systems that take an idempotency key.
//   - A changed payload, and another version of one of its Secrets, is performed again. The key must have all that identifies the thing
//     outside, because the payload of an existing key may change and nothing of the old one is undone.
//   - An effect that the plan no longer has is undone, and so are all effects of a deleted owner: finalizers keep the owner and the
//     journals until then. Effect.Retain keeps what is outside. The annotation armature.dev/abandon-effects: "true" on an owner lets the
//     journals go without an undo, when the system outside is gone for ever.
//   - A journal that someone deletes is created again, and its effect performed again. It is not undone. Don't delete journals: if the plan
//     drops the effect in the moment between the two, what is outside stays.
//   - A panic of a performer is an error.
//   - A performer with the method Observe repairs drift: see Observer.
//
// Effects with InPhase are steps of a roll-out: later phases wait until they are done, and a rollback performs their former payloads.
//
// # What a user sees
//
// Until all effects are done, Plan.Report sets Ready to False with the reason EffectPending, or EffectFailed and the performer's error. On
// a terminating owner the builder sets these conditions in any case. Events report effects that were performed, failed, drifted or were
// undone. A paused owner's effects are neither performed nor observed. A preview, and Operator.Diff, lists the effects that would be
// performed or undone, and calls no performer.
//
// # Secrets
//
// A payload is stored in the journal in clear. A password belongs into a Secret that the plan reads from its view, and gives in
// Effect.Secrets. The journal then has the Secret's name and version, and the performer receives its data. The builder removes the values
// of these Secrets, if they have 6 bytes or more, from a performer's errors. A performer must return none in its result.
//
// # Removing a performer
//
// Nothing but the operator undoes effects, and the finalizers armature.dev/effects of an owner and armature.dev/effect of a journal wait
// for that. So an owner whose performer is gone can't be deleted: delete the owners before you uninstall the operator, and release a
// version whose plan has no effects before one that declares no performer. If only one of several performers is gone, the owner's
// conditions name the effects, and the annotation armature.dev/abandon-effects lets them go. If the operator is gone, remove the two
// finalizers by hand.
//
// # Limits
//
// The owner must be namespaced, and only one operator of a kind of owners can have performers. The performers of an operator are called one
// after another, in the operator's worker, each call within Options.Timeout. A payload has at most 128 KiB, a result 16 KiB. Undo receives
// no Secrets. Deletion of an owner with --cascade=orphan leaves the journals, and what is outside; remove their finalizer
// armature.dev/effect by hand. An undo of package undo doesn't include effects.
//
// Package effectstest has a simulated system outside, for tests that crash the process anywhere.
package effects
