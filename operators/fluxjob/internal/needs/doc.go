// Package needs computes what a FluxJob needs of its queue, and its position there. The plan of the job and that of the queue both use it,
// so that they always agree.
package needs
