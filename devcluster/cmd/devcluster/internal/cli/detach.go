package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
)

// progressFD names the descriptor on which a supervisor in the background reports to the `up --detach` that
// started it: its progress, and in the end a verdict.
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
	verdict, err := relay(progress, os.Stdout)
	if err == nil && verdict == verdictReady {
		return cmd.Process.Release()
	}
	_ = cmd.Wait()
	if verdict == "" {
		return fmt.Errorf("the supervisor in the background ended without a word: see %s", dir.Log("devcluster"))
	}
	return errors.New(verdict)
}

func isDetach(arg string) bool {
	return arg == "--detach" || strings.HasPrefix(arg, "--detach=")
}

// A verdict follows the last line of progress, after verdictMark: that the cluster is ready, or what went wrong.
const (
	verdictMark  = "\x00"
	verdictReady = "ready"
)

// relay passes on the lines of progress as they come, and returns the verdict.
func relay(progress io.Reader, out io.Writer) (verdict string, err error) {
	for lines := bufio.NewReader(progress); ; {
		line, err := lines.ReadString('\n')
		if first, found := strings.CutPrefix(line, verdictMark); found {
			rest, _ := io.ReadAll(lines)
			return first + string(rest), nil
		}
		if _, werr := io.WriteString(out, line); werr != nil {
			return "", werr
		}
		if err != nil {
			return "", nil
		}
	}
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
func (p *progress) ready() { p.verdict(verdictReady) }

// fail tells `up --detach` what went wrong, if it still waits.
func (p *progress) fail(err error) {
	if err != nil {
		p.verdict(err.Error())
	}
}

func (p *progress) verdict(v string) {
	if p.waiter != nil {
		fmt.Fprint(p.waiter, verdictMark+v)
		p.waiter.Close()
		p.out, p.waiter = os.Stdout, nil
	}
}

// ignoreErrors keeps a waiter that has gone from stopping the output to the log.
type ignoreErrors struct{ io.Writer }

func (w ignoreErrors) Write(b []byte) (int, error) {
	_, _ = w.Writer.Write(b)
	return len(b), nil
}
