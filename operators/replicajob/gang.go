package replicajob

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

// Marks by which pods are found to be of a gang.
const (
	volcanoGroupAnnotation = "scheduling.k8s.io/group-name"
	volcanoTaskAnnotation  = "volcano.sh/task-spec"
	pluginsGroupLabel      = "scheduling.x-k8s.io/pod-group"
	pluginsOldGroupLabel   = "pod-group.scheduling.sigs.k8s.io"
)

// Schedulers that take care of gangs, where a template names none.
const (
	volcanoScheduler = "volcano"
	pluginsScheduler = "scheduler-plugins-scheduler"
)

// group is what a job has for gang scheduling.
type group struct {
	children []builder.Child
	mayStart bool // false: the scheduler hasn't let the group in yet
}

// gangKind returns an empty object of what a provider of gang scheduling reads.
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
func (j *job) gangKinds() []client.Object {
	var kinds []client.Object
	for _, provider := range j.schedulers {
		kinds = append(kinds, gangKind(provider))
	}
	return kinds
}

// has reports whether the cluster has the API of a provider.
func (j *job) has(provider v1alpha1.GangProvider) bool {
	return slices.Contains(j.schedulers, provider)
}

// provider returns who schedules the job's gang; empty if it is none.
func (j *job) provider() v1alpha1.GangProvider {
	policy := j.spec.RunPolicy.SchedulingPolicy
	switch {
	case policy == nil || j.world.Size() == 0:
		return ""
	case policy.Provider != "":
		return policy.Provider
	case j.has(v1alpha1.GangKubernetes):
		return v1alpha1.GangKubernetes
	default:
		return v1alpha1.GangPodDisruptionBudget
	}
}

// minAvailable is how many pods must be scheduled together.
func (j *job) minAvailable() int32 {
	if n := j.spec.RunPolicy.SchedulingPolicy.MinAvailable; n != nil {
		return *n
	}
	return int32(j.world.Size())
}

// gang returns what the job's gang scheduler reads. All of it follows from the spec, so it is written when that changes.
func (j *job) gang(r *roster, seen builder.View) group {
	meta := metav1.ObjectMeta{Namespace: j.namespace, Name: j.name, Labels: j.selector()}
	provider := j.provider()
	switch provider {
	case "":
		return group{mayStart: true}
	case v1alpha1.GangPodDisruptionBudget:
		least := intstr.FromInt32(j.minAvailable())
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: meta, Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: j.selector()},
		}}
		return group{[]builder.Child{j.take(budget)}, true}
	case v1alpha1.GangKubernetes:
		own := &schedulingv1beta1.PodGroup{ObjectMeta: meta, Spec: schedulingv1beta1.PodGroupSpec{
			SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{
				Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: j.minAvailable()},
			},
			PriorityClassName: j.spec.RunPolicy.SchedulingPolicy.PriorityClass,
		}}
		return group{[]builder.Child{j.take(own)}, true}
	default:
		theirs := gangKind(provider).(*unstructured.Unstructured)
		theirs.SetNamespace(meta.Namespace)
		theirs.SetName(meta.Name)
		theirs.SetLabels(meta.Labels)
		theirs.Object["spec"] = j.podGroupSpec(r, seen)
		return group{[]builder.Child{j.take(theirs)}, provider != v1alpha1.GangVolcano || isLetIn(theirs, seen)}
	}
}

// podGroupSpec returns the spec of a PodGroup of Volcano's or of scheduler-plugins'.
func (j *job) podGroupSpec(r *roster, seen builder.View) map[string]any {
	policy := j.spec.RunPolicy.SchedulingPolicy
	resources := policy.MinResources
	if resources == nil {
		resources = r.minResources(j.minAvailable(), builder.Watched[*schedulingv1.PriorityClass](seen))
	}
	spec := map[string]any{"minMember": int64(j.minAvailable())}
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

// isLetIn reports whether Volcano has let a group in. Pods that come before it would wait at the scheduler in the way of
// others.
func isLetIn(wanted *unstructured.Unstructured, seen builder.View) bool {
	for _, found := range builder.Owned[*unstructured.Unstructured](seen) {
		if found.GetAPIVersion() == wanted.GetAPIVersion() && found.GetName() == wanted.GetName() {
			phase, _, _ := unstructured.NestedString(found.Object, "status", "phase")
			return phase != "" && phase != "Pending"
		}
	}
	return false
}

// joinGang marks a pod as one of the job's gang.
func (j *job) joinGang(t *team, pod *corev1.PodTemplateSpec) {
	schedule := func(scheduler string) {
		if pod.Spec.SchedulerName == "" {
			pod.Spec.SchedulerName = scheduler
		}
	}
	switch j.provider() {
	case v1alpha1.GangKubernetes:
		name := j.name
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name}
	case v1alpha1.GangVolcano:
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, volcanoGroupAnnotation, j.name)
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, volcanoTaskAnnotation, lower(t.name))
		schedule(volcanoScheduler)
	case v1alpha1.GangSchedulerPlugins:
		metav1.SetMetaDataLabel(&pod.ObjectMeta, pluginsGroupLabel, j.name)
		metav1.SetMetaDataLabel(&pod.ObjectMeta, pluginsOldGroupLabel, j.name)
		schedule(pluginsScheduler)
	}
}
