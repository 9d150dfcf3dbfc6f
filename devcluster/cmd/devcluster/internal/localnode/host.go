package localnode

import (
	"golang.org/x/sys/unix"
)

// diskBytes is the size of the file system that the directory is on.
func diskBytes(dir string) int64 {
	var info unix.Statfs_t
	if unix.Statfs(dir, &info) != nil {
		return 10 << 30
	}
	return int64(info.Blocks) * int64(info.Bsize) //nolint:unconvert // Bsize has another type on macOS
}

func kernelVersion() string {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:])
}
