// Package names makes names of children that are valid, stable, and different for what is different.
//
// They must never change from one release to the next: a child that is named otherwise would be made a second time.
package names
