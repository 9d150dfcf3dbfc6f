package family

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// below are the kinds that objects of a kind own. A test holds those of Armature to what the operators may create.
var below = map[schema.GroupKind][]schema.GroupKind{
	ours("JobFlow"):     {batch("Job")},
	ours("DaemonJob"):   {batch("Job")},
	ours("FluxJob"):     {ours("MiniCluster")},
	ours("MiniCluster"): {batch("Job"), core("ConfigMap"), core("Secret"), core("Service"), apps("Deployment")},
	ours("ReplicaJob"): {
		core("Pod"), core("Service"), {Group: "policy", Kind: "PodDisruptionBudget"}, {Group: "scheduling.k8s.io", Kind: "PodGroup"},
		{Group: "scheduling.volcano.sh", Kind: "PodGroup"}, {Group: "scheduling.x-k8s.io", Kind: "PodGroup"},
	},
	ours("FluxSetup"):   nil,
	ours("JobTemplate"): nil,

	batch("CronJob"):              {batch("Job")},
	batch("Job"):                  {core("Pod")},
	apps("Deployment"):            {apps("ReplicaSet")},
	apps("ReplicaSet"):            {core("Pod")},
	apps("StatefulSet"):           {core("Pod"), core("PersistentVolumeClaim"), apps("ControllerRevision")},
	apps("DaemonSet"):             {core("Pod"), apps("ControllerRevision")},
	core("ReplicationController"): {core("Pod")},
	core("Pod"):                   {core("PersistentVolumeClaim")},
	core("Service"):               {{Group: "discovery.k8s.io", Kind: "EndpointSlice"}},

	{Group: "scheduling.volcano.sh", Kind: "PodGroup"}: nil,
	{Group: "scheduling.x-k8s.io", Kind: "PodGroup"}:   nil,
}

// stateless are kinds that have no state, so that no problem is theirs. Their contents can be secret or large: only their metadata is
// read, and only to show them.
var stateless = map[schema.GroupKind]bool{core("Secret"): true, core("ConfigMap"): true, apps("ControllerRevision"): true}

// canHaveProblem reports whether an object of a kind can have a problem: those of Kubernetes that run nothing, own nothing and claim no
// volume, such as Leases and RoleBindings, have none.
func canHaveProblem(kind schema.GroupKind) bool {
	_, isOwner := below[kind]
	return isOwner || kind == core("PersistentVolumeClaim") || !isOfKubernetes(kind)
}

// groupCanHaveProblem reports whether a kind of a group may be one that can: the other groups of Kubernetes, such as that of metrics, have
// none.
func groupCanHaveProblem(group string) bool {
	for kind := range below {
		if kind.Group == group {
			return true
		}
	}
	return !isOfKubernetes(schema.GroupKind{Group: group})
}

// isGang reports whether a ReplicaJob asks for gang scheduling, without which it has no PodGroup.
func isGang(m *Member) bool {
	_, found, err := unstructured.NestedFieldNoCopy(m.Object, "spec", "runPolicy", "schedulingPolicy")
	return found && err == nil
}

func ours(kind string) schema.GroupKind {
	return schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: kind}
}
func batch(kind string) schema.GroupKind { return schema.GroupKind{Group: "batch", Kind: kind} }
func apps(kind string) schema.GroupKind  { return schema.GroupKind{Group: "apps", Kind: kind} }
func core(kind string) schema.GroupKind  { return schema.GroupKind{Kind: kind} }

// kindsBelow returns the kinds that objects of a kind own, or that this isn't known: it is a custom resource of someone else.
func kindsBelow(kind schema.GroupKind) (kinds []schema.GroupKind, known bool) {
	if kinds, known = below[kind]; known {
		return kinds, true
	}
	return nil, isOfKubernetes(kind)
}

// isOfKubernetes reports whether a kind is one of Kubernetes, by its group.
func isOfKubernetes(kind schema.GroupKind) bool {
	return !strings.Contains(kind.Group, ".") || strings.HasSuffix(kind.Group, ".k8s.io")
}
