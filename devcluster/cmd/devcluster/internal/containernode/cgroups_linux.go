package containernode

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	cgroupMount = "/sys/fs/cgroup"
	// cgroupPatience is enough for the kernel to bury the processes of a cgroup after they were killed.
	cgroupPatience = 10 * time.Second
)

// hierarchies are the directories at which cgroups are mounted: one with version 2, one a controller with version 1.
func hierarchies() ([]string, error) {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var found []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		mount, filesystem, ok := strings.Cut(lines.Text(), " - ")
		if fields := strings.Fields(mount); ok && strings.HasPrefix(filesystem, "cgroup") && len(fields) > 4 {
			if at := fields[4]; (at == cgroupMount || strings.HasPrefix(at, cgroupMount+"/")) && !slices.Contains(found, at) {
				found = append(found, at)
			}
		}
	}
	return found, nil
}

// createCgroups makes the cgroup in each hierarchy.
func createCgroups(cgroup string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	for _, dir := range all {
		if err := os.MkdirAll(filepath.Join(dir, cgroup), 0o755); err != nil {
			return fmt.Errorf("create cgroup: %w", err)
		}
	}
	if _, err := os.Stat(filepath.Join(cgroupMount, controllersFile)); err != nil {
		return nil // version 1: each hierarchy is a controller, and reaches everywhere
	}
	return delegate(cgroupMount, cgroup)
}

const (
	controllersFile = "cgroup.controllers"
	subtreeFile     = "cgroup.subtree_control"
)

// delegate lets the controllers that the root has reach the cgroup: with version 2, each cgroup on the way has to pass
// them on. The kubelet refuses to start without. What a cgroup passes on already stays.
func delegate(root, cgroup string) error {
	controllers, err := os.ReadFile(filepath.Join(root, controllersFile))
	if err != nil {
		return fmt.Errorf("read the cgroup controllers: %w", err)
	}
	var all []string
	for controller := range strings.FieldsSeq(string(controllers)) {
		all = append(all, "+"+controller)
	}
	parent := root
	for name := range strings.SplitSeq(filepath.Clean(cgroup), "/") {
		if err := os.WriteFile(filepath.Join(parent, subtreeFile), []byte(strings.Join(all, " ")), 0o644); err != nil {
			return fmt.Errorf("pass the cgroup controllers on from %s, which must have no processes in it unless it is the root: %w", parent, err)
		}
		parent = filepath.Join(parent, name)
	}
	return nil
}

// RemoveCgroups removes the cgroup and those below it from each hierarchy, and kills what still runs in them. A
// cgroup that doesn't exist is no error.
func RemoveCgroups(cgroup string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range all {
		errs = append(errs, removeTree(filepath.Join(dir, cgroup)))
	}
	return errors.Join(errs...)
}

func removeTree(root string) error {
	for deadline := time.Now().Add(cgroupPatience); ; time.Sleep(20 * time.Millisecond) {
		err := tryRemoveTree(root)
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// tryRemoveTree kills what runs in the cgroups, and removes those that are empty, the lowest first.
func tryRemoveTree(root string) error {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && entry.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	var last error
	for _, dir := range slices.Backward(dirs) {
		procs, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for pid := range strings.FieldsSeq(string(procs)) {
			if n, err := strconv.Atoi(pid); err == nil && n > 1 {
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
		if err := syscall.Rmdir(dir); err != nil && err != syscall.ENOENT {
			last = fmt.Errorf("remove cgroup %s: %w", dir, err)
		}
	}
	return last
}
