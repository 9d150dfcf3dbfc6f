package containernode

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Check tells why this machine can't run such nodes, or returns nil.
func Check(binaries string) error {
	if os.Geteuid() != 0 {
		return errors.New("--containers needs root: containers have cgroups, mounts and network links of the kernel; without --containers, nodes run without")
	}
	for _, name := range Programs() {
		if _, err := os.Stat(filepath.Join(binaries, name)); err != nil {
			return fmt.Errorf("--containers: %s has no %s: build the nodes' programs by `make nodes`, or name their directory with --node-binaries", binaries, name)
		}
	}
	for _, program := range []string{"iptables", "iptables-restore", "mount"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("--containers: %s is not installed: on Debian, `apt-get install iptables mount`", program)
		}
	}
	filesystems, err := os.ReadFile("/proc/filesystems")
	if err == nil && !strings.Contains(string(filesystems), "\toverlay\n") {
		return errors.New("--containers: the kernel has no overlay filesystem (/proc/filesystems): `modprobe overlay`")
	}
	hierarchies, err := hierarchies()
	if err != nil {
		return fmt.Errorf("--containers: %w", err)
	}
	if len(hierarchies) == 0 {
		return errors.New("--containers: no cgroup filesystem is mounted in /sys/fs/cgroup")
	}
	return nil
}
