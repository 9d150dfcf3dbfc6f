// Package hostlist writes many names of nodes in little space, as HPC schedulers do:
//
//	gpu-1 gpu-2 gpu-3 gpu-7 login  ->  gpu-[1-3,7],login
//	ip-10-0-1-4.ec2.internal ip-10-0-1-9.ec2.internal  ->  ip-10-0-1-[4,9].ec2.internal
//
// Names that differ in one place only share a line's brackets; numbers in a row become a range. Zeros that fill up a
// number are kept: [001-099]. In the worst case a list is as long as its names.
package hostlist
