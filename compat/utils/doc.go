// Package utils is source-compatible with package utils of github.com/datainfrahq/operator-runtime v0.0.7: digests of
// configuration, predicates for watches and the time between two passes. It is for operators that move to Armature by
// changing import paths; see package github.com/armature-dev/armature/compat/builder.
package utils
