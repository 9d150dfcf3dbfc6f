package minicluster

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/testsize"
)

// recorder is a flux that runs no broker: it writes down what it was called with, one word after another, each ended by
// a NUL, and then runs the initial program, if it is started with one. Of resources it knows 4 cores.
const recorder = `#!/bin/sh
case "$*" in
"R encode --local") echo 'four cores' && exit ;;
"R decode --count=core") echo 4 && exit ;;
"R "*) echo "$*" && exit ;;
esac
printf '%s\0' "$@" >>"$RECORD"
printf '\0' >>"$RECORD"
[ "$1" = start ] || exit "${SUBMIT_CODE:-0}"
shift
while [ $# -gt 0 ]; do
	case $1 in
	-*) shift ;;
	*) exec "$@" ;;
	esac
done
[ "$JOB_COMPLETION_INDEX" = 0 ] || exit "${BROKER_CODE:-0}"
`

// rig is a directory with all that start.sh finds in a pod.
type rig struct {
	t   require.TestingT
	dir string
	c   *v1alpha1.MiniCluster
	env []string
}

func newRig(t require.TestingT, dir string, c *v1alpha1.MiniCluster) *rig {
	r := &rig{t: t, dir: dir, c: c}
	for name, text := range scripts(c) {
		r.write("scripts/"+name, text, 0o755)
	}
	r.write("config/broker.toml", brokerConfig(c), 0o644)
	r.write("curve/curve.cert", string(planner.NewCertificate(c.Name)), 0o400)
	r.write("bin/flux", recorder, 0o755)
	r.write("base/view/bin/.keep", "", 0o644)
	r.write("private/.keep", "", 0o644)
	return r
}

func (r *rig) write(name, text string, mode os.FileMode) {
	path := filepath.Join(r.dir, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(r.t, os.RemoveAll(path))
	require.NoError(r.t, os.WriteFile(path, []byte(text), mode))
}

func (r *rig) read(name string) string {
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	require.NoError(r.t, err)
	return string(text)
}

// command returns what runs start.sh as a rank.
func (r *rig) command(rank int) *exec.Cmd {
	at := func(name string) string { return filepath.Join(r.dir, name) }
	cmd := exec.Command("sh", at("scripts/start.sh"), at("scripts"), at("config"), at("curve"), at("base"), at("private"),
		r.c.Spec.Archive.Path, at("logs"), at("base/run/flux"), at("opt/software"))
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "PATH="+at("bin")+":"+os.Getenv("PATH"), "RECORD="+at("record"), "JOB_COMPLETION_INDEX="+strconv.Itoa(rank))
	cmd.Env = append(cmd.Env, r.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// run runs start.sh as a rank, and returns its output and its exit code.
func (r *rig) run(rank int) (string, int) {
	out, err := r.command(rank).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exit.ExitCode()
	}
	require.NoError(r.t, err)
	return string(out), 0
}

// calls returns what flux was called with.
func (r *rig) calls() [][]string {
	var calls [][]string
	for call := range strings.SplitSeq(strings.TrimSuffix(r.read("record"), "\x00\x00"), "\x00\x00") {
		calls = append(calls, strings.Split(call, "\x00"))
	}
	return calls
}

func TestScriptsAreSyntacticallyRight(t *testing.T) {
	for name, c := range goldens {
		for file, text := range scripts(c) {
			if !strings.HasSuffix(file, ".sh") {
				continue
			}
			for _, shell := range []string{"sh", "bash"} {
				path := filepath.Join(t.TempDir(), file)
				require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
				out, err := exec.Command(shell, "-n", path).CombinedOutput()
				assert.NoError(t, err, "%s: %s -n %s: %s", name, shell, file, out)
			}
		}
	}
}

func TestTheLeaderStartsABrokerAndSubmits(t *testing.T) {
	c := makeCluster(4, fluxInImage, func(c *v1alpha1.MiniCluster) {
		c.Spec.Tasks = ptr.To[int32](8)
		c.Spec.Flux.OptionFlags = "-ompi=openmpi --setattr='user.study=a b'"
		c.Spec.Flux.Wrap = "strace,-e,network"
		c.Spec.Logging.Quiet = true
	})
	r := newRig(t, t.TempDir(), c)
	out, code := r.run(0)
	assert.Zero(t, code, out)
	assert.Empty(t, out, "quiet")
	calls := r.calls()
	require.Len(t, calls, 2)

	run := filepath.Join(r.dir, "base/run/flux")
	if len(run) >= 80 {
		run = r.read("private/rundir")
	}
	assert.Equal(t, []string{
		"start", "--wrap=strace,-e,network", "--config-path=" + r.dir + "/private/broker", "-Srundir=" + run, "-Sstatedir=" + r.dir + "/base/state",
		"-Slocal-uri=local://" + run + "/local", "-Shostname=demo-0", "-Sbroker.quorum=4", "-Stbon.topo=kary:256", "-Stbon.connect_timeout=5s",
		"-Slog-stderr-level=0", "-Slog-stderr-mode=local", "bash", r.dir + "/scripts/run.sh", "bash", r.dir + "/scripts", r.dir + "/private", r.dir + "/logs",
	}, calls[0])
	assert.Equal(t, []string{
		"submit", "-N", "4", "-n", "8", "--quiet", "--watch", "--job-name=demo", "-ompi=openmpi", "--setattr=user.study=a b", "bash", "-c", "lmp -in in.lj",
	}, calls[1])

	assert.Contains(t, r.read("private/broker/broker.toml"), `curve_cert = "`+r.dir+`/private/curve/curve.cert"`)
	assert.Contains(t, r.read("private/broker/broker.toml"), `path = "`+r.dir+`/private/R"`)
	assert.Equal(t, "R encode --hosts=demo-[0-3] --local\n", r.read("private/R"), "as many cores as the node has")
	assert.Equal(t, string(planner.NewCertificate("demo")), r.read("private/curve/curve.cert"))
	info, err := os.Stat(filepath.Join(r.dir, "private/curve/curve.cert"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "Flux refuses a certificate that others can read")
	assert.FileExists(t, filepath.Join(r.dir, "private/ready"))
}

func TestTheExitCodeIsThatOfTheWork(t *testing.T) {
	launcher := func(c *v1alpha1.MiniCluster) { c.Spec.Containers[0].Launcher = true }
	script := func(text string) func(*v1alpha1.MiniCluster) {
		return func(c *v1alpha1.MiniCluster) {
			c.Spec.Containers[0].Command, c.Spec.Containers[0].Commands.Script = "", text
		}
	}
	post := func(text string) func(*v1alpha1.MiniCluster) {
		return func(c *v1alpha1.MiniCluster) { c.Spec.Containers[0].Commands.Post = text }
	}
	quiet := func(c *v1alpha1.MiniCluster) { c.Spec.Logging.Quiet = true }
	strict := func(c *v1alpha1.MiniCluster) { c.Spec.Logging.Strict = true }
	pre := func(text string) func(*v1alpha1.MiniCluster) {
		return func(c *v1alpha1.MiniCluster) { c.Spec.Containers[0].Commands.Pre = text }
	}
	tests := map[string]struct {
		change []func(*v1alpha1.MiniCluster)
		env    string
		code   int
		out    string
	}{
		"submit succeeds":              {code: 0},
		"submit fails":                 {env: "SUBMIT_CODE=3", code: 3},
		"submit fails, timed":          {change: []func(*v1alpha1.MiniCluster){func(c *v1alpha1.MiniCluster) { c.Spec.Logging.Timed = true }}, env: "SUBMIT_CODE=3", code: 3, out: "FLUXTIME fluxsubmit wall time"},
		"a launcher fails":             {change: []func(*v1alpha1.MiniCluster){launcher, running("exit 4")}, code: 4},
		"a pipe":                       {change: []func(*v1alpha1.MiniCluster){plain, running("printf abc | tr a-c x-z")}, out: "xyz"},
		"plain fails":                  {change: []func(*v1alpha1.MiniCluster){plain, running("echo broken; exit 5")}, code: 5, out: "broken"},
		"not to be found":              {change: []func(*v1alpha1.MiniCluster){plain, running("there-is-no-such-command")}, code: 127},
		"a script of sh":               {change: []func(*v1alpha1.MiniCluster){plain, script("exit 6")}, code: 6},
		"a script of another language": {change: []func(*v1alpha1.MiniCluster){plain, script("#!/usr/bin/env bash\necho ${BASH_VERSION:+bash}; exit 7")}, code: 7, out: "bash"},
		"post can't change it":         {change: []func(*v1alpha1.MiniCluster){plain, running("exit 8"), post("echo post; false")}, code: 8, out: "post"},
		"post can't end it with 0":     {change: []func(*v1alpha1.MiniCluster){plain, running("exit 4"), post("exit 0")}, code: 4},
		"post can't end it strictly":   {change: []func(*v1alpha1.MiniCluster){plain, running("true"), post("set -e; false"), strict}, code: 0},
		"post sees what pre exports":   {change: []func(*v1alpha1.MiniCluster){plain, running("true"), pre("export A=a"), post("echo is $A")}, out: "is a"},
		"post isn't quiet":             {change: []func(*v1alpha1.MiniCluster){plain, running("true"), post("echo results"), quiet}, out: "results"},
		"pre ends it":                  {change: []func(*v1alpha1.MiniCluster){plain, running("true"), pre("exit 5")}, code: 5, out: "commands.pre ended rank 0 with exit code 5"},
		"post can't break it":          {change: []func(*v1alpha1.MiniCluster){plain, running("true"), post("echo post; false")}, code: 0, out: "post"},
		"pre may fail":                 {change: []func(*v1alpha1.MiniCluster){plain, running("exit 9"), pre("false")}, code: 9},
		"strict pre may not":           {change: []func(*v1alpha1.MiniCluster){plain, running("exit 9"), pre("false"), strict}, code: 1, out: "commands.pre ended rank 0 with exit code 1 (logging.strict is set)"},
		"pre exports":                  {change: []func(*v1alpha1.MiniCluster){plain, running("echo $A"), pre("export A='it is'")}, out: "it is"},
		"a batch job fails":            {change: []func(*v1alpha1.MiniCluster){running("a\nb"), func(c *v1alpha1.MiniCluster) { c.Spec.Containers[0].Batch = true }}, env: "SUBMIT_CODE=1", code: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, t.TempDir(), makeCluster(2, tt.change...))
			if !r.c.Spec.Flux.Disable {
				fluxInImage(r.c)
				r.write("scripts/settings.sh", settings(r.c), 0o644)
			}
			require.Empty(t, validate(r.c))
			r.env = append(r.env, tt.env)
			out, code := r.run(0)
			assert.Equal(t, tt.code, code, out)
			assert.Contains(t, out, tt.out)
		})
	}
}

// While the operator is down, only the exit code keeps the Job from running the command again.
func TestEachCodeOfTheWorkFailsTheJob(t *testing.T) {
	pre := func(text string) func(*v1alpha1.MiniCluster) {
		return func(c *v1alpha1.MiniCluster) { c.Spec.Containers[0].Commands.Pre = text }
	}
	job := render(makeCluster(1), noon)
	for _, code := range job.Spec.PodFailurePolicy.Rules[0].OnExitCodes.Values {
		exit := fmt.Sprintf("exit %d", code)
		for name, change := range map[string][]func(*v1alpha1.MiniCluster){
			"the command": {plain, running(exit)},
			"pre":         {plain, pre("echo Flux is broken >>$TERMINATION_LOG; " + exit)},
			"a long text": {plain, pre("{ head -c 4000 /dev/zero | tr '\\0' x; echo; echo Flux is broken; } >>$TERMINATION_LOG; " + exit)},
		} {
			t.Run(name+" "+exit, func(t *testing.T) {
				r := newRig(t, t.TempDir(), makeCluster(2, change...))
				r.write("message", "", 0o644)
				r.env = []string{"TERMINATION_LOG=" + filepath.Join(r.dir, "message")}
				out, ended := r.run(0)
				assert.True(t, isFatal(job, int32(ended)), "exit code %d: %s", ended, out)
				kept := r.read("message")
				kept = kept[:min(len(kept), 12*1024/16)] // what the kubelet keeps, if the pod has 16 containers
				known, text := endOfLeader(&corev1.ContainerStateTerminated{ExitCode: int32(ended), Message: kept})
				assert.Equal(t, code, known, "the status has it")
				if name == "the command" {
					assert.Empty(t, text)
				} else {
					assert.Regexp(t, fmt.Sprintf("^x*\\n?Flux is broken\ncommands.pre ended rank 0 with exit code %d$", code), text)
					assert.LessOrEqual(t, len(text), maxDetail, "the status shows its end")
				}
			})
		}
	}
}

func TestWorkers(t *testing.T) {
	t.Run("the leader ended the cluster", func(t *testing.T) {
		r := newRig(t, t.TempDir(), makeCluster(2, fluxInImage, func(c *v1alpha1.MiniCluster) {
			c.Spec.Containers[0].Commands.WorkerPre = "echo worker $JOB_COMPLETION_INDEX"
			c.Spec.Containers[0].Commands.BrokerPre = "echo broker"
		}))
		out, code := r.run(1)
		assert.Zero(t, code, out)
		assert.Contains(t, out, "worker 1")
		assert.NotContains(t, out, "broker\n")
		require.Len(t, r.calls(), 1)
		assert.Equal(t, "-Slog-stderr-mode=local", r.calls()[0][len(r.calls()[0])-1], "no initial program")
	})
	t.Run("completeWorkers", func(t *testing.T) {
		r := newRig(t, t.TempDir(), makeCluster(2, fluxInImage, func(c *v1alpha1.MiniCluster) { c.Spec.Flux.CompleteWorkers = true }))
		r.env = []string{"BROKER_CODE=1"}
		out, code := r.run(1)
		assert.Zero(t, code, out)
	})
	t.Run("no flux", func(t *testing.T) {
		r := newRig(t, t.TempDir(), makeCluster(2, fluxInImage))
		require.NoError(t, os.Remove(filepath.Join(r.dir, "bin/flux")))
		out, code := r.run(1)
		assert.Equal(t, exitWorker, code, "the Job doesn't fail by a worker")
		assert.Contains(t, out, "there is no flux on the PATH")
		r.env = []string{"TERMINATION_LOG=" + filepath.Join(r.dir, "message")}
		out, code = r.run(0)
		assert.Equal(t, 1, code)
		assert.Contains(t, out, "there is no flux on the PATH")
		assert.Contains(t, r.read("message"), "there is no flux on the PATH", "Kubernetes shows it")
	})
}

func TestToldToStop(t *testing.T) {
	for name, tt := range map[string]struct {
		rank    int
		command string
	}{
		"a worker":   {1, "true"},
		"the leader": {0, "sleep 60"},
		"a leader that would rather call it success": {0, "trap 'exit 0' TERM; sleep 60 & wait"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, t.TempDir(), makeCluster(2, plain, running("echo up >&2; "+tt.command), func(c *v1alpha1.MiniCluster) {
				c.Spec.Containers[0].Commands.WorkerPre = "echo up >&2"
				c.Spec.Containers[0].Commands.Post = "echo post >&2"
			}))
			cmd := r.command(tt.rank)
			pipe, err := cmd.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }()
			out := make([]byte, 0, 1024)
			for !strings.Contains(string(out), "up\n") {
				chunk := make([]byte, 256)
				n, err := pipe.Read(chunk)
				require.NoError(t, err)
				out = append(out, chunk[:n]...)
			}
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case <-ended:
				assert.Equal(t, exitStopped, cmd.ProcessState.ExitCode())
			case <-time.After(time.Minute):
				t.Fatal("it goes on")
			}
		})
	}
}

// Whatever a command consists of, sh -c gets it letter by letter; and so do the tasks of a job.
func TestCommandsArriveUnchanged(t *testing.T) {
	testsize.Cases(t, 25) // each starts dozens of processes
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		command := rapid.StringMatching(`[a-z'"\\$(){}\[\]*?;&|<>!#~% \n\t]{1,30}`).Draw(t, "command")
		if rapid.Bool().Draw(t, "any") {
			command = strings.ReplaceAll(rapid.StringN(1, 20, -1).Draw(t, "text"), "\x00", "")
		}
		if strings.TrimSpace(command) == "" {
			t.Skip("that is an interactive cluster")
		}
		c := makeCluster(2, fluxInImage, running(command))
		c.Spec.Flux.OptionFlags = "--setattr=" + quote(command)
		c.Spec.Flux.Wrap = command
		if strings.ContainsAny(command, "\n\r") {
			c.Spec.Flux.OptionFlags = ""
		}
		r := newRig(t, dir, c)
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "record")))
		out, code := r.run(0)
		require.Zero(t, code, out)
		calls := r.calls()
		require.Len(t, calls, 2)
		assert.Equal(t, "--wrap="+command, calls[0][1])
		submitted := calls[1]
		assert.Equal(t, []string{"-c", command}, submitted[len(submitted)-2:])
		if c.Spec.Flux.OptionFlags != "" {
			assert.Equal(t, "--setattr="+command, submitted[len(submitted)-4])
		}
	})
}

func TestQuoteIsOneWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ReplaceAll(rapid.String().Draw(t, "text"), "\x00", "")
		out, err := exec.Command("sh", "-c", "printf %s "+quote(text)).Output()
		require.NoError(t, err)
		assert.Equal(t, text, string(out))
	})
}

func TestReadiness(t *testing.T) {
	r := newRig(t, t.TempDir(), makeCluster(2, fluxInImage))
	ready := func(rank string) bool {
		cmd := exec.Command("sh", r.dir+"/scripts/ready.sh", r.dir+"/scripts", r.dir+"/base", r.dir+"/private")
		cmd.Env = append(os.Environ(), "JOB_COMPLETION_INDEX="+rank)
		return cmd.Run() == nil
	}
	assert.False(t, ready("0"))
	assert.False(t, ready("1"))
	r.write("private/ready", "", 0o644)
	assert.True(t, ready("0"))
	assert.False(t, ready("1"), "a worker is ready when its broker serves")
}

func (r *rig) sidecar(name, how string) *exec.Cmd {
	at := func(name string) string { return filepath.Join(r.dir, name) }
	cmd := exec.Command("sh", at("scripts/side.sh"), at("scripts"), at("base"), name, at("base/run/flux"), at("opt/software"), how)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

func TestSidecars(t *testing.T) {
	c := everything()
	c.Spec.Flux.Container.PythonPath = ""
	c.Spec.Containers[0].Commands.ServicePre = ""
	t.Run("a command that fails", func(t *testing.T) {
		r := newRig(t, t.TempDir(), c)
		r.write("scripts/proxy.command", "echo \"$A at $0\"; exit 3", 0o755)
		r.write("scripts/proxy.pre", "export A=proxy", 0o755)
		r.write("scripts/proxy.post", "echo post", 0o755)
		out, err := r.sidecar("proxy", "once").CombinedOutput()
		assert.ErrorContains(t, err, "exit status 3")
		assert.Equal(t, "proxy at sh\npost\n", string(out))
	})
	t.Run("of a pod of an earlier version", func(t *testing.T) {
		r := newRig(t, t.TempDir(), c)
		r.write("scripts/proxy.command", "echo up", 0o755)
		cmd := exec.Command("sh", r.dir+"/scripts/side.sh", r.dir+"/scripts", r.dir+"/base", "proxy")
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err)
		assert.Contains(t, string(out), "up\n")
	})
	t.Run("Flux is at hand", func(t *testing.T) {
		r := newRig(t, t.TempDir(), c)
		r.write("base/view/bin/flux", "#!/bin/sh\necho \"$*\"", 0o755)
		r.write("base/view/lib/python3.11/site-packages/.keep", "", 0o644)
		r.write("base/software/lib", "", 0o644)
		require.NoError(t, os.Remove(r.dir+"/scripts/proxy.command"))
		r.write("scripts/proxy.post", "flux proxy ${fluxsocket} flux jobs -a; echo $FLUX_URI $PYTHONPATH; exit 7", 0o755)
		out, err := r.sidecar("proxy", "once").CombinedOutput()
		assert.ErrorContains(t, err, "exit status 7", "without a command, post is the work")
		socket := "local://" + r.dir + "/base/run/flux/local"
		assert.Equal(t, "proxy "+socket+" flux jobs -a\n"+socket+" "+r.dir+"/base/view/lib/python3.11/site-packages\n", string(out))
		assert.FileExists(t, r.dir+"/opt/software/lib", "where Flux looks for its libraries")
	})
	t.Run("one that has ended well is not started again", func(t *testing.T) {
		r := newRig(t, t.TempDir(), c)
		r.write("scripts/proxy.command", "echo done", 0o755)
		cmd := r.sidecar("proxy", "once")
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }()
		line := make([]byte, 5)
		_, err = io.ReadFull(out, line)
		require.NoError(t, err)
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM), "it stays until it is stopped")
		_ = cmd.Wait()
		assert.Equal(t, exitStopped, cmd.ProcessState.ExitCode())
	})
	t.Run("one that names the socket waits for it", func(t *testing.T) {
		r := newRig(t, t.TempDir(), c)
		r.write("scripts/proxy.command", "echo at last; exit 1", 0o755)
		cmd := r.sidecar("proxy", "once,socket")
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }()
		r.write("base/run/flux/.keep", "", 0o644)
		t.Chdir(r.dir + "/base/run/flux") // the path of a socket is bounded, and that of a temporary directory may be long
		listener, err := net.Listen("unix", "local")
		require.NoError(t, err)
		defer listener.Close()
		text, err := io.ReadAll(out)
		require.NoError(t, err)
		assert.Equal(t, "at last\n", string(text))
	})
}

// Flux's libraries are looked for where only root may write, unless they are mounted there.
func TestWhereFluxLooksForItsLibraries(t *testing.T) {
	newView := func(t *testing.T) *rig {
		r := newRig(t, t.TempDir(), makeCluster(1))
		r.write("base/software/lib", "", 0o644)
		return r
	}
	t.Run("linked", func(t *testing.T) {
		r := newView(t)
		out, code := r.run(0)
		assert.Zero(t, code, out)
		assert.FileExists(t, r.dir+"/opt/software/lib")
	})
	t.Run("mounted", func(t *testing.T) {
		r := newView(t)
		require.NoError(t, os.MkdirAll(r.dir+"/opt", 0o755))
		require.NoError(t, os.Symlink(r.dir+"/base/software", r.dir+"/opt/software"))
		out, code := r.run(0)
		assert.Zero(t, code, out)
	})
	t.Run("an image's own is completed", func(t *testing.T) {
		r := newView(t)
		r.write("opt/software/own", "", 0o644)
		out, code := r.run(0)
		assert.Zero(t, code, out)
		assert.FileExists(t, r.dir+"/opt/software/own")
		assert.FileExists(t, r.dir+"/opt/software/lib")
	})
	t.Run("may not be written", func(t *testing.T) {
		r := newView(t)
		r.write("opt", "no directory", 0o644)
		out, code := r.run(0)
		assert.Equal(t, 1, code)
		assert.Contains(t, out, "where Flux looks for its libraries: set pod.securityContext.runAsUser")
		assert.NotContains(t, out, "no flux on the PATH")
	})
	user := func(id int64) func(*v1alpha1.MiniCluster) {
		return func(c *v1alpha1.MiniCluster) {
			c.Spec.Pod.SecurityContext = &corev1.PodSecurityContext{RunAsUser: new(id)}
		}
	}
	mounted := func(c *v1alpha1.MiniCluster) bool {
		return slices.ContainsFunc(workContainer(c).VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == softwareDir })
	}
	assert.True(t, mounted(makeCluster(1, user(1000))))
	assert.False(t, mounted(makeCluster(1, user(0))))
	assert.False(t, mounted(makeCluster(1)), "it may be root, and an image may have its own")
	assert.False(t, mounted(makeCluster(1, user(1000), fluxInImage)))
}

func TestTheResourcesOfFluxOperatorsConfiguration(t *testing.T) {
	c := makeCluster(2, fluxInImage, func(c *v1alpha1.MiniCluster) {
		c.Spec.Flux.BrokerConfig = "[bootstrap]\ncurve_cert = \"/mnt/flux/config/etc/curve/curve.cert\"\n" +
			"[resource]\nnoverify = true\npath = \"/mnt/flux/config/etc/flux/system/R\"\n[archive]\ndbpath = \"/a/R.sqlite\"\n"
		c.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("2")}
	})
	r := newRig(t, t.TempDir(), c)
	out, code := r.run(0)
	assert.Zero(t, code, out)
	assert.Equal(t, "[bootstrap]\ncurve_cert = \""+r.dir+"/private/curve/curve.cert\"\n[resource]\nnoverify = true\npath = \""+r.dir+
		"/private/R\"\n[archive]\ndbpath = \"/a/R.sqlite\"\n", r.read("private/broker/broker.toml"))
	assert.Equal(t, "R encode --hosts=demo-[0-1] --cores=0-3 --gpus=0-1\n", r.read("private/R"))
}

func TestAWorkerSaysWhatEndedIt(t *testing.T) {
	r := newRig(t, t.TempDir(), makeCluster(2, fluxInImage, func(c *v1alpha1.MiniCluster) {
		c.Spec.Containers[0].Commands.WorkerPre = "(exit 3)"
		c.Spec.Logging.Strict = true
	}))
	r.env = []string{"TERMINATION_LOG=" + filepath.Join(r.dir, "message")}
	out, code := r.run(1)
	assert.Equal(t, exitWorker, code, out)
	assert.Equal(t, "commands.workerPre ended rank 1 with exit code 3 (logging.strict is set)\n", r.read("message"))

	r.env = []string{"TERMINATION_LOG=" + filepath.Join(r.dir, "no/directory")}
	out, code = r.run(1)
	assert.Equal(t, exitWorker, code, out)
}

func TestABatchSaysWhatFluxRefuses(t *testing.T) {
	r := newRig(t, t.TempDir(), makeCluster(2, fluxInImage, running("true\n-N 9 true"), func(c *v1alpha1.MiniCluster) {
		c.Spec.Containers[0].Batch = true
	}))
	r.write("bin/flux", "#!/bin/sh\n[ \"$1\" != start ] || while :; do case $2 in *run.sh) shift; exec sh \"$@\";; esac; shift; done\n"+
		"case \"$*\" in *-N?9*) echo unsatisfiable >&2; exit 1;; esac", 0o755)
	r.env = []string{"TERMINATION_LOG=" + filepath.Join(r.dir, "message")}
	out, code := r.run(0)
	assert.Equal(t, 1, code, out)
	assert.Contains(t, out, "unsatisfiable")
	assert.Equal(t, "Flux refuses job 1 of the batch: unsatisfiable\n", r.read("message"))
}

// starts is the beginning of a flux that runs the initial program of a broker.
const starts = "#!/bin/sh\n[ \"$1\" != start ] || while :; do case $2 in *run.sh) shift; exec sh \"$@\";; esac; shift; done\n"

func TestWhatFluxSaysOfAJobThatFails(t *testing.T) {
	for name, tt := range map[string]struct{ jobs, told string }{
		"refused":       {"", "Flux accepted no job: flux submit -N 2 -n 9 --quiet --watch --job-name=demo was refused, and the log says why; it has 2 nodes, 4 cores\n"},
		"never fits":    {"alloc: unsatisfiable request", "Flux's job failed: alloc: unsatisfiable request\n"},
		"a node is out": {"node-failure: demo-1 is lost", "Flux's job failed: node-failure: demo-1 is lost\n"},
		"by itself":     {": ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, t.TempDir(), makeCluster(2, fluxInImage, func(c *v1alpha1.MiniCluster) { c.Spec.Tasks = ptr.To[int32](9) }))
			r.write("bin/flux", starts+"case \"$1 $2\" in 'R encode') ;; 'jobs -a') printf %s '"+tt.jobs+"' ;; 'resource list') echo '2 nodes, 4 cores' ;;\n"+
				"submit*) echo unsatisfiable >&2; exit 1;; esac", 0o755)
			r.write("message", "", 0o644)
			r.env = []string{"TERMINATION_LOG=" + filepath.Join(r.dir, "message")}
			out, code := r.run(0)
			assert.Equal(t, 1, code, out)
			assert.Equal(t, tt.told, r.read("message"))
		})
	}
}

func TestAQueuePolicyWithoutFluxion(t *testing.T) {
	r := newRig(t, t.TempDir(), makeCluster(1, fluxInImage, func(c *v1alpha1.MiniCluster) { c.Spec.Flux.Scheduler.QueuePolicy = "easy" }))
	r.env = []string{"TERMINATION_LOG=" + filepath.Join(r.dir, "message")}
	out, code := r.run(0)
	assert.Zero(t, code, out)
	assert.Equal(t, "flux.scheduler.queuePolicy has no effect: this Flux is without the Fluxion scheduler\n", r.read("message"))
	assert.Contains(t, out, r.read("message"))
}
