package lifecycle

// ManagedByArmature is the value of spec.managedBy that means the bundled operators. An unset field means the same.
const ManagedByArmature = "api.practice.com/armature"

// IsOurs reports whether the bundled operators act on an object with this spec.managedBy. They don't touch an object that
// another controller manages, nor its status (the rule of a Job's managedBy, KEP-4368).
func IsOurs(managedBy *string) bool {
	return managedBy == nil || *managedBy == ManagedByArmature
}
