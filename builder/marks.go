package builder

// What the builder writes on children.
const (
	// AnnotationDigest holds the digest of what was last applied, to see that something else is wanted now.
	AnnotationDigest = "armature.dev/digest"
	// LabelManagedBy is the recommended label; its value is ManagedBy unless the child sets one.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedBy is the value of LabelManagedBy.
	ManagedBy = "armature"
)
