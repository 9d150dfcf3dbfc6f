// Package runpolicy has the rules by which every batch kind runs and ends: who manages it, how long it may run, and how
// long it is kept. They are functions of what the API keeps and of the time, so they hold also when the time passed
// while no controller was running.
package runpolicy
