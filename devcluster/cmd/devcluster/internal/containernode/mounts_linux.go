package containernode

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// kernelSettings are those that a kubelet insists on. They are the machine's, not the node's: the kubelet is shown
// files in their place that agree with it, and so changes none.
var kernelSettings = map[string]string{
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/keys/root_maxbytes": "25000000",
}

// mount makes the node's view of the files, in the mount namespace of this process.
func (c Config) mount() error {
	// What is mounted here stays here.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := c.makeVar(); err != nil {
		return err
	}
	resolvConf, _ := filepath.EvalSymlinks("/etc/resolv.conf") // on many machines it is in /run, which is covered below
	// These are held open, because the mounts below may cover their paths.
	var errs []error
	held := map[string]*os.File{}
	for target, dir := range map[string]string{
		"/var": filepath.Join(c.Dir, "var"), "/tmp": filepath.Join(c.Dir, "var", "tmp"),
		insideEtc: filepath.Join(c.Dir, "etc"), insideBin: c.Binaries, cgroupMount: cgroupMount,
	} {
		file, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		held[target] = file
	}
	bind := func(target string) {
		source := fmt.Sprintf("/proc/self/fd/%d", held[target].Fd())
		if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			errs = append(errs, fmt.Errorf("mount %s: %w", target, err))
		}
	}
	mount := func(filesystem, target, options string) {
		if err := unix.Mount(filesystem, target, filesystem, unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
			errs = append(errs, fmt.Errorf("mount %s: %w", target, err))
		}
	}
	bind("/var")
	bind("/tmp")
	mount("tmpfs", "/run", "mode=755")
	for _, dir := range []string{insideEtc, insideBin} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		bind(dir)
	}
	errs = append(errs, coverResolvConf(resolvConf))
	mount("sysfs", "/sys", "")
	bind(cgroupMount)
	mount("proc", "/proc", "")
	errs = append(errs, hideKernelSettings())
	// Volumes may ask for mounts to be passed on; kubelet and containerd want this of the root.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
		errs = append(errs, fmt.Errorf("make mounts shared: %w", err))
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// makeVar makes what programs expect in /var.
func (c Config) makeVar() error {
	root := filepath.Join(c.Dir, "var")
	for _, dir := range []string{"lib", "log", "tmp", "cache"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.Chmod(filepath.Join(root, "tmp"), 0o777|os.ModeSticky); err != nil {
		return err
	}
	if err := os.Symlink("/run", filepath.Join(root, "run")); err != nil && !os.IsExist(err) {
		return err
	}
	return nil
}

// coverResolvConf has the node ask the cluster's CoreDNS. The machine's own servers can't be reached, and whoever asked them,
// such as containerd for the registry of an image, would wait for the answer for most of a minute.
func coverResolvConf(path string) error {
	if path == "" {
		return nil // without the file, programs ask 127.0.0.1, and are refused at once
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := unix.Mount(insideResolvConf, path, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("cover %s: %w", path, err)
	}
	return nil
}

func hideKernelSettings() error {
	for name, value := range kernelSettings {
		file := filepath.Join(insideDir, "sysctl-"+strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(file, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		if err := unix.Mount(file, filepath.Join("/proc/sys", name), "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("cover /proc/sys/%s: %w", name, err)
		}
	}
	return nil
}
