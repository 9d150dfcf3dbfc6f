// Package payload turns an object that is wanted into what is sent to the API server, and into a digest of it.
//
// A Go struct says more than its author meant: marshalled, it has status: {}, strategy: {}, resources: {} and
// creationTimestamp: null in it, and server-side apply would take each of them as a claim on that field. The payload
// has only what was set.
package payload
