// Package needs says what a FluxJob asks of its queue, and where in the line it stands. The plan of the job and that of
// the queue both ask it, so that they always agree.
package needs
