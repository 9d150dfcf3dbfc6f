// Package delta compares two objects field by field, and removes fields from an object. Objects are as decoded from JSON.
package delta
