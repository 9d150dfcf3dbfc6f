// Package podlog stores the output of containers and reads it back as the logs
// of the Kubernetes API are read.
//
// A file holds one attempt of one container, in the format of container runtimes
// (CRI): a line is "<RFC 3339 time> <stream> <P|F> <text>". P marks a part of a
// line: the next record continues it. Output and error output share a pipe, which
// keeps their order, so the stream is always "stdout".
package podlog
