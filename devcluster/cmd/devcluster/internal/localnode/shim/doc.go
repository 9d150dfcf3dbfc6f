// Package shim is the small process between a node and a container's command.
//
// The node starts its own executable again with Command as the first argument.
// The shim then
//
//   - starts the real command in its own session and process group, with the
//     shim's environment and standard streams;
//   - reads the lifeline, a pipe on file descriptor 3 whose other end only the
//     node holds: every byte on it is a signal for the group, and its end means
//     that the node is gone;
//   - after the command has ended, kills what it left behind, as the end of
//     process 1 ends a container;
//   - writes how the command ended to a file, so that a node that was restarted
//     can still learn it.
//
// Because the kernel closes the pipe however the node ends, kill -9 included, no
// container process outlives its node. On Linux the shim is a child subreaper:
// daemons that left the process group are found as its children. Elsewhere only
// the process group is killed.
//
// The package imports very little and takes over the process in its init
// function: the executable it is linked into contains a whole control plane,
// whose packages would otherwise be initialised, for tens of milliseconds, before
// every container.
package shim
