package localnode

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func memoryBytes() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 8 << 30
	}
	return int64(info.Totalram) * int64(info.Unit)
}

func machineID() string {
	id, _ := os.ReadFile("/etc/machine-id")
	return strings.TrimSpace(string(id))
}
