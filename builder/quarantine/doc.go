// Package quarantine protects a program from one owner that ends it in each pass. Without a quarantine such an owner could end the
// program at each start, before any other owner has a pass.
//
// A quarantine delays the owners that had a pass when the process ended unexpectedly: out of memory, by a panic outside of a pass's
// own goroutine, or killed. The next pass of such an owner runs 10 seconds after the start, after the second time 1 minute, and after
// each further one six times as long, up to 1 hour. No two such owners have a pass at the same time, until some time after a pass has
// ended well. While an owner waits, its condition Ready is False with the reason Quarantined, and the builder emits one event.
//
//	q, err := quarantine.Open("/var/run/operator")
//	defer q.Close()
//	builder.NewOperator[*v1.WebApp](q.Around(mgr), "webapp")
//
// The record is in a directory that must survive the process, such as an emptyDir volume, which survives a container's restart. It
// costs two writes to a file a pass, some microseconds, and no sync.
package quarantine
