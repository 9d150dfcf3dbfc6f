package tenants

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/cert"
)

// insecure is a client for the manager's own ports: their certificates are by no authority.
var insecure = &http.Client{
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 16}, //nolint:gosec // on loopback
	Timeout:   30 * time.Second,
}

// process is a manager.
type process struct {
	metrics, webhook string // where it serves
	cmd              *exec.Cmd
	ended            chan struct{}
	err              error // why it ended; read it after ended
	log              bytes.Buffer
}

// startManager starts a manager of a binary, and waits until it is ready.
func startManager(ctx context.Context, binary, kubeconfig, dir string) (*process, error) {
	var ports [3]int
	for i := range ports {
		port, err := freePort(ctx)
		if err != nil {
			return nil, err
		}
		ports[i] = port
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600),
		os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600)); err != nil {
		return nil, err
	}
	p := &process{
		metrics: fmt.Sprintf("https://127.0.0.1:%d/metrics", ports[0]), webhook: fmt.Sprintf("https://127.0.0.1:%d/validate/jobflow", ports[1]),
		ended: make(chan struct{}),
	}
	p.cmd = exec.Command(binary, "manager", "--kubeconfig", kubeconfig, "--leader-elect=false", "--log-level=error",
		"--metrics-bind-address", fmt.Sprintf("127.0.0.1:%d", ports[0]), "--health-probe-bind-address", fmt.Sprintf("127.0.0.1:%d", ports[2]),
		"--webhook", "--webhook-port", strconv.Itoa(ports[1]), "--webhook-cert-dir", dir)
	p.cmd.Stderr = &last{to: &p.log}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { p.err = p.cmd.Wait(); close(p.ended) }()
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		if p.hasEnded() {
			return false, fmt.Errorf("the manager ended: %w: %s", p.err, p.log.String())
		}
		return answers(ctx, fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[2])), nil
	})
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

func answers(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := insecure.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }()
	return response.StatusCode == http.StatusOK
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// memory is the most that was resident at a time, in bytes; 0 if the manager has ended.
func (p *process) memory() uint64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kib, _ := strconv.ParseUint(fields[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// stop ends the manager, if it runs.
func (p *process) stop() error {
	if p.hasEnded() {
		return nil
	}
	err := p.cmd.Process.Kill()
	<-p.ended
	return err
}

// last keeps the end of what is written.
type last struct{ to *bytes.Buffer }

func (l *last) Write(data []byte) (int, error) {
	const most = 4096
	l.to.Write(data)
	if extra := l.to.Len() - most; extra > 0 {
		l.to.Next(extra)
	}
	return len(data), nil
}
