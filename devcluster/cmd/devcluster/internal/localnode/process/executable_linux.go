package process

// executable is this process's own program, even after a new build has replaced
// the file it was started from.
func executable() (string, error) { return "/proc/self/exe", nil }
