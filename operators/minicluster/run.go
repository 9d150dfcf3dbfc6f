package minicluster

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// runScript renders what the leader runs: the initial program of its broker, or, without Flux, the work itself.
// The prefix, the submit command, its flags and the lines of a batch are shell text, one line each, and are put in as
// they are. The command itself is read from its file, so that it reaches sh -c letter by letter.
func runScript(c *v1alpha1.MiniCluster) string {
	var b strings.Builder
	b.WriteString(`# What the leader runs. Arguments: the shell; the directories of the scripts, the private one, and of a batch's output.
mc_shell=$1 mc_scripts=$2 mc_private=$3 mc_logs=$4
`)
	if modeOf(c) != modePlain {
		b.WriteString(": >\"$mc_private/ready\" # the quorum has joined\n")
		b.WriteString(tell)
	}
	if c.Spec.Flux.Scheduler.QueuePolicy != "" {
		b.WriteString(`flux module list 2>/dev/null | grep -q sched-fluxion-qmanager ||
	mc_tell 'flux.scheduler.queuePolicy has no effect: this Flux is without the Fluxion scheduler'
`)
	}
	timed := c.Spec.Logging.Timed && modeOf(c) != modePlain
	if timed {
		b.WriteString("mc_began=$(date +%s)\n")
	}
	b.WriteString(work(c))
	if timed {
		b.WriteString("mc_code=$?\nprintf 'FLUXTIME fluxsubmit wall time %s s\\n' \"$(($(date +%s) - mc_began))\"\nexit \"$mc_code\"\n")
	}
	return b.String()
}

// work renders the lines that do the work. The exit code of the last one is that of the work.
func work(c *v1alpha1.MiniCluster) string {
	_, w := worker(c)
	switch modeOf(c) {
	case modeSubmit:
		return command(w) + words(w.Commands.Prefix, submit(c), subject(w)) + "\nmc_result=$?\n" +
			fmt.Sprintf(explainFailure, quote(submit(c)))
	case modeBatch:
		return batch(c)
	case modeBatchRaw:
		return words(w.Commands.Prefix, `"$mc_shell" "$mc_scripts/command"`) + "\nmc_result=$?\n" +
			"flux queue idle\n(exit \"$mc_result\")\n"
	default: // launcher, plain
		return command(w) + words(w.Commands.Prefix, subject(w)) + "\n"
	}
}

// command renders how the command is read. The dot keeps newlines at its end.
func command(w *v1alpha1.MiniClusterContainer) string {
	if w.Command == "" {
		return ""
	}
	return "mc_command=$(cat \"$mc_scripts/command\" && printf .)\nmc_command=${mc_command%.}\n"
}

// subject is what is run: the command, or the script by what its first line says.
func subject(w *v1alpha1.MiniClusterContainer) string {
	switch {
	case w.Command != "":
		return `"$mc_shell" -c "$mc_command"`
	case strings.HasPrefix(w.Commands.Script, "#!"):
		return `"$mc_scripts/script"`
	default:
		return `"$mc_shell" "$mc_scripts/script"`
	}
}

// submit renders the submit command: all tasks on all nodes, and wait for the job's end, whose exit code it returns.
func submit(c *v1alpha1.MiniCluster) string {
	flux := &c.Spec.Flux
	name := ""
	if flux.SubmitCommand == "" {
		name = "--job-name=" + c.Name
	}
	verbose := ""
	if c.Spec.Logging.Debug {
		verbose = "-vvv"
	}
	return words(cmp.Or(flux.SubmitCommand, "flux submit"), placement(c), "--quiet --watch", name, flux.OptionFlags, verbose)
}

// placement renders on how many nodes how many tasks run.
func placement(c *v1alpha1.MiniCluster) string {
	tasks, nodes := ptr.Deref(c.Spec.Tasks, 1), startSize(c)
	switch {
	case tasks == 0:
		return fmt.Sprintf("-N %d", nodes)
	case tasks >= nodes:
		return fmt.Sprintf("-N %d -n %d", nodes, tasks)
	default:
		return fmt.Sprintf("-n %d", tasks)
	}
}

// tell says something in the log, and where Kubernetes finds it: it gets into the status when the leader has ended.
const tell = `mc_tell() {
	printf 'minicluster: %s\n' "$*" >&2
	(printf '%s\n' "$*" >>"${TERMINATION_LOG:-/dev/termination-log}") 2>/dev/null
}
`

// explainFailure says what Flux knows of a job that failed: that it was refused, since it doesn't fit, or by which exception
// it ended, such as the loss of a node.
const explainFailure = `if [ "$mc_result" != 0 ] && ` +
	`mc_job=$(flux jobs -a --no-header --format='{exception.type}: {exception.note}' 2>/dev/null); then
	case $mc_job in
	'') mc_tell "Flux accepted no job: "%s" was refused, and the log says why; it has ` +
	`$(flux resource list --no-header --states=all --format='{nnodes} nodes, {ncores} cores')" ;;
	[!:]*) mc_tell "Flux's job failed: $mc_job" ;;
	esac
fi
(exit "$mc_result")
`

// batchRefused says which line of a batch Flux refuses, and why: the rest runs, and the log is far from the status.
const batchRefused = `mc_refused() {
	mc_result=1
	mc_tell "Flux refuses job $1 of the batch: $(tail -n 5 "$mc_private/refused")"
}
`

// batch renders the submission of the lines of a batch. It fails if a line can't be submitted or a job fails.
func batch(c *v1alpha1.MiniCluster) string {
	_, w := worker(c)
	var b strings.Builder
	b.WriteString("mkdir -p \"$mc_logs\"\nmc_result=0\n")
	b.WriteString(batchRefused)
	for i, line := range batchLines(w.Command) {
		output := fmt.Sprintf(`--output="$mc_logs/job-%d.out" --error="$mc_logs/job-%d.err"`, i, i)
		b.WriteString("{ " + words(w.Commands.Prefix, "flux submit --flags=waitable --quiet", output, c.Spec.Flux.OptionFlags, line) + "\n" +
			fmt.Sprintf("} 2>\"$mc_private/refused\" || mc_refused %d; cat \"$mc_private/refused\" >&2\n", i))
	}
	b.WriteString("flux job wait --all || mc_result=1\n(exit \"$mc_result\")\n")
	return b.String()
}

// words joins those that aren't empty.
func words(all ...string) string {
	var given []string
	for _, w := range all {
		if w = strings.TrimSpace(w); w != "" {
			given = append(given, w)
		}
	}
	return strings.Join(given, " ")
}
