package containernode

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// What watches files takes an inotify instance of the user's for each set of watches: as counted in a running cluster.
const (
	watchersOfControlPlane = 15
	watchersOfNode         = 9
)

// Check tells why this machine can't run so many such nodes, or returns nil.
func Check(binaries string, nodes int) error {
	if os.Geteuid() != 0 {
		return errors.New("--containers needs root: containers have cgroups, mounts and network links of the kernel; " +
			"without --containers, nodes run without")
	}
	for _, name := range Programs() {
		if _, err := os.Stat(filepath.Join(binaries, name)); err != nil {
			return fmt.Errorf("--containers: %s has no %s: build the nodes' programs by `make nodes`, "+
				"or name their directory with --node-binaries", binaries, name)
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
	return checkWatchers(watchersOfControlPlane+nodes*watchersOfNode, unix.InotifyInit1)
}

// checkWatchers takes as many inotify instances as will be needed, for a moment: a kubelet that gets none ends without a
// word about the limit.
func checkWatchers(need int, open func(flags int) (fd int, err error)) error {
	for have := range need {
		fd, err := open(unix.IN_CLOEXEC)
		if err != nil {
			return fmt.Errorf("--containers: only %d of the %d inotify instances that the cluster needs are free (%w): "+
				"stop what else watches files, such as other clusters, "+
				"or raise the limit with `sysctl -w fs.inotify.max_user_instances=1024`", have, need, err)
		}
		defer func() { _ = unix.Close(fd) }()
	}
	return nil
}
