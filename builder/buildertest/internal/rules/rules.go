package rules

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// withoutGeneration are the built-in kinds whose objects have no generation.
var withoutGeneration = map[schema.GroupKind]bool{
	{Kind: "ConfigMap"}: true, {Kind: "Secret"}: true, {Kind: "Service"}: true, {Kind: "ServiceAccount"}: true,
	{Kind: "PersistentVolumeClaim"}: true, {Kind: "PersistentVolume"}: true, {Kind: "Namespace"}: true, {Kind: "Node"}: true,
	{Kind: "Event"}: true, {Kind: "Endpoints"}: true, {Kind: "LimitRange"}: true, {Kind: "ResourceQuota"}: true,
	{Group: "events.k8s.io", Kind: "Event"}: true, {Group: "apps", Kind: "ControllerRevision"}: true,
	{Group: "coordination.k8s.io", Kind: "Lease"}: true, {Group: "storage.k8s.io", Kind: "StorageClass"}: true,
	{Group: "rbac.authorization.k8s.io", Kind: "Role"}: true, {Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}: true,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}: true, {Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: true,
}

// HasGeneration reports whether objects of a built-in kind have a generation.
func HasGeneration(kind schema.GroupKind) bool { return !withoutGeneration[kind] }

// NeedsResourceVersion reports whether an update of a built-in kind must name the version that it updates.
func NeedsResourceVersion(kind schema.GroupKind) bool {
	return slices.Contains([]schema.GroupKind{
		{Group: "policy", Kind: "PodDisruptionBudget"}, {Group: "coordination.k8s.io", Kind: "Lease"},
		{Group: "scheduling.k8s.io", Kind: "PriorityClass"}, {Group: "storage.k8s.io", Kind: "VolumeAttachment"},
	}, kind)
}

// OrphansByDefault reports whether deleting without a propagation policy leaves the dependents.
func OrphansByDefault(kind schema.GroupKind) bool {
	return kind == schema.GroupKind{Group: "batch", Kind: "Job"} || kind == schema.GroupKind{Kind: "ReplicationController"}
}

// AnnotationsCount reports whether a change of annotations makes a new generation too.
func AnnotationsCount(obj client.Object) bool {
	_, ok := obj.(*appsv1.Deployment)
	return ok
}

// GracePeriod returns how long an object may terminate by itself after its deletion, in seconds. It is 0 except for Pods that may be
// running.
func GracePeriod(obj client.Object, asked *int64) int64 {
	pod, ok := obj.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return 0
	}
	switch {
	case asked != nil:
		return *asked
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		return *pod.Spec.TerminationGracePeriodSeconds
	default:
		return 0
	}
}

// ValidName returns the rule for names of a kind.
func ValidName(obj client.Object) validation.ValidateNameFunc {
	switch obj.(type) {
	case *corev1.Namespace:
		return validation.NameIsDNSLabel
	case *corev1.Service, *appsv1.StatefulSet:
		return validation.NameIsDNSLabel
	case *rbacv1.Role, *rbacv1.RoleBinding, *rbacv1.ClusterRole, *rbacv1.ClusterRoleBinding:
		return func(string, bool) []string { return nil }
	default:
		return validation.NameIsDNSSubdomain
	}
}

// Validate returns the errors of an object.
func Validate(obj client.Object) field.ErrorList {
	spec := field.NewPath("spec")
	switch o := obj.(type) {
	case *appsv1.Deployment:
		return deployment(o, spec)
	case *appsv1.StatefulSet:
		return statefulSet(o, spec)
	case *appsv1.DaemonSet:
		return selectorOf(o.Spec.Selector, &o.Spec.Template, spec, "empty selector is invalid for daemonset")
	case *appsv1.ReplicaSet:
		errs := notNegative(o.Spec.Replicas, spec.Child("replicas"))
		return append(errs, selectorOf(o.Spec.Selector, &o.Spec.Template, spec, "empty selector is invalid for deployment")...)
	case *batchv1.Job:
		errs := append(job(&o.Spec, spec), selected(&o.Spec, spec)...)
		return append(errs, indexedName(o)...)
	case *batchv1.CronJob:
		return cronJob(o, spec)
	case *corev1.Pod:
		return podSpec(&o.Spec, spec)
	case *corev1.Service:
		return service(o, spec)
	case *corev1.ConfigMap:
		return configMap(o)
	case *corev1.Secret:
		return secret(o)
	case *policyv1.PodDisruptionBudget:
		return budget(o, spec)
	}
	return nil
}

// ValidateNew returns the errors of an object to be created, some of which the server accepts in an object that exists.
func ValidateNew(obj client.Object) field.ErrorList {
	switch o := obj.(type) {
	case *batchv1.Job:
		return append(jobLabels(o, field.NewPath("spec")), Validate(obj)...)
	case *batchv1.CronJob:
		return append(Validate(obj), cronJobName(o)...)
	}
	return Validate(obj)
}

// ValidateUpdate returns the errors of an object, and of its changes in immutable fields.
func ValidateUpdate(obj, old client.Object) field.ErrorList {
	spec := field.NewPath("spec")
	switch o := obj.(type) {
	case *appsv1.Deployment:
		return unchanged(o.Spec.Selector, old.(*appsv1.Deployment).Spec.Selector, spec.Child("selector"))
	case *appsv1.ReplicaSet:
		return unchanged(o.Spec.Selector, old.(*appsv1.ReplicaSet).Spec.Selector, spec.Child("selector"))
	case *appsv1.DaemonSet:
		return unchanged(o.Spec.Selector, old.(*appsv1.DaemonSet).Spec.Selector, spec.Child("selector"))
	case *appsv1.StatefulSet:
		return statefulSetUpdate(&o.Spec, &old.(*appsv1.StatefulSet).Spec, spec)
	case *batchv1.Job:
		return jobUpdate(o, old.(*batchv1.Job), spec)
	case *corev1.Pod:
		return podUpdate(&o.Spec, &old.(*corev1.Pod).Spec, spec)
	case *corev1.Service:
		return serviceUpdate(o, old.(*corev1.Service), spec)
	case *corev1.ConfigMap:
		return configMapUpdate(o, old.(*corev1.ConfigMap))
	case *corev1.Secret:
		return secretUpdate(o, old.(*corev1.Secret))
	case *corev1.PersistentVolumeClaim:
		return claimUpdate(o, old.(*corev1.PersistentVolumeClaim), spec)
	case *rbacv1.RoleBinding:
		return unchanged(o.RoleRef, old.(*rbacv1.RoleBinding).RoleRef, field.NewPath("roleRef"))
	case *rbacv1.ClusterRoleBinding:
		return unchanged(o.RoleRef, old.(*rbacv1.ClusterRoleBinding).RoleRef, field.NewPath("roleRef"))
	}
	return nil
}

func unchanged(now, before any, path *field.Path) field.ErrorList {
	return validation.ValidateImmutableField(now, before, path)
}

func same(a, b any) bool { return apiequality.Semantic.DeepEqual(a, b) }

func notNegative[T ~int32 | ~int64](value *T, path *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	return validation.ValidateNonnegativeField(int64(*value), path)
}

func isHeld(selector *metav1.LabelSelector) bool {
	return selector != nil && len(selector.MatchLabels)+len(selector.MatchExpressions) > 0
}
