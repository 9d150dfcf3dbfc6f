// Package declared describes an operator for package rbac: the kinds that it declares, and what its plan asks for.
//
// It takes nothing and returns nothing: package builder fills the types from an operator's description, and package rbac reads them. A
// manager that implements [Collector] receives the description in place of a controller.
//
// Invariant: a description is complete when the manager receives it, and never changes afterwards.
package declared
