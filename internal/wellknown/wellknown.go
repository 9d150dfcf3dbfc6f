package wellknown

// FieldOwner is the field owner of server-side apply of a controller without a name of its own.
const FieldOwner = "armature"

// What the builder writes on every child.
const (
	// LabelManagedBy is the recommended label of Kubernetes for the tool that manages an object. Its value is ManagedBy, unless
	// the child sets one.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedBy is the value of LabelManagedBy.
	ManagedBy = "armature"
	// AnnotationDigest holds the digest of what was last applied. It shows that the desired object has changed.
	AnnotationDigest = "armature.dev/digest"
)

// What the builder writes on a cross-namespace child, which can't have an owner reference, and on a retained one.
const (
	// LabelOwnerUID is the UID of the owner.
	LabelOwnerUID = "armature.dev/owner-uid"
	// AnnotationOwnerKind is the kind and group of the owner: "Widget.example.com".
	AnnotationOwnerKind = "armature.dev/owner-kind"
	// AnnotationOwner is the namespace and name of the owner: "default/web".
	AnnotationOwner = "armature.dev/owner"
)

// What the builder writes on an owner.
const (
	// AnnotationGroupKinds lists the kinds of the children that the owner controls, for PruneAll: "ConfigMap,Deployment.apps".
	AnnotationGroupKinds = "armature.dev/contains-group-kinds"
	// AnnotationGroupKindsCrossNamespace lists the kinds of the owner's cross-namespace children.
	AnnotationGroupKindsCrossNamespace = "armature.dev/contains-group-kinds-elsewhere"
	// Finalizer keeps the owner until its cross-namespace children are gone.
	Finalizer = "armature.dev/cleanup"
)

// AnnotationPaused on an owner, with the value "true", stops all passes over it. Users set it.
const AnnotationPaused = "armature.dev/paused"

// AnnotationUndo on an owner names the ControllerRevision with the former state to which its children return. It also stops all passes,
// as AnnotationPaused does. Users set it. On such a ControllerRevision it names the controller that has kept the state.
const AnnotationUndo = "armature.dev/undo"

// IsPaused reports whether the annotations of an owner stop all passes over it.
func IsPaused(annotations map[string]string) bool {
	return annotations[AnnotationPaused] == "true" || annotations[AnnotationUndo] != ""
}

// The roll-out of a new build, owner by owner.
const (
	// LabelCanary on an owner, with the value "true", lets it have its turn before others. Users set it.
	LabelCanary = "armature.dev/canary"
	// LabelReleases on the ConfigMap with the record of a roll-out names the operator.
	LabelReleases = "armature.dev/releases"
)

// EnvConfigHash is the environment variable that HashFrom sets in every container of a pod template: the digest of the configuration.
const EnvConfigHash = "ARMATURE_CONFIG_HASH"

// What a roll-out writes. The values are JSON.
const (
	// AnnotationRollout on a ControllerRevision holds the state of its roll-out.
	AnnotationRollout = "armature.dev/rollout"
	// AnnotationRunOnce says on a Job which RunOnce child it is of and which value it runs for, and on a ControllerRevision
	// which values have run.
	AnnotationRunOnce = "armature.dev/run-once"
)

// External effects: see package builder/effects.
const (
	// AnnotationEffect on a ControllerRevision, the journal of an effect, holds the desired state of the effect as JSON.
	AnnotationEffect = "armature.dev/effect"
	// AnnotationEffectState on a journal holds the state of the effect's performance as JSON.
	AnnotationEffectState = "armature.dev/effect-state"
	// FinalizerEffect keeps a journal until its effect is undone.
	FinalizerEffect = "armature.dev/effect"
	// FinalizerEffects keeps an owner until all of its effects are undone.
	FinalizerEffects = "armature.dev/effects"
	// AnnotationAbandonEffects on an owner, with the value "true", lets effects that are no longer desired go without an undo. Users set it
	// when what is outside the cluster is gone for ever.
	AnnotationAbandonEffects = "armature.dev/abandon-effects"
)

// AdviceNotOwned begins the last part of a message about an object of a child's name that belongs to another owner. armature explain cuts
// the message there.
const AdviceNotOwned = "; delete or rename that object"
