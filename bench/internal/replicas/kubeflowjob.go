package replicas

import (
	commonv1 "github.com/kubeflow/common/pkg/apis/common/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kubeflowGroupVersion is that of a job kind written with kubeflow's library, and kubeflowKind the kind.
var (
	kubeflowGroupVersion = schema.GroupVersion{Group: "bench.armature.dev", Version: "v1"}
	kubeflowKind         = kubeflowGroupVersion.WithKind("KubeflowJob")
)

// addKubeflow lets a scheme know the kind.
func addKubeflow(scheme *runtime.Scheme) {
	scheme.AddKnownTypeWithName(kubeflowKind, &kubeflowJob{})
	scheme.AddKnownTypeWithName(kubeflowGroupVersion.WithKind(kubeflowKind.Kind+"List"), &kubeflowJobList{})
	metav1.AddToGroupVersion(scheme, kubeflowGroupVersion)
}

const worker commonv1.ReplicaType = "Worker"

// kubeflowJob is a job kind as one writes it with kubeflow's library.
type kubeflowJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              kubeflowSpec       `json:"spec"`
	Status            commonv1.JobStatus `json:"status,omitempty"`
}

type kubeflowSpec struct {
	ReplicaSpecs map[commonv1.ReplicaType]*commonv1.ReplicaSpec `json:"replicaSpecs"`
	RunPolicy    commonv1.RunPolicy                             `json:"runPolicy"`
}

func (j *kubeflowJob) DeepCopyObject() runtime.Object { return j.deepCopy() }

func (j *kubeflowJob) deepCopy() *kubeflowJob {
	c := &kubeflowJob{TypeMeta: j.TypeMeta, ObjectMeta: *j.ObjectMeta.DeepCopy(), Status: *j.Status.DeepCopy()}
	c.Spec.RunPolicy = *j.Spec.RunPolicy.DeepCopy()
	c.Spec.ReplicaSpecs = make(map[commonv1.ReplicaType]*commonv1.ReplicaSpec, len(j.Spec.ReplicaSpecs))
	for name, spec := range j.Spec.ReplicaSpecs {
		c.Spec.ReplicaSpecs[name] = spec.DeepCopy()
	}
	return c
}

type kubeflowJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []kubeflowJob `json:"items"`
}

func (l *kubeflowJobList) DeepCopyObject() runtime.Object {
	c := &kubeflowJobList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].deepCopy())
	}
	return c
}

// newKubeflowJob is a job of n workers, of which all must succeed, and whose pods all go in the end.
func newKubeflowJob(namespace string, n int) client.Object {
	return &kubeflowJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "job"},
		Spec: kubeflowSpec{
			ReplicaSpecs: map[commonv1.ReplicaType]*commonv1.ReplicaSpec{
				worker: {Replicas: new(int32(n)), Template: template(), RestartPolicy: commonv1.RestartPolicyNever},
			},
			RunPolicy: commonv1.RunPolicy{CleanPodPolicy: ptr.To(commonv1.CleanPodPolicyAll)},
		},
		Status: commonv1.JobStatus{Conditions: []commonv1.JobCondition{}},
	}
}

// kubeflowCRD is the kind's CustomResourceDefinition, without a schema: nothing is validated.
func kubeflowCRD() map[string]any {
	anything := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "kubeflowjobs." + kubeflowGroupVersion.Group},
		"spec": map[string]any{
			"group": kubeflowGroupVersion.Group, "scope": "Namespaced",
			"names": map[string]any{
				"kind": kubeflowKind.Kind, "listKind": kubeflowKind.Kind + "List", "plural": "kubeflowjobs", "singular": "kubeflowjob",
			},
			"versions": []any{map[string]any{
				"name": kubeflowGroupVersion.Version, "served": true, "storage": true,
				"schema":       map[string]any{"openAPIV3Schema": anything},
				"subresources": map[string]any{"status": map[string]any{}},
			}},
		},
	}
}
