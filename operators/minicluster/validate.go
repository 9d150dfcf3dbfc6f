package minicluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/wellknown"
)

// maxName bounds a MiniCluster's name, so that a rank can follow it in a host's name.
const maxName = 52

// maxSize bounds the number of a MiniCluster's pods.
const maxSize = 10000

// validate returns all that keeps a spec from being carried out. The schema refuses some of it before; what it can't
// tell, or an older schema let through, is told here. A field that would have no effect is refused rather than ignored, but for some that
// flux-operator's manifests have (see ignored).
func validate(c *v1alpha1.MiniCluster) field.ErrorList {
	spec := field.NewPath("spec")
	errs := validateName(c)
	errs = append(errs, validateSizes(c, spec)...)
	errs = append(errs, validateContainers(c, spec)...)
	if _, w := worker(c); w != nil {
		errs = append(errs, validateMode(c, w, spec)...)
	}
	errs = append(errs, validateVolumes(c, spec)...)
	errs = append(errs, validatePod(c, spec)...)
	if len(errs) == 0 { // others can't be rendered
		errs = validateScripts(c, spec)
	}
	return errs
}

// maxScripts bounds the scripts of a MiniCluster: it is the size of a ConfigMap.
const maxScripts = 1 << 20

func validateScripts(c *v1alpha1.MiniCluster, spec *field.Path) field.ErrorList {
	total := 0
	for _, text := range scripts(c) {
		total += len(text)
	}
	if total <= maxScripts {
		return nil
	}
	why := fmt.Sprintf("the commands and the scripts that run them have %d bytes, at most %d", total, maxScripts)
	if modeOf(c) == modeBatch {
		why += "; a line of a batch takes about 190 besides its own: have lines submit several jobs, or use batchRaw"
	}
	return field.ErrorList{field.Forbidden(spec.Child("containers"), why)}
}

func validateName(c *v1alpha1.MiniCluster) field.ErrorList {
	var errs field.ErrorList
	path := field.NewPath("metadata", "name")
	for _, detail := range validation.IsDNS1035Label(c.Name) { // the Service's rule, which is the strictest
		errs = append(errs, field.Invalid(path, c.Name, detail))
	}
	if len(c.Name) > maxName {
		errs = append(errs, field.TooLong(path, c.Name, maxName))
	}
	return errs
}

func validateSizes(c *v1alpha1.MiniCluster, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	least := func(name string, value, least int32) {
		if value < least {
			errs = append(errs, field.Invalid(spec.Child(name), value, "must be at least "+itoa(least)))
		}
	}
	least("size", size(c), 1)
	if size(c) > maxSize {
		errs = append(errs, field.Invalid(spec.Child("size"), size(c), "must be at most "+itoa(maxSize)))
	}
	least("minSize", c.Spec.MinSize, 0)
	least("maxSize", c.Spec.MaxSize, 0)
	least("tasks", ptr.Deref(c.Spec.Tasks, 1), 0)
	least("backoffLimit", ptr.Deref(c.Spec.BackoffLimit, 0), 0)
	least("ttlSecondsAfterFinished", ptr.Deref(c.Spec.TTLSecondsAfterFinished, 0), 0)
	if seconds := c.Spec.DeadlineSeconds; seconds != nil && *seconds < 1 {
		errs = append(errs, field.Invalid(spec.Child("deadlineSeconds"), *seconds, "must be at least 1"))
	}
	if most := maximumSize(c); size(c) > most {
		errs = append(errs, field.Invalid(spec.Child("size"), size(c), "must be at most "+itoa(most)+", maxSize"))
	}
	if size(c) < c.Spec.MinSize {
		errs = append(errs, field.Invalid(spec.Child("size"), size(c), "must be at least minSize, "+itoa(c.Spec.MinSize)))
	}
	return errs
}

// validateContainers validates what concerns all containers, and sidecars and services.
func validateContainers(c *v1alpha1.MiniCluster, spec *field.Path) field.ErrorList {
	path := spec.Child("containers")
	at, _ := worker(c)
	runners := 0
	for i := range c.Spec.Containers {
		if c.Spec.Containers[i].RunFlux {
			runners++
		}
	}
	if len(c.Spec.Containers) == 0 {
		return field.ErrorList{field.Required(path, "at least one container is needed")}
	}
	if at < 0 || runners > 1 {
		return field.ErrorList{field.Invalid(path, runners, "with several containers exactly one must have runFlux: true")}
	}
	names := map[string]bool{}
	if bringsFlux(c) {
		names[cmp.Or(c.Spec.Flux.Container.Name, "flux-view")] = true
	}
	var errs field.ErrorList
	check := func(s *v1alpha1.MiniClusterContainer, name string, path *field.Path, beside bool) {
		for _, detail := range validation.IsDNS1123Label(name) {
			errs = append(errs, field.Invalid(path.Child("name"), name, detail))
		}
		if names[name] {
			errs = append(errs, field.Duplicate(path.Child("name"), name))
		}
		names[name] = true
		errs = append(errs, validateEnvironment(s, path)...)
		if beside {
			errs = append(errs, validateBeside(s, path)...)
		}
	}
	errs = append(errs, validateVariables(c.Spec.Flux.Environment, spec.Child("flux", "environment"))...)
	for i := range c.Spec.Containers {
		s, name := &c.Spec.Containers[i], c.Spec.Containers[i].Name
		if i == at {
			name = workerName(c)
		}
		check(s, name, path.Index(i), i != at)
	}
	for i := range c.Spec.Services {
		s, path := &c.Spec.Services[i], spec.Child("services").Index(i)
		check(s, s.Name, path, true)
		if s.RunFlux {
			errs = append(errs, field.Forbidden(path.Child("runFlux"), "a service does no work; it is for one of spec.containers"))
		}
	}
	if c.Spec.Flux.MinimalService && len(c.Spec.Services) > 0 {
		errs = append(errs, field.Forbidden(spec.Child("flux", "minimalService"),
			"only the leader would have a DNS name, and the services couldn't be found"))
	}
	return errs
}

func validateEnvironment(s *v1alpha1.MiniClusterContainer, path *field.Path) field.ErrorList {
	errs := validateVariables(s.Environment, path.Child("environment"))
	for _, name := range slices.Sorted(maps.Keys(s.Secrets)) {
		path := path.Child("secrets").Key(name)
		for _, detail := range validation.IsEnvVarName(name) {
			errs = append(errs, field.Invalid(path, name, detail))
		}
		if _, twice := s.Environment[name]; twice {
			errs = append(errs, field.Duplicate(path, name))
		}
	}
	return errs
}

func validateVariables(variables map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		for _, detail := range validation.IsEnvVarName(name) {
			errs = append(errs, field.Invalid(path.Key(name), name, detail))
		}
	}
	return errs
}

// validateBeside validates a sidecar or service.
func validateBeside(s *v1alpha1.MiniClusterContainer, path *field.Path) field.ErrorList {
	const does = "it is for the container that does the work, the one with runFlux"
	errs := forbidden(path, map[string]bool{
		"launcher": s.Launcher, "batch": s.Batch, "batchRaw": s.BatchRaw, "logs": s.Logs != "",
		"commands.pre": s.Commands.Pre != "", "commands.brokerPre": s.Commands.BrokerPre != "",
		"commands.workerPre": s.Commands.WorkerPre != "",
		"commands.prefix":    s.Commands.Prefix != "", "commands.script": s.Commands.Script != "",
	}, does)
	if !isWrapped(s) {
		errs = append(errs, forbidden(path, map[string]bool{
			"commands.init": s.Commands.Init != "", "commands.servicePre": s.Commands.ServicePre != "", "commands.post": s.Commands.Post != "",
		}, "it is run before a command, which must be set, without noWrapEntrypoint")...)
	}
	return errs
}

func validatePod(c *v1alpha1.MiniCluster, spec *field.Path) field.ErrorList {
	path := spec.Child("pod")
	errs := metavalidation.ValidateLabels(c.Spec.JobLabels, spec.Child("jobLabels"))
	errs = append(errs, metavalidation.ValidateLabels(c.Spec.Pod.Labels, path.Child("labels"))...)
	errs = append(errs, validateOwnLabels(c.Spec.JobLabels, spec.Child("jobLabels"))...)
	errs = append(errs, validateOwnLabels(c.Spec.Pod.Labels, path.Child("labels"))...)
	errs = append(errs, apivalidation.ValidateAnnotations(c.Spec.Pod.Annotations, path.Child("annotations"))...)
	if policy := c.Spec.Pod.RestartPolicy; policy != "" && policy != "Never" {
		errs = append(errs, field.NotSupported(path.Child("restartPolicy"), policy, []string{"Never"}))
	}
	for name := range c.Spec.Pod.Resources {
		if name != corev1.ResourceCPU && name != corev1.ResourceMemory && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			errs = append(errs, field.NotSupported(path.Child("resources").Key(string(name)), name, []string{"cpu", "memory", "hugepages-<size>"}))
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}

// validateOwnLabels refuses labels that would have no effect, because the operator or the Job controller sets them.
func validateOwnLabels(labels map[string]string, path *field.Path) field.ErrorList {
	own := []string{LabelMiniCluster, LabelUID, LabelAttempt, LabelRole, wellknown.LabelManagedBy, "job-name", "controller-uid"}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if slices.Contains(own, name) || strings.HasPrefix(name, "batch.kubernetes.io/") {
			errs = append(errs, field.Forbidden(path.Key(name), "it is set by the operator or by the Job, which find their pods by it"))
		}
	}
	return errs
}

// forbidden reports fields that are set and would have no effect, by name.
func forbidden(path *field.Path, set map[string]bool, why string) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if set[name] {
			parts := strings.Split(name, ".")
			errs = append(errs, field.Forbidden(path.Child(parts[0], parts[1:]...), why))
		}
	}
	return errs
}
