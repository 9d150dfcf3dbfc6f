package containernode

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// connectedFD is a pipe that closes when the node's link is there.
const connectedFD = 4

// RunInside is the node's first process. It returns when ctx ends; the kernel then ends all others.
func RunInside(ctx context.Context, c Config) error {
	connected := os.NewFile(connectedFD, "connected")
	_, _ = io.Copy(io.Discard, connected)
	connected.Close()
	if err := unix.Sethostname([]byte(c.Name)); err != nil {
		return fmt.Errorf("set the node's host name: %w", err)
	}
	if err := c.mount(); err != nil {
		return err
	}
	if err := c.configureNetwork(); err != nil {
		return err
	}
	os.Setenv("PATH", insideBin+":"+os.Getenv("PATH"))
	os.Setenv("TMPDIR", "/var/tmp")
	os.Setenv("HOME", "/root")

	programs := newPrograms()
	go programs.reap()
	programs.keep("containerd", "--config="+filepath.Join(insideEtc, containerdFile))
	if err := waitForContainerd(ctx); err != nil {
		return err
	}
	if err := programs.run(Import(filepath.Join(insideBin, "ctr"), containerdSocket, filepath.Join(insideBin, PauseArchive))); err != nil {
		return fmt.Errorf("import the pause image: %w", err)
	}
	programs.keep("kubelet",
		"--config="+filepath.Join(insideEtc, kubeletFile),
		"--kubeconfig="+filepath.Join(insideEtc, KubeletKubeconfig),
		"--hostname-override="+c.Name,
		"--node-ip="+Address(c.Number),
		"--node-labels="+Label+"=true",
	)
	programs.keep("kube-proxy", "--config="+filepath.Join(insideEtc, kubeProxyFile))
	<-ctx.Done()
	programs.stop()
	return nil
}

// waitForContainerd returns when containerd answers.
func waitForContainerd(ctx context.Context) error {
	for {
		conn, err := net.Dial("unix", containerdSocket)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
