package localnode

import "golang.org/x/sys/unix"

func memoryBytes() int64 {
	size, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 8 << 30
	}
	return int64(size)
}

func machineID() string {
	id, _ := unix.Sysctl("kern.uuid")
	return id
}
