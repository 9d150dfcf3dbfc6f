// Package items has the items of a node with forEach: the list that it runs over, and the state of each item, which the status records as
// intervals of indexes.
package items
