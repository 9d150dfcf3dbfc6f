package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/shim"
)

// The test binary is the shim: see the init function of package shim.

func start(t *testing.T, script string) (*Process, string) {
	t.Helper()
	dir := t.TempDir()
	p, err := Start(Command{
		Path: "/bin/sh", Args: []string{"sh", "-c", script},
		Env: []string{"PATH=" + os.Getenv("PATH"), "X=y", "MARK=" + dir}, Dir: dir, Mark: "MARK=" + dir, ExitFile: filepath.Join(dir, "exit"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Signal(syscall.SIGKILL); <-p.Done() })
	return p, dir
}

// eventually waits for a condition that other processes bring about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(120 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: did not happen in time", what)
		}
	}
}

func readPID(t *testing.T, file string) int {
	t.Helper()
	pid := 0
	eventually(t, file, func() bool {
		data, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(data)))
		return pid > 0 && bytes.HasSuffix(data, []byte("\n"))
	})
	return pid
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func TestExit(t *testing.T) {
	for _, c := range []struct {
		name, script string
		code, signal int
	}{
		{"success", "exit 0", 0, 0},
		{"code", "exit 3", 3, 0},
		{"large code", "exit 200", 200, 0},
		{"signal", "kill -USR1 $$", 128 + int(syscall.SIGUSR1), int(syscall.SIGUSR1)},
		{"environment", `test "$X" = y && test "$(pwd -P)" = "$PWD"`, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, dir := start(t, c.script)
			<-p.Done()
			if e := p.Exit(); e.Code != c.code || e.Signal != c.signal || e.Finished.IsZero() || e.Error != "" {
				t.Errorf("exit is %+v, want code %d and signal %d", e, c.code, c.signal)
			}
			if recorded, err := shim.ReadExit(filepath.Join(dir, "exit")); err != nil || recorded.Code != c.code {
				t.Errorf("recorded %+v, %v", recorded, err)
			}
		})
	}
}

func TestCommandThatCannotBeStarted(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "script")
	if err := os.WriteFile(file, []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := Start(Command{Path: file, Args: []string{file}, Dir: dir, ExitFile: filepath.Join(dir, "exit")})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if e := p.Exit(); e.Code != 127 || e.Error == "" {
		t.Errorf("exit is %+v, want code 127 and an error", e)
	}
}

func TestSignalReachesTheGroup(t *testing.T) {
	p, dir := start(t, `trap 'wait; exit 5' TERM; sh -c 'trap "exit 0" TERM; echo $$ > child; while :; do sleep 0.01; done' & wait`)
	child := readPID(t, filepath.Join(dir, "child"))
	p.Signal(syscall.SIGTERM)
	<-p.Done()
	if p.Exit().Code != 5 {
		t.Errorf("exit is %+v, want code 5", p.Exit())
	}
	eventually(t, "child ends", func() bool { return !alive(child) })
}

// family starts a process, its child, and on Linux a daemon in a session of its own.
func family(t *testing.T) (p *Process, dir string, pids []int) {
	t.Helper()
	daemon := ":"
	if runtime.GOOS == "linux" {
		daemon = `(setsid sh -c 'echo $$ > daemon; while :; do sleep 0.05; done' &)`
	}
	p, dir = start(t, daemon+`; trap '' TERM HUP; sleep 1000 & echo $! > child; echo $$ > main; while :; do sleep 0.05; done`)
	for _, name := range []string{"main", "child", "daemon"} {
		if name != "daemon" || runtime.GOOS == "linux" {
			pids = append(pids, readPID(t, filepath.Join(dir, name)))
		}
	}
	return p, dir, pids
}

func TestEverythingEndsWhenTheNodeIsGone(t *testing.T) {
	p, dir, pids := family(t)
	// What the kernel does when this process is killed.
	p.mu.Lock()
	p.lifeline.Close()
	p.mu.Unlock()
	for _, pid := range pids {
		eventually(t, fmt.Sprint("process ", pid, " ends"), func() bool { return !alive(pid) })
	}
	<-p.Done()
	if _, err := os.Stat(filepath.Join(dir, "exit")); !os.IsNotExist(err) {
		t.Errorf("an end that the node's end caused was recorded (%v)", err)
	}
}

func TestKillEndsEverything(t *testing.T) {
	p, _, pids := family(t)
	p.Signal(syscall.SIGKILL)
	<-p.Done()
	if e := p.Exit(); e.Code != 137 || e.Signal != 9 {
		t.Errorf("exit is %+v, want signal 9", e)
	}
	for _, pid := range pids {
		eventually(t, fmt.Sprint("process ", pid, " ends"), func() bool { return !alive(pid) })
	}
}

func TestAKilledShimLeavesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs to find processes by their environment")
	}
	p, _, pids := family(t)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if p.Exit().Code != 137 {
		t.Errorf("exit is %+v", p.Exit())
	}
	for _, pid := range pids {
		eventually(t, fmt.Sprint("process ", pid, " ends"), func() bool { return !alive(pid) })
	}
}

func TestTheEndOfACommandEndsWhatItLeft(t *testing.T) {
	p, dir := start(t, `sleep 1000 & echo $! > child; exit 0`)
	<-p.Done()
	child := readPID(t, filepath.Join(dir, "child"))
	eventually(t, "child ends", func() bool { return !alive(child) })
}

func TestDiscard(t *testing.T) {
	p, dir := start(t, `trap 'exit 0' TERM; echo $$ > main; while :; do sleep 0.01; done`)
	readPID(t, filepath.Join(dir, "main"))
	p.Discard()
	p.Signal(syscall.SIGTERM)
	<-p.Done()
	if _, err := os.Stat(filepath.Join(dir, "exit")); !os.IsNotExist(err) {
		t.Errorf("a discarded end was recorded (%v)", err)
	}
}

func TestLookup(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"run": 0o755, "read": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ command, path, want string }{
		{"run", "/nowhere:" + dir, dir + "/run"},
		{"./run", "", dir + "/run"},
		{dir + "/run", "", dir + "/run"},
		{"read", dir, ""},
		{"./read", "", ""},
		{"absent", dir, ""},
		{dir, "", ""},
	} {
		got, err := Lookup(c.command, c.path, dir)
		var notFound *NotFoundError
		if got != c.want || (c.want == "" && !errors.As(err, &notFound)) {
			t.Errorf("Lookup(%q, %q) = %q, %v, want %q", c.command, c.path, got, err, c.want)
		}
	}
}
