package fluxjob

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		panic(err)
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	return scheme
}

// crds tell the fake server which kinds are in no namespace, and their defaults.
var crds = buildertest.WithCRDs("../../config/crd")

// makeSetup returns a setup that the manager of the tests has already.
func makeSetup(name string, change ...func(*v1alpha1.FluxSetupSpec)) *v1alpha1.FluxSetup {
	s := &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name + "-uid"), Generation: 1}}
	s.Status.Manager = &v1alpha1.FluxSetupManager{Name: admission.Manager{}.String()}
	for _, f := range change {
		f(&s.Spec)
	}
	return s
}

// clusters limits the number of MiniClusters.
func clusters(n int32) func(*v1alpha1.FluxSetupSpec) {
	return func(s *v1alpha1.FluxSetupSpec) { s.Quota.MiniClusters = &n }
}

// makeJob returns a job that was created so many seconds after the epoch.
func makeJob(name string, second int, change ...func(*v1alpha1.FluxJobSpec)) *v1alpha1.FluxJob {
	job := &v1alpha1.FluxJob{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID(name + "-uid"), Generation: 1,
			CreationTimestamp: metav1.NewTime(buildertest.Epoch.Add(time.Duration(second) * time.Second)),
		},
		Spec: v1alpha1.FluxJobSpec{Image: "busybox:1.28", Command: "true", Size: ptr.To[int32](2), Queue: "q"},
	}
	for _, f := range change {
		f(&job.Spec)
	}
	return job
}

func priority(n int32) func(*v1alpha1.FluxJobSpec) {
	return func(s *v1alpha1.FluxJobSpec) { s.Priority = &n }
}
