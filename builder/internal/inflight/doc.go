// Package inflight keeps on record which passes are running, in files that survive the process. A process that starts finds
// there the passes during which the one before it ended: their owners are suspects. A suspect isn't looked at again at
// once, and never beside another one, so that the owner that ends the process is told from those that only ran beside it.
//
// Two files are in the directory. The file "running" has a slot for each pass that runs, written when it begins and cleared
// when it ends: one write of some hundred bytes each, that needs no sync, since what was written is the kernel's and not the
// process'. The file "suspects" is replaced when it changes, which is rare.
package inflight
