package shim

import (
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// Command is the first argument that makes an executable with this package a shim.
const Command = "container-shim"

// Discard is sent on the lifeline in place of a signal. It says that the node stops
// the command for its own reasons: how it ends says nothing about the container,
// and is not recorded.
const Discard = 0

// Exit codes of commands that could not be started, as shells give them.
const (
	codeNotFound  = 127
	codeCannotRun = 126
)

const lifelineFD = 3

func init() {
	if len(os.Args) > 1 && os.Args[1] == Command {
		os.Exit(Main(os.Args[2:]))
	}
}

// Main runs as a shim: args are the exit file (empty for none), "tty" or "",
// the working directory, the executable and the command's arguments from argv[0]
// on. It returns the exit code of the command, 128+n when signal n ended it.
func Main(args []string) int {
	if len(args) < 5 {
		os.Stderr.WriteString(Command + " is started by devcluster itself and is not meant to be run by hand\n")
		return 2
	}
	exitFile, tty, dir, path, argv := args[0], args[1] == "tty", args[2], args[3], args[4:]

	// The parent-death signal is tied to the thread that starts the command,
	// so this thread has to live as long as the shim.
	runtime.LockOSThread()
	becomeSubreaper()
	syscall.CloseOnExec(lifelineFD)

	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)

	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Dir:   dir,
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2},
		Sys:   sessionAttr(tty),
	})
	if err != nil {
		exit := Exit{Code: codeCannotRun, Finished: time.Now(), Error: err.Error()}
		if err == syscall.ENOENT {
			exit.Code = codeNotFound
		}
		if exitFile != "" {
			exit.write(exitFile)
		} else {
			os.Stderr.WriteString(path + ": " + err.Error() + "\n")
		}
		return exit.Code
	}
	// Keeping the command's input open here would hide from its writer that the
	// command has closed it.
	_ = syscall.Close(0)

	var discard atomic.Bool
	go forward(signals, pid)
	go follow(os.NewFile(lifelineFD, "lifeline"), pid, &discard)

	status := waitFor(pid)
	killGroup(pid)
	killOrphans()

	exit := exitOf(status)
	if exitFile != "" && !discard.Load() {
		exit.write(exitFile)
	}
	return exit.Code
}

// forward passes the signals sent to the shim on to the command.
func forward(signals <-chan os.Signal, pid int) {
	for s := range signals {
		_ = syscall.Kill(-pid, s.(syscall.Signal))
	}
}

// follow obeys the node until the lifeline ends, and then ends the container.
func follow(lifeline *os.File, pid int, discard *atomic.Bool) {
	order := make([]byte, 1)
	for {
		if n, err := lifeline.Read(order); n == 0 || err != nil {
			discard.Store(true)
			killGroup(pid)
			return
		}
		switch s := syscall.Signal(order[0]); s {
		case Discard:
			discard.Store(true)
		case syscall.SIGKILL:
			killGroup(pid)
		default:
			_ = syscall.Kill(-pid, s)
		}
	}
}

// killGroup kills the command with its process group. When the command ends, the
// main thread kills what is left of its descendants.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
