package replicajob

import (
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/graph"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/internal/pattern"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// problem is why a job can't run as it is.
type problem struct {
	reason, message string
}

// validate returns all that keeps the job from running, or nil. The CRD of ReplicaJob refuses most of it at admission;
// those of other kinds may not, and what the cluster has isn't known there.
func (p *pass) validate() *problem {
	spec := field.NewPath("spec")
	errs := p.validateReplicas(spec.Child("replicaSpecs"))
	errs = append(errs, p.validateSuccess(spec.Child("successPolicy"))...)
	errs = append(errs, p.validateFailure(spec.Child("failurePolicy"))...)
	errs = append(errs, p.validateRun(spec.Child("runPolicy"))...)
	if details := validation.IsDNS1035Label(p.name); len(details) > 0 {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), p.name, "it is the name of a Service: "+details[0]))
	}
	if len(errs) > 0 {
		return &problem{v1alpha1.ReasonInvalidSpec, message.List(errs, (*field.Error).Error)}
	}
	if provider := p.provider(); provider != "" && !p.has(provider) {
		return &problem{v1alpha1.ReasonNoGangScheduler, fmt.Sprintf(
			"spec.runPolicy.schedulingPolicy.provider: %s: the cluster has no %s; install it, or choose one of %s", provider, gangAPI(provider),
			message.Names(p.schedulers, func(p v1alpha1.GangProvider) string { return string(p) }))}
	}
	return nil
}

var typeName = regexp.MustCompile(`^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$`)

func (p *pass) validateReplicas(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(p.spec.ReplicaSpecs) == 0 {
		return field.ErrorList{field.Required(path, "at least one type of replicas is needed")}
	}
	known := map[string]v1alpha1.ReplicaType{}
	for _, t := range p.world.types {
		spec, at := p.spec.ReplicaSpecs[t], path.Key(string(t))
		if !typeName.MatchString(string(t)) {
			errs = append(errs, field.Invalid(at, t,
				"a type's name has letters, digits and '-', starts with a letter and ends with a letter or digit"))
		}
		if other, ok := known[lower(t)]; ok {
			errs = append(errs, field.Invalid(at, t, fmt.Sprintf("it differs from %s in case only", other)))
		}
		known[lower(t)] = t
		if spec.Replicas != nil && *spec.Replicas < 0 {
			errs = append(errs, field.Invalid(at.Child("replicas"), *spec.Replicas, "it must be 0 or more"))
		}
		if last := PodName(p.name, t, max(0, p.world.Replicas(t)-1)); len(last) > validation.DNS1123LabelMaxLength {
			errs = append(errs, field.Invalid(at, last,
				fmt.Sprintf("a pod's name is a host name, and must have at most %d characters", validation.DNS1123LabelMaxLength)))
		}
		errs = append(errs, podtemplate.Validate(&spec.Template, at.Child("template"))...)
		for i, d := range spec.DependsOn {
			if p.lacks(d.Type) || d.Type == t {
				errs = append(errs, field.Invalid(at.Child("dependsOn").Index(i).Child("type"), d.Type, "it must be another type of the job"))
			}
		}
	}
	if found := cycle(p.world); len(errs) == 0 && found != nil {
		text := graph.DescribeCycle(found, func(t v1alpha1.ReplicaType) string { return string(t) })
		errs = append(errs, field.Invalid(path.Key(string(found[0])).Child("dependsOn"), text, "the dependencies form a cycle"))
	}
	return errs
}

// lacks reports whether the job has no such type.
func (p *pass) lacks(t v1alpha1.ReplicaType) bool {
	_, ok := p.spec.ReplicaSpecs[t]
	return !ok
}

func (p *pass) validateTypes(types []v1alpha1.ReplicaType, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, t := range types {
		if p.lacks(t) {
			errs = append(errs, field.NotFound(path.Index(i), t))
		}
	}
	return errs
}

func (p *pass) validateSuccess(path *field.Path) field.ErrorList {
	policy := p.spec.SuccessPolicy
	if policy == nil {
		return nil
	}
	errs := p.validateTypes(policy.ReplicaTypes, path.Child("replicaTypes"))
	isWorker := func(t v1alpha1.ReplicaType) bool { return sameType(t, v1alpha1.ReplicaWorker) }
	if policy.Rule == v1alpha1.SuccessAllWorkers && !slices.ContainsFunc(p.world.types, isWorker) {
		errs = append(errs, field.Invalid(path.Child("rule"), policy.Rule,
			"the job has no type Worker: name those that decide in replicaTypes, with the rule All"))
	}
	needsTypes := policy.Rule == v1alpha1.SuccessAll || policy.Rule == v1alpha1.SuccessAny
	switch {
	case needsTypes && len(policy.ReplicaTypes) == 0:
		errs = append(errs, field.Required(path.Child("replicaTypes"), fmt.Sprintf("required by the rule %s", policy.Rule)))
	case !needsTypes && len(policy.ReplicaTypes) > 0:
		errs = append(errs, field.Forbidden(path.Child("replicaTypes"), "only allowed with the rules All and Any"))
	}
	return errs
}

func (p *pass) validateFailure(path *field.Path) field.ErrorList {
	if p.spec.FailurePolicy == nil {
		return nil
	}
	var errs field.ErrorList
	size := 0 // of the expressions so far
	for i, rule := range p.spec.FailurePolicy.Rules {
		at := path.Child("rules").Index(i)
		errs = append(errs, p.validateTypes(rule.ReplicaTypes, at.Child("replicaTypes"))...)
		if rule.OnMessage == "" || size > pattern.MaxSize {
			continue // the expressions before are an error already
		}
		n, err := pattern.Size(rule.OnMessage)
		if size += n; size > pattern.MaxSize {
			errs = append(errs, field.Forbidden(at.Child("onMessage"), fmt.Sprintf(
				"the expressions up to this one have %d instructions together, more than %d", size, pattern.MaxSize)))
		} else if err != nil {
			errs = append(errs, field.Invalid(at.Child("onMessage"), rule.OnMessage, err.Error()))
		}
	}
	return errs
}

// gangFields says which providers know a field of the scheduling policy.
var gangFields = []struct {
	name  string
	isSet func(*v1alpha1.SchedulingPolicy) bool
	of    []v1alpha1.GangProvider
}{
	{"queue", func(p *v1alpha1.SchedulingPolicy) bool { return p.Queue != "" }, []v1alpha1.GangProvider{v1alpha1.GangVolcano}},
	{"priorityClass", func(p *v1alpha1.SchedulingPolicy) bool { return p.PriorityClass != "" },
		[]v1alpha1.GangProvider{v1alpha1.GangKubernetes, v1alpha1.GangVolcano}},
	{"minResources", func(p *v1alpha1.SchedulingPolicy) bool { return p.MinResources != nil },
		[]v1alpha1.GangProvider{v1alpha1.GangVolcano, v1alpha1.GangSchedulerPlugins}},
	{"scheduleTimeoutSeconds", func(p *v1alpha1.SchedulingPolicy) bool { return p.ScheduleTimeoutSeconds != nil },
		[]v1alpha1.GangProvider{v1alpha1.GangSchedulerPlugins}},
}

func (p *pass) validateRun(path *field.Path) field.ErrorList {
	policy, provider := p.spec.RunPolicy.SchedulingPolicy, p.provider()
	if provider == "" {
		return nil
	}
	var errs field.ErrorList
	path = path.Child("schedulingPolicy")
	if n := policy.MinAvailable; n != nil && (*n < 1 || int(*n) > p.world.Size()) {
		errs = append(errs, field.Invalid(path.Child("minAvailable"), *n,
			fmt.Sprintf("it must be 1 to %d, the number of replicas", p.world.Size())))
	}
	for _, f := range gangFields {
		if f.isSet(policy) && !slices.Contains(f.of, provider) {
			errs = append(errs, field.Forbidden(path.Child(f.name), fmt.Sprintf("the provider %s doesn't know it; it is of %v", provider, f.of)))
		}
	}
	return errs
}

// setProblem sets the state of a job that can't start. An invalid spec makes it Failed until someone fixes the spec: completionTime
// isn't set. The state of a job that has started before stays.
func (p *pass) setProblem(s *v1alpha1.ReplicaJobStatus, problem *problem) {
	switch conditions := p.conditions(s); {
	case p.last.StartTime != nil || p.isSuspended():
	case problem.reason == v1alpha1.ReasonInvalidSpec:
		s.State = v1alpha1.ReplicaJobFailed
		conditions.Set(v1alpha1.ConditionFailed, true, problem.reason, problem.message)
	default:
		s.State = v1alpha1.ReplicaJobCreated
		conditions.Remove(v1alpha1.ConditionFailed, v1alpha1.ReasonInvalidSpec)
	}
}

// evaluable returns the success rule and the failures of a job that runs and whose spec can't be carried out, as far as the spec
// still says what they are.
func (p *pass) evaluable(o *observed) (rule successRule, failures []*failure) {
	if !p.hasRecordedTypes() {
		return // a missing type may just have another name now
	}
	if len(p.validateSuccess(nil)) == 0 {
		rule = p.successRule(o)
	}
	if len(p.validateFailure(nil)) == 0 {
		failures = p.failures(o)
	}
	return
}

// hasRecordedTypes reports whether the spec has the types of replicas that the status records.
func (p *pass) hasRecordedTypes() bool {
	for t := range p.last.ReplicaStatuses {
		if p.lacks(t) {
			return false
		}
	}
	return len(p.last.ReplicaStatuses) == len(p.spec.ReplicaSpecs)
}
