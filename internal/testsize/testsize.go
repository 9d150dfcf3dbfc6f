package testsize

import "os"

// Env is the environment variable that asks for full sizes: any value but the empty one does.
const Env = "ARMATURE_LONG"

// Long returns whether tests run in their full size.
func Long() bool { return os.Getenv(Env) != "" }

// Pick returns the second size if tests run in their full size, and the first one otherwise.
func Pick[T any](small, full T) T {
	if Long() {
		return full
	}
	return small
}
