package minicluster

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// The scripts that are the same for every cluster. What differs is in settings.sh and run.sh; what users wrote is in
// files of its own, so that no quoting comes between.
var (
	//go:embed scripts/start.sh
	startScript string
	//go:embed scripts/ready.sh
	readyScript string
	//go:embed scripts/side.sh
	sideScript string
	//go:embed scripts/pod.sh
	podScript string
	//go:embed scripts/view.sh
	viewScript string
)

// scripts returns the content of the ConfigMap with the entry points.
func scripts(c *v1alpha1.MiniCluster) map[string]string {
	all := files(c)
	maps.DeleteFunc(all, func(_, text string) bool { return text == "" })
	return all
}

// files returns the files that the scripts look for. The ConfigMap doesn't have the empty ones.
func files(c *v1alpha1.MiniCluster) map[string]string {
	all := map[string]string{
		"start.sh":  startScript,
		"pod.sh":    podScript,
		"ready.sh":  readyScript,
		settingsKey: settings(c),
	}
	if bringsFlux(c) {
		all["view.sh"] = viewScript
	}
	add := func(name, text string) { all[name] = text }
	_, w := worker(c)
	add("init", w.Commands.Init)
	add("pre", w.Commands.Pre)
	add("broker-pre", w.Commands.BrokerPre)
	add("worker-pre", w.Commands.WorkerPre)
	add("post", w.Commands.Post)
	add(commandKey, w.Command)
	add(scriptKey, w.Commands.Script)
	if modeOf(c) != modeInteractive {
		all[runKey] = runScript(c)
	}
	beside := append(sidecars(c), c.Spec.Services...)
	for i := range beside {
		s := &beside[i]
		if isWrapped(s) {
			all["side.sh"] = sideScript
			add(s.Name+".init", s.Commands.Init)
			add(s.Name+".pre", s.Commands.ServicePre)
			add(s.Name+".command", s.Command)
			add(s.Name+".post", s.Commands.Post)
		}
	}
	return all
}

// settings renders what the scripts need to know of this cluster.
func settings(c *v1alpha1.MiniCluster) string {
	spec := &c.Spec
	var b strings.Builder
	set := func(name, value string) { fmt.Fprintf(&b, "mc_%s=%s\n", name, quote(value)) }
	flag := func(name string, value bool) {
		if value {
			set(name, "1")
		} else {
			set(name, "")
		}
	}
	b.WriteString("# What the scripts need to know of this MiniCluster.\n")
	set("name", c.Name)
	flag("disabled", spec.Flux.Disable)
	flag("interactive", modeOf(c) == modeInteractive)
	flag("view", bringsFlux(c))
	set("python_path", spec.Flux.Container.PythonPath)
	set("hosts", hosts(c))
	set("gpus", idRange(gpus(c)))
	set("quorum", strconv.Itoa(int(quorum(c))))
	set("topology", topology(c))
	set("connect_timeout", cmp.Or(spec.Flux.ConnectTimeout, "5s"))
	set("wrap", spec.Flux.Wrap)
	set("log_level", strconv.Itoa(int(logLevel(c))))
	flag("zeromq", spec.Logging.Zeromq)
	flag("quiet", spec.Logging.Quiet)
	flag("strict", spec.Logging.Strict)
	flag("time", spec.Logging.Timed)
	flag("complete_workers", spec.Flux.CompleteWorkers)
	return b.String()
}

// topology is the flag for the shape of the brokers' tree.
func topology(c *v1alpha1.MiniCluster) string {
	return "-Stbon.topo=" + cmp.Or(c.Spec.Flux.Topology, "kary:256")
}

func logLevel(c *v1alpha1.MiniCluster) int32 {
	if c.Spec.Logging.Quiet {
		return 0
	}
	return ptr.Deref(c.Spec.Flux.LogLevel, 6)
}

// quote writes a text as one word of sh, whatever is in it.
func quote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
