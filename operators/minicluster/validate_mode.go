package minicluster

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// validateMode refuses fields that have no effect in the mode of the work.
func validateMode(c *v1alpha1.MiniCluster, w *v1alpha1.MiniClusterContainer, spec *field.Path) field.ErrorList {
	at, _ := worker(c)
	container := spec.Child("containers").Index(at)
	flux := &c.Spec.Flux
	errs := forbidden(container, map[string]bool{
		"noWrapEntrypoint":    w.NoWrapEntrypoint,
		"commands.servicePre": w.Commands.ServicePre != "",
	}, "it is for sidecars and services")
	errs = append(errs, validateLines(c, w, container, spec)...)
	if w.Command != "" && w.Commands.Script != "" {
		errs = append(errs, field.Forbidden(container.Child("commands", "script"), "there is a command already"))
	}
	if flux.Disable {
		errs = append(errs, validateDisabled(c, w, container, spec)...)
	}
	if c.Spec.Interactive { // what is about a command is ignored
		return errs
	}

	m := modeOf(c)
	if w.Launcher && w.Batch {
		errs = append(errs, field.Forbidden(container.Child("batch"), "launcher and batch exclude each other"))
	}
	if m == modeInteractive {
		errs = append(errs, forbidden(container, map[string]bool{
			"launcher": w.Launcher, "batch": w.Batch, "commands.prefix": w.Commands.Prefix != "",
		}, "the cluster is interactive: there is no command")...)
	}
	if w.Batch && w.Commands.Script != "" {
		errs = append(errs, field.Forbidden(container.Child("commands", "script"), "a batch's jobs are the lines of the command"))
	}
	if w.BatchRaw && !w.Batch {
		errs = append(errs, field.Required(container.Child("batch"), "batchRaw needs it"))
	}
	if m != modeBatch {
		errs = append(errs, forbidden(container, map[string]bool{"logs": w.Logs != ""}, "it is where the output of a batch's lines goes")...)
	} else if len(batchLines(w.Command)) == 0 {
		errs = append(errs, field.Required(container.Child("command"), "a batch needs at least one line with a job"))
	}
	if m != modeSubmit && m != modePlain {
		errs = append(errs, forbidden(spec, map[string]bool{"flux.submitCommand": flux.SubmitCommand != ""},
			"it has no effect with "+string(m))...)
	}
	if m != modeSubmit && m != modeBatch && m != modePlain {
		errs = append(errs, forbidden(spec, map[string]bool{"flux.optionFlags": flux.OptionFlags != ""},
			"they have no effect with "+string(m))...)
	}
	if m == modeSubmit {
		errs = append(errs, validateFit(c, spec)...)
	}
	return errs
}

// validateFit checks whether the command's tasks fit the cores that the nodes are believed to have: Flux would refuse a job
// that asks for more. Without a limit of cpu only the pods can tell, and flags of the user's own may ask for something else.
func validateFit(c *v1alpha1.MiniCluster, spec *field.Path) field.ErrorList {
	flux, tasks := &c.Spec.Flux, int64(ptr.Deref(c.Spec.Tasks, 1))
	each, nodes := cores(c), int64(startSize(c))
	if each == 0 || tasks <= each*nodes || flux.SubmitCommand != "" || flux.OptionFlags != "" || flux.BrokerConfig != "" {
		return nil
	}
	return field.ErrorList{field.Invalid(spec.Child("tasks"), tasks, fmt.Sprintf(
		"must be at most %d: Flux believes each of %d nodes to have %d cores (the whole ones of resources.limits.cpu), and a task needs one",
		each*nodes, nodes, each))}
}

// ignored returns what is accepted without having an effect, as in flux-operator, so that its manifests are.
func ignored(c *v1alpha1.MiniCluster) []string {
	at, w := worker(c)
	spec, flux := field.NewPath("spec"), &c.Spec.Flux
	var errs field.ErrorList
	if c.Spec.Interactive {
		const why = "the cluster is interactive"
		errs = append(errs, forbidden(spec.Child("containers").Index(at), map[string]bool{
			"command": w.Command != "", "launcher": w.Launcher, "batch": w.Batch, "batchRaw": w.BatchRaw, "logs": w.Logs != "",
			"commands.script": w.Commands.Script != "", "commands.prefix": w.Commands.Prefix != "",
		}, why)...)
		errs = append(errs, forbidden(spec, map[string]bool{
			"flux.submitCommand": flux.SubmitCommand != "", "flux.optionFlags": flux.OptionFlags != "",
		}, why)...)
	}
	if flux.Container.Disable {
		errs = append(errs, validateNoView(&flux.Container, spec.Child("flux", "container"))...)
	}
	var notes []string
	for _, err := range errs {
		notes = append(notes, fmt.Sprintf("%s has no effect: %s", err.Field, err.Detail))
	}
	return notes
}

// validateLines validates what becomes part of a line of script.
func validateLines(c *v1alpha1.MiniCluster, w *v1alpha1.MiniClusterContainer, container, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	line := func(path *field.Path, text string) {
		if strings.ContainsAny(strings.TrimSpace(text), "\r\n") {
			errs = append(errs, field.Invalid(path, text, "must be one line"))
		}
	}
	line(container.Child("commands", "prefix"), w.Commands.Prefix)
	line(spec.Child("flux", "submitCommand"), c.Spec.Flux.SubmitCommand)
	line(spec.Child("flux", "optionFlags"), c.Spec.Flux.OptionFlags)
	return errs
}

// validateDisabled refuses what has no effect without Flux.
func validateDisabled(c *v1alpha1.MiniCluster, w *v1alpha1.MiniClusterContainer, container, spec *field.Path) field.ErrorList {
	flux := c.Spec.Flux
	const why = "Flux is disabled (flux.disable), so this has no effect"
	errs := forbidden(spec, map[string]bool{
		"interactive": c.Spec.Interactive, "minSize": c.Spec.MinSize > 0, "archive.path": c.Spec.Archive.Path != "",
		"logging.debug": c.Spec.Logging.Debug, "logging.zeromq": c.Spec.Logging.Zeromq, "logging.timed": c.Spec.Logging.Timed,
		"flux.optionFlags": flux.OptionFlags != "", "flux.submitCommand": flux.SubmitCommand != "", "flux.wrap": flux.Wrap != "",
		"flux.connectTimeout": flux.ConnectTimeout != "", "flux.logLevel": flux.LogLevel != nil, "flux.topology": flux.Topology != "",
		"flux.brokerConfig": flux.BrokerConfig != "", "flux.curveCert": flux.CurveCert != "", "flux.environment": len(flux.Environment) > 0,
		"flux.scheduler.queuePolicy": flux.Scheduler.QueuePolicy != "", "flux.completeWorkers": flux.CompleteWorkers,
		"flux.container.disable": flux.Container.Disable, "flux.container.pythonPath": flux.Container.PythonPath != "",
	}, why)
	errs = append(errs, validateNoView(&flux.Container, spec.Child("flux", "container"))...)
	errs = append(errs, forbidden(container, map[string]bool{"batch": w.Batch}, why)...)
	if w.Command == "" && w.Commands.Script == "" {
		errs = append(errs, field.Required(container.Child("command"), "without Flux there must be something for the leader to run"))
	}
	return errs
}

// validateNoView refuses what has no effect without the init container that brings Flux.
func validateNoView(view *v1alpha1.MiniClusterFluxContainer, path *field.Path) field.ErrorList {
	return forbidden(path, map[string]bool{
		"image": view.Image != "", "name": view.Name != "", "workingDir": view.WorkingDir != "", "pullAlways": view.PullAlways,
		"imagePullSecret": view.ImagePullSecret != "", "securityContext": view.SecurityContext != nil,
		"resources": !isEmpty(view.Resources),
	}, "there is no init container that brings Flux")
}

func isEmpty(r corev1.ResourceRequirements) bool {
	return len(r.Limits)+len(r.Requests)+len(r.Claims) == 0
}
