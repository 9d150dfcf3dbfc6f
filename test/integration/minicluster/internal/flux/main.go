// Command flux is a stand-in of Flux's, for tests where it isn't installed. It is a small program of its own, since pods run
// it at every look at their readiness.
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() { os.Exit(standIn(os.Args[1:])) }

// standIn behaves as flux does, as far as the operator's scripts can tell: brokers of one cluster find each other (in
// the directory STANDIN), the leader runs its initial program once the quorum has joined, the workers end with it, and
// submit runs a command as often as there are tasks, and returns its exit code.
func standIn(args []string) int {
	switch {
	case len(args) == 0:
		return 1
	case args[0] == "start":
		return startBroker(args[1:])
	case args[0] == "submit":
		return submit(args[1:])
	case args[0] == "R":
		fmt.Println(strings.Join(args, " "))
		return 0
	case args[0] == "uptime":
		fmt.Println(" 12:00:00 run 3.2s,  owner root,  depth 0,  size 2")
		return 0
	case args[0] == "shutdown":
		return touch("shutdown")
	case args[0] == "job", args[0] == "queue": // wait --all, idle: everything submitted has ended already
		return touch(args[0] + "-" + args[1])
	}
	return 1
}

func touch(name string) int {
	if os.WriteFile(filepath.Join(os.Getenv("STANDIN"), name), nil, 0o644) != nil {
		return 1
	}
	return 0
}

func startBroker(args []string) int {
	attribute := map[string]string{}
	config, interactive := "", false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, value, _ := strings.Cut(strings.TrimPrefix(args[0], "-S"), "=")
		attribute[name] = value
		config = strings.TrimPrefix(args[0], "--config-path=")
		if strings.HasPrefix(args[0], "--config-path=") {
			attribute["config"] = config
		}
		interactive = interactive || args[0] == "-Sbroker.rc2_none"
		args = args[1:]
	}
	if err := checkConfig(attribute["config"]); err != nil {
		fmt.Fprintln(os.Stderr, "flux-broker:", err)
		return 1
	}
	listener, err := net.Listen("unix", strings.TrimPrefix(attribute["local-uri"], "local://"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "flux-broker:", err)
		return 1
	}
	defer listener.Close()
	host := attribute["hostname"]
	began := time.Now()
	rank := host[strings.LastIndex(host, "-")+1:]
	quorum, err := strconv.Atoi(attribute["broker.quorum"])
	if err != nil {
		return 1
	}
	touch("up-" + rank)
	defer os.Remove(filepath.Join(os.Getenv("STANDIN"), "up-"+rank))
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	if rank != "0" {
		return await(stop, func() bool { return changedSince("over", began) || changedSince("shutdown", began) }, 0)
	}
	defer touch("over")
	joined := func() bool {
		up, _ := filepath.Glob(filepath.Join(os.Getenv("STANDIN"), "up-*"))
		return len(up) >= quorum
	}
	if code := await(stop, joined, 0); code != 0 {
		return code
	}
	if interactive {
		return await(stop, func() bool { return changedSince("shutdown", began) }, 0)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "FLUX_URI="+attribute["local-uri"])
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	go func() {
		<-stop
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}()
	return exitCode(cmd.Run())
}

// await waits until something holds, and returns a code; or that of a signal.
func await(stop <-chan os.Signal, done func() bool, code int) int {
	for {
		select {
		case <-stop:
			return 128 + int(syscall.SIGTERM)
		case <-time.After(20 * time.Millisecond):
			if done() {
				return code
			}
		}
	}
}

func changedSince(name string, when time.Time) bool {
	info, err := os.Stat(filepath.Join(os.Getenv("STANDIN"), name))
	return err == nil && info.ModTime().After(when)
}

// checkConfig looks at what a broker refuses: a configuration without a certificate, and a certificate that others read.
func checkConfig(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "broker.toml"))
	if err != nil {
		return err
	}
	curve := regexp.MustCompile(`curve_cert = "(.*)"`).FindSubmatch(text)
	if curve == nil {
		return errors.New("no curve_cert in broker.toml")
	}
	info, err := os.Stat(string(curve[1]))
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is readable by group or others: %s", curve[1], info.Mode())
	}
	certificate, err := os.ReadFile(string(curve[1]))
	if err != nil {
		return err
	}
	if !regexp.MustCompile(`(?s)^metadata\n    name = ".*"\ncurve\n    public-key = ".{40}"\n    secret-key = ".{40}"\n$`).Match(certificate) {
		return errors.New("the certificate isn't one")
	}
	return nil
}

// submit runs a command once for each task.
func submit(args []string) int {
	tasks := 1
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] == "-n" || args[0] == "-N" {
			n, err := strconv.Atoi(args[1])
			if err != nil {
				return 1
			}
			if args[0] == "-n" {
				tasks = n
			}
			args = args[1:]
		}
		args = args[1:]
	}
	worst := 0
	for i := range tasks {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "FLUX_TASK_RANK="+strconv.Itoa(i))
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		worst = max(worst, exitCode(cmd.Run()))
	}
	return worst
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode()
	case errors.As(err, &exit):
		return 128 + int(exit.Sys().(syscall.WaitStatus).Signal())
	default:
		return 127
	}
}
