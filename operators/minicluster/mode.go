package minicluster

import (
	"cmp"
	"strings"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// worker returns the container that does the work, and its place in the list. There is one in a valid spec.
func worker(c *v1alpha1.MiniCluster) (int, *v1alpha1.MiniClusterContainer) {
	all := c.Spec.Containers
	if len(all) == 1 {
		return 0, &all[0]
	}
	for i := range all {
		if all[i].RunFlux {
			return i, &all[i]
		}
	}
	return -1, nil
}

// workerName is the name of the container that does the work.
func workerName(c *v1alpha1.MiniCluster) string {
	_, w := worker(c)
	if w == nil { // an invalid spec
		return c.Name
	}
	return cmp.Or(w.Name, c.Name)
}

// sidecars returns the other containers.
func sidecars(c *v1alpha1.MiniCluster) []v1alpha1.MiniClusterContainer {
	at, _ := worker(c)
	var others []v1alpha1.MiniClusterContainer
	for i := range c.Spec.Containers {
		if i != at {
			others = append(others, c.Spec.Containers[i])
		}
	}
	return others
}

// mode is how the leader does the work.
type mode string

const (
	modePlain       mode = "plain"       // without Flux
	modeInteractive mode = "interactive" // a broker, and nothing in it
	modeSubmit      mode = "submit"      // the command is a job
	modeLauncher    mode = "launcher"    // the command submits jobs
	modeBatch       mode = "batch"       // each line of the command is a job
	modeBatchRaw    mode = "batchRaw"    // the command is a script that submits jobs
)

func modeOf(c *v1alpha1.MiniCluster) mode {
	_, w := worker(c)
	switch {
	case c.Spec.Flux.Disable:
		return modePlain
	case w == nil: // an invalid spec
		return modeSubmit
	case c.Spec.Interactive || (w.Command == "" && w.Commands.Script == ""):
		return modeInteractive
	case w.BatchRaw:
		return modeBatchRaw
	case w.Batch:
		return modeBatch
	case w.Launcher:
		return modeLauncher
	default:
		return modeSubmit
	}
}

// batchLines returns the jobs of a batch.
func batchLines(command string) []string {
	var lines []string
	for line := range strings.Lines(command) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// bringsFlux reports whether an init container brings Flux.
func bringsFlux(c *v1alpha1.MiniCluster) bool {
	return !c.Spec.Flux.Disable && !c.Spec.Flux.Container.Disable
}
