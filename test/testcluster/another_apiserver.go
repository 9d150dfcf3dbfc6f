package testcluster

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// anotherStarts is how long another API server may take to start, on a busy machine.
const anotherStarts = 3 * time.Minute

// AnotherAPIServer starts a second API server on the cluster's etcd, with these flags beside those of the first one, and returns a
// connection to it with all rights. It is for settings that only an API server's flags have, such as admission plugins: the objects,
// controllers and nodes are the cluster's own. It needs Linux and a cluster that this test binary has started, and ends with the test.
func AnotherAPIServer(tb testing.TB, flags ...string) *rest.Config {
	tb.Helper()
	config := Config(tb)
	command, err := apiServerOf(filepath.Dir(Kubeconfig(tb)))
	if err != nil {
		tb.Fatalf("testcluster: another API server: %v", err)
	}
	port, err := freePort()
	if err != nil {
		tb.Fatalf("testcluster: another API server: %v", err)
	}
	for i, arg := range command {
		if strings.HasPrefix(arg, "--secure-port=") {
			command[i] = fmt.Sprintf("--secure-port=%d", port)
		}
	}
	log := &bytes.Buffer{}
	server := exec.Command(command[0], append(command[1:], flags...)...)
	server.Stdout, server.Stderr = log, log
	alive, err := server.StdinPipe() // the server ends when it closes, at the latest with this process
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		tb.Fatalf("testcluster: another API server: %v", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = server.Wait()
		close(ended)
	}()
	tb.Cleanup(func() {
		_ = alive.Close()
		_ = server.Process.Kill()
		<-ended
		if tb.Failed() {
			tb.Logf("the other API server said:\n%s", log.Bytes()[max(0, log.Len()-8<<10):])
		}
	})
	config.Host = fmt.Sprintf("https://127.0.0.1:%d", port)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		tb.Fatalf("testcluster: another API server: %v", err)
	}
	err = wait.PollUntilContextTimeout(tb.Context(), pollEvery, anotherStarts, true, func(ctx context.Context) (bool, error) {
		select {
		case <-ended:
			return false, fmt.Errorf("it has ended: %s", server.ProcessState)
		default:
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/readyz", nil)
		if err != nil {
			return false, err
		}
		response, err := client.Do(request)
		if err != nil {
			return false, nil // it doesn't listen yet
		}
		return response.StatusCode == http.StatusOK, response.Body.Close()
	})
	if err != nil {
		tb.Fatalf("testcluster: another API server isn't ready: %v", err)
	}
	return config
}

// apiServerOf returns the command by which the API server of a cluster's directory runs.
func apiServerOf(dir string) ([]string, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
		}
		args := strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
		isOurs := func(arg string) bool {
			return strings.HasPrefix(arg, "--etcd-certfile="+dir+string(filepath.Separator))
		}
		if slices.Contains(args, "kube-apiserver") && slices.ContainsFunc(args, isOurs) {
			return args, nil
		}
	}
	return nil, fmt.Errorf("no process is the API server of %s", dir)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}
