// Package rules has the API server's rules for common built-in kinds beside defaults: the fields that it sets at creation, the objects
// that it refuses, the immutable fields, and the changes that increase the generation. Messages and field paths are the server's.
package rules
