package minicluster

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// validateMode looks at what the way of doing the work leaves without effect.
func validateMode(c *v1alpha1.MiniCluster, w *v1alpha1.MiniClusterContainer, spec *field.Path) field.ErrorList {
	at, _ := worker(c)
	container := spec.Child("containers").Index(at)
	flux := &c.Spec.Flux
	errs := forbidden(container, map[string]bool{
		"noWrapEntrypoint":    w.NoWrapEntrypoint,
		"commands.servicePre": w.Commands.ServicePre != "",
	}, "it is for sidecars and services")
	errs = append(errs, validateLines(c, w, container, spec)...)

	m := modeOf(c)
	if w.Command != "" && w.Commands.Script != "" {
		errs = append(errs, field.Forbidden(container.Child("commands", "script"), "there is a command already"))
	}
	if c.Spec.Interactive && (w.Command != "" || w.Commands.Script != "") {
		errs = append(errs, field.Forbidden(container.Child("command"), "an interactive cluster runs no command"))
	}
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
			"nothing is submitted by it with "+string(m))...)
	}
	if m != modeSubmit && m != modeBatch && m != modePlain {
		errs = append(errs, forbidden(spec, map[string]bool{"flux.optionFlags": flux.OptionFlags != ""},
			"nothing is submitted with them with "+string(m))...)
	}
	if flux.Disable {
		errs = append(errs, validateDisabled(c, w, container, spec)...)
	} else if flux.Container.Disable {
		errs = append(errs, validateNoView(&flux.Container, spec.Child("flux", "container"))...)
	}
	return errs
}

// validateLines looks at what becomes part of a line of script.
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

// validateDisabled looks at what has no effect without Flux.
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

// validateNoView looks at what has no effect without the init container that brings Flux.
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
