// Package cputime measures how much CPU time a function uses. It takes the function, and returns the time.
//
// The wall-clock time of a short function says little in a process with a CPU limit: the kernel stops such a process for tens of
// milliseconds, whatever runs at that moment.
//
// Invariant: on Linux, the time is that of the calling goroutine only, never that of others that run meanwhile.
package cputime
