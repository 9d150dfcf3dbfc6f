// Package graph compiles the spec of a JobFlow: its nodes and their dependencies in flat arrays, the names of their Jobs, their
// expressions, and what is wrong with the spec. Everything in it is a function of the spec alone, whatever has run; a flow may have
// 10,000 nodes, so it is compiled once for each generation.
//
//	graph.go          the nodes, and all that is known about each
//	order.go          the dependencies: topological order, and cycles
//	names.go          the names of Jobs, of nodes as of items
//	validate.go       the validation of the spec, and of the nodes' names and dependencies
//	validate_node.go  the validation of a node's template, items, inputs and outputs
//	expressions.go    when and successWhen: compilation, and the bounds of all expressions together
//	cache.go          graphs by generation
package graph
