// Package pathmap rewrites the container paths in a command, its arguments and
// its environment to the paths they have on this machine.
//
// Containers here are not chrooted: what a pod mounts at /data is somewhere below
// the container's directory. A program that gets its paths from its command line
// or environment finds them all the same, because every mount path that appears
// there as a path of its own is replaced:
//
//   - it must not continue another path or word: the character before it, if any,
//     is not one of A-Z a-z 0-9 _ . / } ) ~ -
//   - it must end there or at a "/": the character after it, if any, is not one
//     of A-Z a-z 0-9 _ . ~ -
//   - of several mount paths that fit at a place, the longest is taken;
//   - replaced text is not looked at again.
//
// So with a mount at /data, "--dir=/data", "/data/in.csv" and "cat </data/x" are
// rewritten; "/database", "/mnt/data", "$HOME/data", "${DIR}/data" and
// "http://host/data" are not.
package pathmap
