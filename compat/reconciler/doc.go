// Package reconciler is source-compatible with package reconciler of github.com/datainfrahq/operator-runtime v0.0.7: an interface of a
// Builder's methods. See package github.com/armature-dev/armature/compat/builder.
package reconciler
