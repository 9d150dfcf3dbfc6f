package probes

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/probe"
	grpcprobe "k8s.io/kubernetes/pkg/probe/grpc"
	httpprobe "k8s.io/kubernetes/pkg/probe/http"
	tcpprobe "k8s.io/kubernetes/pkg/probe/tcp"
)

// Target is the container that is probed.
type Target struct {
	Container *corev1.Container
	PodIP     string
	// Exec runs a command in the container and returns its output and exit code.
	Exec func(ctx context.Context, command []string) (output string, code int, err error)
}

// Check runs a probe's action once. The text says what was seen.
func (t Target) Check(ctx context.Context, p *corev1.Probe) (ok bool, text string) {
	timeout := time.Duration(max(p.TimeoutSeconds, 1)) * time.Second
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var result probe.Result
	var err error
	switch {
	case p.Exec != nil:
		return t.exec(ctx, kubecontainer.ExpandContainerCommandOnlyStatic(p.Exec.Command, t.Container.Env), timeout)
	case p.HTTPGet != nil:
		return t.HTTPGet(p.HTTPGet, timeout)
	case p.TCPSocket != nil:
		var port int
		if port, err = probe.ResolveContainerPort(p.TCPSocket.Port, t.Container); err == nil {
			result, text, err = tcpprobe.New().Probe(t.host(p.TCPSocket.Host), port, timeout)
		}
	case p.GRPC != nil:
		service := ""
		if p.GRPC.Service != nil {
			service = *p.GRPC.Service
		}
		result, text, err = grpcprobe.New().Probe(t.PodIP, service, int(p.GRPC.Port), timeout, grpcprobe.ProbeOptions{})
	default:
		return false, "the probe has none of exec, httpGet, tcpSocket, grpc"
	}
	return outcome(result, text, err)
}

// HTTPGet makes one request, also for lifecycle hooks.
func (t Target) HTTPGet(action *corev1.HTTPGetAction, timeout time.Duration) (ok bool, text string) {
	request, err := httpprobe.NewRequestForHTTPGetAction(action, t.Container, t.PodIP, "probe")
	if err != nil {
		return false, err.Error()
	}
	return outcome(httpprobe.New(false).Probe(request, timeout))
}

func (t Target) exec(ctx context.Context, command []string, timeout time.Duration) (bool, string) {
	output, code, err := t.Exec(ctx, command)
	switch {
	case ctx.Err() != nil:
		return false, fmt.Sprintf("command %q timed out after %s", command, timeout)
	case err != nil:
		return false, err.Error()
	case code != 0:
		return false, fmt.Sprintf("command %q exited with code %d: %s", command, code, output)
	}
	return true, output
}

func (t Target) host(host string) string {
	if host == "" {
		return t.PodIP
	}
	return host
}

func outcome(result probe.Result, text string, err error) (bool, string) {
	if err != nil {
		return false, err.Error()
	}
	return result == probe.Success || result == probe.Warning, text
}
