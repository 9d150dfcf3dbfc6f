package pods

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/pathmap"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/podenv"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/process"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/tree"
)

// Exit codes of containers that cannot run.
const (
	exitCannotRun = 128
	exitNotFound  = 127
)

// hostsFile is where a container finds the names of other pods.
const hostsFile = "/etc/hosts"

// launch is a container ready to be started.
type launch struct {
	root string
	path string
	args []string
	env  []string
	dir  string
	// lookPath is the PATH in env, paths rewrites container paths.
	lookPath string
	paths    *pathmap.Map
}

// plan is a container whose objects have been read.
type plan struct {
	c      *container
	number int32
	root   string
	base   map[string]string
	vars   []podenv.Var
	mounts []mount
}

// command is the container's command line, nil if it has none.
func (c *container) command() []string {
	if len(c.spec.Command) == 0 {
		return nil
	}
	return append(append([]string(nil), c.spec.Command...), c.spec.Args...)
}

func noCommand(spec *corev1.Container) error {
	return &cannotRunError{code: exitCannotRun, message: fmt.Sprintf(
		"container %q has no command: devcluster's local nodes run commands as local processes and do not pull image %q; set command",
		spec.Name, spec.Image)}
}

// plan reads everything the container needs from the API.
func (c *container) plan(ctx context.Context, number int32) (*plan, error) {
	object := c.pod.Object()
	p := &plan{c: c, number: number, root: filepath.Join(c.dir, "root")}
	p.base = c.baseEnv(object, p.root, c.file(number, "message"))
	var err error
	p.vars, err = podenv.Resolve(ctx, podenv.Source{
		Objects: c.pod.host.Objects, Pod: object, Allocatable: c.pod.host.Allocatable,
	}, c.spec, references(p.base))
	if err != nil {
		return nil, err
	}
	if p.mounts, err = c.mounts(p.vars, references(p.base)); err != nil {
		return nil, err
	}
	return p, nil
}

// realise makes the container's root directory and completes the command line.
func (p *plan) realise() (*launch, error) {
	c := p.c
	if err := tree.Remove(p.root); err != nil {
		return nil, err
	}
	for _, dir := range []string{p.root, filepath.Join(p.root, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	message := c.file(p.number, "message")
	if err := os.WriteFile(message, nil, 0o666); err != nil {
		return nil, err
	}
	mounts := p.mounts
	if at := c.spec.TerminationMessagePath; at != "" {
		mounts = append(mounts, mount{at: path.Clean("/" + at), target: message})
	}
	hosts, err := c.pod.host.Hosts(c.pod.Object().Namespace)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(mounts, func(m mount) bool { return m.at == hostsFile }) {
		mounts = append(mounts, mount{at: hostsFile, target: hosts})
	}
	paths, err := link(p.root, mounts)
	if err != nil {
		return nil, err
	}
	paths[c.pod.host.Dir] = c.pod.host.Dir // real paths are not container paths, whatever is mounted

	l := &launch{root: p.root, dir: p.root, paths: pathmap.New(paths)}
	if err := p.kubeconfig(mounts); err != nil {
		return nil, err
	}
	l.env, l.lookPath = p.environ(l.paths)
	if wd := c.spec.WorkingDir; wd != "" {
		wd = path.Clean("/" + wd)
		if l.dir = l.paths.Rewrite(wd); l.dir == wd {
			l.dir = filepath.Join(p.root, wd)
		}
		if err := os.MkdirAll(l.dir, 0o755); err != nil {
			return nil, fmt.Errorf("workingDir %s: %w", wd, err)
		}
	}
	for _, word := range podenv.Expand(c.command(), p.vars, references(p.base)) {
		l.args = append(l.args, l.paths.Rewrite(word))
	}
	if l.path, err = process.Lookup(l.args[0], l.lookPath, l.dir); err != nil {
		if _, ok := errors.AsType[*process.NotFoundError](err); ok {
			err = &cannotRunError{code: exitNotFound, message: fmt.Sprintf("container %q: %v", c.spec.Name, err)}
		}
		return nil, err
	}
	return l, nil
}
