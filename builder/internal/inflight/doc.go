// Package inflight records the running passes in files that survive the process. A new process finds there the passes that were
// running when the last process ended: their owners are suspects. A suspect's next pass is delayed, and never runs beside another
// suspect's. So the owner that ends the process is distinguished from those whose passes only ran at the same time.
//
// The directory has two files. The file "running" has a slot for each running pass, written when the pass begins and cleared when it
// ends: one write of some hundred bytes each, without a sync, because the kernel keeps written data after the process ends. The file
// "suspects" is replaced when it changes, which is rare.
//
// Invariant: a pass is in the file before its plan runs, so that the owner whose plan ends the process is among the suspects. If the file
// can't be written, the passes run without a record, and [Record.ReportTo] receives the error.
package inflight
