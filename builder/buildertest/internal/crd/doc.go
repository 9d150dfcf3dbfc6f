// Package crd reads CustomResourceDefinitions: the information about a kind that a fake API server needs.
package crd
