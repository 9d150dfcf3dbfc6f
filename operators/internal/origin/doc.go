// Package origin writes and reads what an operator records in labels and annotations of a child: from which spec, and in which attempt,
// it created the child.
package origin
