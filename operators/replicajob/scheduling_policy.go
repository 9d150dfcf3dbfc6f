package replicajob

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/component-helpers/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

// Annotations and labels that assign a pod to its gang.
const (
	volcanoGroupAnnotation = "scheduling.k8s.io/group-name"
	volcanoTaskAnnotation  = "volcano.sh/task-spec"
	pluginsGroupLabel      = "scheduling.x-k8s.io/pod-group"
	pluginsOldGroupLabel   = "pod-group.scheduling.sigs.k8s.io"
)

// Default schedulers of gangs, if a template names none.
const (
	volcanoScheduler = "volcano"
	pluginsScheduler = "scheduler-plugins-scheduler"
)

// gangKind returns an empty object of the kind that a provider of gang scheduling reads.
func gangKind(provider v1alpha1.GangProvider) client.Object {
	switch provider {
	case v1alpha1.GangKubernetes:
		return &schedulingv1beta1.PodGroup{}
	case v1alpha1.GangVolcano:
		return podGroup("scheduling.volcano.sh/v1beta1")
	case v1alpha1.GangSchedulerPlugins:
		return podGroup("scheduling.x-k8s.io/v1alpha1")
	default:
		return &policyv1.PodDisruptionBudget{}
	}
}

// gangAPI names that kind for people.
func gangAPI(provider v1alpha1.GangProvider) string {
	if u, ok := gangKind(provider).(*unstructured.Unstructured); ok {
		return u.GetKind() + " of " + u.GetAPIVersion()
	}
	if provider == v1alpha1.GangKubernetes {
		return "PodGroup of " + schedulingv1beta1.SchemeGroupVersion.String()
	}
	return "PodDisruptionBudget of " + policyv1.SchemeGroupVersion.String()
}

func podGroup(apiVersion string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind("PodGroup")
	return u
}

// gangKinds are what jobs on this cluster can have for gang scheduling.
func (p *pass) gangKinds() []client.Object {
	var kinds []client.Object
	for _, provider := range p.schedulers {
		kinds = append(kinds, gangKind(provider))
	}
	return kinds
}

// has reports whether the cluster has the API of a provider.
func (p *pass) has(provider v1alpha1.GangProvider) bool {
	return slices.Contains(p.schedulers, provider)
}

// provider returns who schedules the job's gang; empty if it is none. The webhook doesn't know what the cluster has, and must not refuse
// what the operator accepts: it gets the default that knows more fields.
func (p *pass) provider() v1alpha1.GangProvider {
	policy := p.spec.RunPolicy.SchedulingPolicy
	switch {
	case policy == nil || p.world.Size() == 0:
		return ""
	case policy.Provider != "":
		return policy.Provider
	case p.schedulers == nil || p.has(v1alpha1.GangKubernetes):
		return v1alpha1.GangKubernetes
	default:
		return v1alpha1.GangPodDisruptionBudget
	}
}

// minAvailable is how many pods must be available together, by the spec.
func (p *pass) minAvailable() int32 {
	if n := p.spec.RunPolicy.SchedulingPolicy.MinAvailable; n != nil {
		return *n
	}
	return int32(p.world.Size())
}

// placeable returns how many pods of each type the gang scheduler can place together. While there are pods to place, it never waits for
// more pods than there can be: those that have ended are not in the gang any more, and those of a type whose dependencies have not the
// required status are not in it yet. Without pods to place, the numbers are those of the spec, so that no end of a pod causes a write.
func (o *observed) placeable() map[*group]int {
	all, now, isPlacing := map[*group]int{}, map[*group]int{}, false
	for _, g := range o.groups {
		all[g] = len(g.replicas)
		may := o.mayStart(g)
		for i := range g.replicas {
			if r := &g.replicas[i]; r.state != succeeded && (r.pod != nil || may) {
				now[g]++
				isPlacing = isPlacing || r.state != running
			}
		}
	}
	if isPlacing {
		return now
	}
	return all
}

// gangSize is how many of the pods that can be placed must be placed together.
func (p *pass) gangSize(placeable map[*group]int) int32 {
	size := 0
	for _, n := range placeable {
		size += n
	}
	return min(p.minAvailable(), int32(size))
}

// gang returns what the job's gang scheduler reads, and whether the scheduler has admitted the gang.
func (p *pass) gang(o *observed, view builder.View) (children []builder.Child, admitted bool) {
	meta := metav1.ObjectMeta{Namespace: p.namespace, Name: p.name, Labels: p.selector()}
	provider := p.provider()
	switch provider {
	case "":
		return nil, true
	case v1alpha1.GangPodDisruptionBudget:
		least := intstr.FromInt32(p.minAvailable())
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: meta, Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: p.selector()},
		}}
		return []builder.Child{p.take(budget)}, true
	case v1alpha1.GangKubernetes:
		own := &schedulingv1beta1.PodGroup{ObjectMeta: meta, Spec: schedulingv1beta1.PodGroupSpec{
			SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{
				Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: p.gangSize(o.placeable())},
			},
			PriorityClassName: p.spec.RunPolicy.SchedulingPolicy.PriorityClass,
		}}
		for _, found := range builder.Owned[*schedulingv1beta1.PodGroup](view) {
			if found.Name == own.Name { // the API server refuses another class: it applies to the next PodGroup
				own.Spec.PriorityClassName = found.Spec.PriorityClassName
			}
		}
		return []builder.Child{p.take(own)}, true
	default:
		theirs := gangKind(provider).(*unstructured.Unstructured)
		theirs.SetNamespace(meta.Namespace)
		theirs.SetName(meta.Name)
		theirs.SetLabels(meta.Labels)
		theirs.Object["spec"] = p.podGroupSpec(o, view)
		return []builder.Child{p.take(theirs)}, provider != v1alpha1.GangVolcano || isAdmitted(theirs, view)
	}
}

// podGroupSpec returns the spec of a PodGroup of Volcano's or of scheduler-plugins'.
func (p *pass) podGroupSpec(o *observed, view builder.View) map[string]any {
	policy, placeable := p.spec.RunPolicy.SchedulingPolicy, o.placeable()
	size := p.gangSize(placeable)
	resources := policy.MinResources
	if resources == nil {
		resources = o.minResources(size, placeable, builder.Watched[*schedulingv1.PriorityClass](view))
	}
	spec := map[string]any{"minMember": int64(size)}
	if amounts := amountsOf(resources); len(amounts) > 0 {
		spec["minResources"] = amounts
	}
	if policy.Queue != "" {
		spec["queue"] = policy.Queue
	}
	if policy.PriorityClass != "" {
		spec["priorityClassName"] = policy.PriorityClass
	}
	if policy.ScheduleTimeoutSeconds != nil {
		spec["scheduleTimeoutSeconds"] = int64(*policy.ScheduleTimeoutSeconds)
	}
	return spec
}

// isAdmitted reports whether Volcano has admitted a group. Pods that exist before that would wait at the scheduler in the way of others.
func isAdmitted(desired *unstructured.Unstructured, view builder.View) bool {
	for _, found := range builder.Owned[*unstructured.Unstructured](view) {
		if found.GetAPIVersion() == desired.GetAPIVersion() && found.GetName() == desired.GetName() {
			phase, _, _ := unstructured.NestedString(found.Object, "status", "phase")
			return phase != "" && phase != "Pending"
		}
	}
	return false
}

// joinGang assigns a pod to the job's gang.
func (p *pass) joinGang(g *group, pod *corev1.PodTemplateSpec) {
	schedule := func(scheduler string) {
		if pod.Spec.SchedulerName == "" {
			pod.Spec.SchedulerName = scheduler
		}
	}
	switch p.provider() {
	case v1alpha1.GangKubernetes:
		name := p.name
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name}
	case v1alpha1.GangVolcano:
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, volcanoGroupAnnotation, p.name)
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, volcanoTaskAnnotation, lower(g.name))
		schedule(volcanoScheduler)
	case v1alpha1.GangSchedulerPlugins:
		metav1.SetMetaDataLabel(&pod.ObjectMeta, pluginsGroupLabel, p.name)
		metav1.SetMetaDataLabel(&pod.ObjectMeta, pluginsOldGroupLabel, p.name)
		schedule(pluginsScheduler)
	}
}

// minResources sums up what the first n placeable replicas request: those of a higher priority first, then by rank.
func (o *observed) minResources(n int32, placeable map[*group]int, classes []*schedulingv1.PriorityClass) corev1.ResourceList {
	groups := slices.Clone(o.groups)
	slices.SortStableFunc(groups, func(a, b *group) int {
		return cmp.Compare(priorityOf(&b.spec.Template.Spec, classes), priorityOf(&a.spec.Template.Spec, classes))
	})
	sum := corev1.ResourceList{}
	left := int64(n)
	for _, g := range groups {
		pods := min(left, int64(placeable[g]))
		for name, amount := range podRequests(&g.spec.Template.Spec) {
			total := amount.DeepCopy() // amounts may share what is behind them
			total.Mul(pods)
			before := sum[name]
			before.Add(total)
			sum[name] = before
		}
		if left -= pods; left == 0 {
			break
		}
	}
	return sum
}

// priorityOf returns the priority that pods of a template get.
func priorityOf(pod *corev1.PodSpec, classes []*schedulingv1.PriorityClass) int32 {
	if pod.Priority != nil {
		return *pod.Priority
	}
	for _, class := range classes {
		if pod.PriorityClassName == class.Name || pod.PriorityClassName == "" && class.GlobalDefault {
			return class.Value
		}
	}
	return 0
}

// podRequests returns what a pod of a template requests of a node. A limit stands for a missing request, as on the API server.
func podRequests(template *corev1.PodSpec) corev1.ResourceList {
	pod := corev1.Pod{Spec: *template.DeepCopy()}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			resources := &containers[i].Resources
			requests := maps.Clone(resources.Limits)
			if requests == nil {
				continue
			}
			maps.Copy(requests, resources.Requests)
			resources.Requests = requests
		}
	}
	return resource.PodRequests(&pod, resource.PodResourcesOptions{})
}

// amountsOf returns resources as they stand in an object without a Go type.
func amountsOf(resources corev1.ResourceList) map[string]any {
	amounts := make(map[string]any, len(resources))
	for name, amount := range resources {
		amounts[string(name)] = amount.String()
	}
	return amounts
}
