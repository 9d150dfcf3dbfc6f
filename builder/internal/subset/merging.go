package subset

import (
	"reflect"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/armature-dev/armature/builder/internal/payload"
)

// merging is how the API server merges what two writers say about a list or a map.
type merging struct {
	// key is the field by which the elements of a list are distinguished, or setKey. Empty: the list is one value.
	key string
	// ordered says that the order of a list's elements means something, though the list has keys.
	ordered bool
	// atomic says that a map is one value. Other maps are merged by key.
	atomic bool
	// whole says that lists and maps further down are one value as well: nobody else can have added to them. Defaults
	// may have been set in their structs all the same.
	whole bool
}

// inside is how what is in a value of one's own is merged.
func (m merging) inside(field merging) merging {
	if m.whole {
		return merging{atomic: true, whole: true}
	}
	return field
}

// setKey marks a list of scalars that the API server merges as a set.
const setKey = "*"

type fields map[string]merging

// untagged are the lists and maps that are merged otherwise than their Go tags say, and those whose order means something. The API
// server's schema knows how they are merged; a test compares this with it, for all stable kinds.
var untagged = map[reflect.Type]fields{
	reflect.TypeFor[corev1.PodSpec]():                                   {"NodeSelector": {atomic: true}, "InitContainers": {key: "name", ordered: true}},
	reflect.TypeFor[corev1.Container]():                                 {"Env": {key: "name", ordered: true}},
	reflect.TypeFor[admissionv1.MutatingWebhookConfiguration]():         {"Webhooks": {key: "name", ordered: true}},
	reflect.TypeFor[corev1.ServiceSpec]():                               {"Selector": {atomic: true}},
	reflect.TypeFor[corev1.ReplicationControllerSpec]():                 {"Selector": {atomic: true}},
	reflect.TypeFor[corev1.ResourceRequirements]():                      {"Claims": {key: "name"}},
	reflect.TypeFor[corev1.VolumeMount]():                               {"BindMountOptions": {key: setKey}},
	reflect.TypeFor[corev1.ContainerRestartRuleOnExitCodes]():           {"Values": {key: setKey}},
	reflect.TypeFor[corev1.NodePodPreemptionPolicy]():                   {"DisableResizePreemption": {key: setKey}},
	reflect.TypeFor[resourcev1.ResourceSliceSpec]():                     {"SkipNodeOperations": {key: setKey}},
	reflect.TypeFor[batchv1.PodFailurePolicyOnExitCodesRequirement]():   {"Values": {key: setKey}},
	reflect.TypeFor[nodev1.Scheduling]():                                {"NodeSelector": {atomic: true}},
	reflect.TypeFor[storagev1.CSIDriverSpec]():                          {"VolumeLifecycleModes": {key: setKey}},
	reflect.TypeFor[discoveryv1.Endpoint]():                             {"Addresses": {key: setKey}},
	reflect.TypeFor[admissionv1.ValidatingAdmissionPolicyBindingSpec](): {"ValidationActions": {key: setKey}},
	reflect.TypeFor[flowcontrolv1.NonResourcePolicyRule](): {
		"NonResourceURLs": {key: setKey}, "Verbs": {key: setKey},
	},
	reflect.TypeFor[flowcontrolv1.ResourcePolicyRule](): {
		"APIGroups": {key: setKey}, "Namespaces": {key: setKey}, "Resources": {key: setKey}, "Verbs": {key: setKey},
	},
}

// mergingOf says how a field is merged, mostly by Kubernetes' own field tags.
func mergingOf(t reflect.Type, field reflect.StructField) merging {
	if m, ok := untagged[t][field.Name]; ok {
		return m
	}
	if !strings.Contains(field.Tag.Get("patchStrategy"), "merge") {
		return merging{whole: field.Type.Kind() == reflect.Slice && payload.IsKubernetes(t)}
	}
	if key := field.Tag.Get("patchMergeKey"); key != "" {
		return merging{key: key}
	}
	return merging{key: setKey}
}
