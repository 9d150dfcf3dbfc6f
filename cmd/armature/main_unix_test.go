//go:build unix

package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the program.
func TestMain(m *testing.M) {
	if os.Getenv("ARMATURE_BE_THE_PROGRAM") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A program that can't end by itself, here since it reads a pipe that no one writes to, is ended by a second signal.
func TestASecondSignalEndsTheProgram(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.yaml")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	cmd := exec.Command(os.Args[0], "lint", "-f", pipe)
	cmd.Env = append(os.Environ(), "ARMATURE_BE_THE_PROGRAM=1")
	require.NoError(t, cmd.Start())
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until it is being read
	require.NoError(t, err)
	defer writer.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	signals := time.NewTicker(10 * time.Millisecond)
	defer signals.Stop()
	deadline := time.After(time.Minute)
	for {
		select {
		case err := <-ended:
			assert.Error(t, err)
			return
		case <-signals.C:
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		case <-deadline:
			_ = cmd.Process.Kill()
			t.Fatal("it goes on")
		}
	}
}

// A signal ends a command that waits for the cluster, with the exit code that shells give it and without an error.
func TestASignalEndsACommandQuietly(t *testing.T) {
	asked := make(chan bool, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- true
		<-r.Context().Done()
	}))
	defer server.Close()
	for signal, code := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		cmd := exec.Command(os.Args[0], "install", "--kubeconfig="+os.DevNull, "--server="+server.URL)
		cmd.Env = append(os.Environ(), "ARMATURE_BE_THE_PROGRAM=1")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(t, cmd.Start())
		<-asked
		require.NoError(t, cmd.Process.Signal(signal))
		var ended *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &ended)
		assert.Equal(t, code, ended.ExitCode())
		assert.Empty(t, out.String())
	}
}
