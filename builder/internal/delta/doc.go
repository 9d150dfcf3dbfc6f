// Package delta compares two objects field by field, and takes fields out of one. Objects are as decoded from JSON.
package delta
