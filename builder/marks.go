package builder

// What the builder writes on children.
const (
	// AnnotationDigest holds the digest of what was last applied, to see that something else is wanted now.
	AnnotationDigest = "armature.dev/digest"
	// LabelManagedBy is the recommended label; its value is ManagedBy unless the child sets one.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedBy is the value of LabelManagedBy.
	ManagedBy = "armature"
	// LabelOwnerUID is the UID of the owner of a child [Elsewhere], which has no owner reference.
	LabelOwnerUID = "armature.dev/owner-uid"
	// AnnotationOwnerKind is the kind and group of the owner of a child Elsewhere: "Widget.example.com".
	AnnotationOwnerKind = "armature.dev/owner-kind"
	// AnnotationOwner is the namespace and name of the owner of a child Elsewhere: "default/web".
	AnnotationOwner = "armature.dev/owner"
)

// What the builder writes on owners.
const (
	// AnnotationGroupKinds lists the kinds of which an owner has children, for PruneAll: "ConfigMap,Deployment.apps".
	AnnotationGroupKinds = "armature.dev/contains-group-kinds"
	// AnnotationGroupKindsElsewhere lists the kinds of which an owner has children Elsewhere.
	AnnotationGroupKindsElsewhere = "armature.dev/contains-group-kinds-elsewhere"
	// Finalizer keeps an owner until its children Elsewhere are gone.
	Finalizer = "armature.dev/cleanup"
)
