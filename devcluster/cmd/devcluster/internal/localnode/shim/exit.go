package shim

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Exit is how a command ended.
type Exit struct {
	// Code is the exit code, 128+Signal when a signal ended the command.
	Code int
	// Signal is the signal that ended the command, or 0.
	Signal int
	// Finished is when it ended.
	Finished time.Time
	// Error says why the command could not be started; empty if it was.
	Error string
}

func exitOf(ws syscall.WaitStatus) Exit {
	e := Exit{Finished: time.Now()}
	if ws.Signaled() {
		e.Signal = int(ws.Signal())
		e.Code = 128 + e.Signal
	} else {
		e.Code = ws.ExitStatus()
	}
	return e
}

// write replaces the file in one step: a reader sees all of it or none.
func (e Exit) write(path string) {
	line := strconv.Itoa(e.Code) + " " + strconv.Itoa(e.Signal) + " " +
		strconv.FormatInt(e.Finished.UnixNano(), 10) + " " + e.Error + "\n"
	if os.WriteFile(path+".new", []byte(line), 0o600) == nil {
		_ = os.Rename(path+".new", path)
	}
}

// ReadExit reads an exit file. An absent file is an os.ErrNotExist: the command
// is still running, or was killed together with its node.
func ReadExit(path string) (Exit, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Exit{}, err
	}
	fields := strings.SplitN(strings.TrimSuffix(string(data), "\n"), " ", 4)
	if len(fields) != 4 {
		return Exit{}, fmt.Errorf("exit file %s: %q is not \"code signal time error\"", path, data)
	}
	code, err1 := strconv.Atoi(fields[0])
	sig, err2 := strconv.Atoi(fields[1])
	finished, err3 := strconv.ParseInt(fields[2], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return Exit{}, fmt.Errorf("exit file %s: %w", path, err)
	}
	return Exit{Code: code, Signal: sig, Finished: time.Unix(0, finished), Error: fields[3]}, nil
}
