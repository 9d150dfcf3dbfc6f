package former

// Settings are those of all operators of a program that keep former states.
type Settings struct {
	// Build is the digest of the program's build.
	Build string
}
