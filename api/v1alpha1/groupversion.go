package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the group and version of this package's kinds.
	GroupVersion = schema.GroupVersion{Group: "api.practice.com", Version: "v1alpha1"}

	// SchemeBuilder collects what adds this package's kinds to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds this package's kinds to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&DaemonJob{}, &DaemonJobList{},
		&FluxJob{}, &FluxJobList{},
		&FluxSetup{}, &FluxSetupList{},
		&JobFlow{}, &JobFlowList{},
		&JobTemplate{}, &JobTemplateList{},
		&MiniCluster{}, &MiniClusterList{},
		&ReplicaJob{}, &ReplicaJobList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
