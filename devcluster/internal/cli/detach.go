package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/armature-dev/armature/devcluster/internal/clusterdir"
)

// progressFD names the descriptor on which a supervisor in the background reports to the `up --detach` that
// started it: its progress, then either "ready" and end of file, or end of file alone.
const progressFD = "DEVCLUSTER_PROGRESS_FD"

// runDetached starts a supervisor in a session of its own and returns when its cluster is ready.
func runDetached(dir clusterdir.Dir) error {
	if err := dir.Create(); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(dir.Log("devcluster"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	progress, report, err := os.Pipe()
	if err != nil {
		return err
	}
	defer progress.Close()

	cmd := exec.Command(exe, slices.DeleteFunc(slices.Clone(os.Args[1:]), isDetach)...)
	cmd.Env = append(os.Environ(), progressFD+"=3")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{report}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	report.Close()
	if err != nil {
		return fmt.Errorf("start in the background: %w", err)
	}
	// Interrupting `up` interrupts the start; the supervisor then tears down what there is.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		for range interrupts {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	}()
	said := &lastLine{to: os.Stdout}
	_, _ = io.Copy(said, progress)
	if said.line() == readyMark {
		return cmd.Process.Release()
	}
	_ = cmd.Wait()
	return errSilent
}

func isDetach(arg string) bool {
	return arg == "--detach" || strings.HasPrefix(arg, "--detach=")
}

// readyMark is the last line of a start that succeeded. It is for `up --detach` alone, and not shown.
const readyMark = "\x00ready"

// lastLine passes on what is written, but for the mark at the end.
type lastLine struct {
	to   io.Writer
	seen string
}

func (l *lastLine) Write(p []byte) (int, error) {
	l.seen = string(p)
	if text, found := strings.CutSuffix(l.seen, readyMark); found {
		_, err := io.WriteString(l.to, text)
		return len(p), err
	}
	return l.to.Write(p)
}

func (l *lastLine) line() string {
	if strings.HasSuffix(l.seen, readyMark) {
		return readyMark
	}
	return ""
}

// progress is where a supervisor reports: its own output, and the `up --detach` that waits for it.
type progress struct {
	out    io.Writer
	waiter *os.File
}

func openProgress() *progress {
	if os.Getenv(progressFD) != "3" {
		return &progress{out: os.Stdout}
	}
	os.Unsetenv(progressFD)
	syscall.CloseOnExec(3)
	waiter := os.NewFile(3, "progress")
	return &progress{out: io.MultiWriter(os.Stdout, ignoreErrors{waiter}), waiter: waiter}
}

func (p *progress) Write(b []byte) (int, error) { return p.out.Write(b) }

// ready lets `up --detach` return.
func (p *progress) ready() {
	if p.waiter != nil {
		fmt.Fprint(p.waiter, readyMark)
		p.waiter.Close()
		p.out, p.waiter = os.Stdout, nil
	}
}

func (p *progress) fail(err error) {
	if err != nil && p.waiter != nil {
		fmt.Fprintln(p.waiter, "devcluster:", err)
	}
}

// ignoreErrors keeps a waiter that has gone from stopping the output to the log.
type ignoreErrors struct{ io.Writer }

func (w ignoreErrors) Write(b []byte) (int, error) {
	_, _ = w.Writer.Write(b)
	return len(b), nil
}
