// Package running runs a controller-runtime manager as the main part of a program: until the program is told to stop, ready once the
// caches are filled, and without the watched namespaces whose caches would never be filled.
//
// Invariant: the caches count as filled from the first time. A kind that is watched later (builder's OwnsLater) changes neither the
// program's readiness nor how it stops, although its own cache may never be filled.
package running
