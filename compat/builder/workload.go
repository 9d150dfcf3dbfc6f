package builder

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/compat/utils"
)

// labelOwner is the pod label by which a Deployment selects its pods. Its value is the owner's name.
const labelOwner = "custom_resource"

// BuilderDeploymentStatefulSet describes a desired Deployment or StatefulSet.
type BuilderDeploymentStatefulSet struct {
	Replicas int32
	// Labels are the labels of the pods. A StatefulSet selects its pods by them. A Deployment selects its pods by the label
	// custom_resource, the owner's name, which the Builder adds to the pods if Labels don't have it.
	Labels map[string]string
	// VolumeClaimTemplate are the claim templates of a StatefulSet.
	VolumeClaimTemplate []BuilderStorageConfig
	// ServiceName is the name of the Service that governs a StatefulSet.
	ServiceName string
	PodSpec     *corev1.PodSpec
	// Kind is Deployment or StatefulSet, in any capitalisation.
	Kind string
	CommonBuilder
}

// ToNewBuilderDeploymentStatefulSet sets the desired Deployments and StatefulSets. With an empty list none is desired.
func ToNewBuilderDeploymentStatefulSet(builder []BuilderDeploymentStatefulSet) func(*Builder) {
	return func(s *Builder) {
		s.DeploymentOrStatefulset = builder
		s.declare(kindDeployment, kindStatefulSet)
	}
}

func (s *Builder) desiredWorkloads() ([]desired, error) {
	hashes, err := utils.MakeConfigMapHash(s.ConfigHash)
	if err != nil {
		return nil, err
	}
	var objects []desired
	for i := range s.DeploymentOrStatefulset {
		item := s.DeploymentOrStatefulset[i] // a copy: it is completed
		w := s.desire(schema.GroupKind{}, nil, item.CommonBuilder)
		item.CommonBuilder = *w.common
		if item.PodSpec != nil {
			item.PodSpec = withHashes(item.PodSpec, hashes)
		}
		if w.kind, err = item.groupKind(); err != nil {
			return nil, err
		}
		if w.kind == kindDeployment {
			w.object, err = item.makeDeployment()
		} else {
			w.object, err = item.makeCompleteStatefulSet()
		}
		if err != nil {
			return nil, err
		}
		objects = append(objects, w)
	}
	return objects, nil
}

func (b *BuilderDeploymentStatefulSet) groupKind() (schema.GroupKind, error) {
	for _, kind := range []schema.GroupKind{kindDeployment, kindStatefulSet} {
		if strings.EqualFold(b.Kind, kind.Kind) {
			return kind, nil
		}
	}
	return schema.GroupKind{}, fmt.Errorf("%s has Kind %q; it must be Deployment or StatefulSet", b.nameForErrors(), b.Kind)
}

func (b *BuilderDeploymentStatefulSet) nameForErrors() string {
	return describe("workload", b.ObjectMeta.Namespace, b.ObjectMeta.Name)
}

// withHashes returns a copy of a pod's spec with an environment variable for each hash in every container. It keeps a variable that
// the operator has set itself.
func withHashes(spec *corev1.PodSpec, hashes []utils.HashHolder) *corev1.PodSpec {
	spec = spec.DeepCopy()
	for i := range spec.InitContainers {
		spec.InitContainers[i].Env = oneOfAName(spec.InitContainers[i].Env)
	}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		c.Env = oneOfAName(c.Env)
		for _, hash := range hashes {
			if placeOf(c.Env, hash.Name) < 0 {
				c.Env = append(c.Env, corev1.EnvVar{Name: hash.Name, Value: hash.HashVaule})
			}
		}
	}
	return spec
}

// oneOfAName gives the first variable of each name the value of the last one, which is the effective one in a container, and drops the
// others. The API server accepts a list with duplicate names in a create, but never in an apply.
func oneOfAName(env []corev1.EnvVar) []corev1.EnvVar {
	var kept []corev1.EnvVar
	for _, e := range env {
		if at := placeOf(kept, e.Name); at >= 0 {
			kept[at] = e
		} else {
			kept = append(kept, e)
		}
	}
	return kept
}

func placeOf(env []corev1.EnvVar, name string) int {
	return slices.IndexFunc(env, func(e corev1.EnvVar) bool { return e.Name == name })
}

func (b *BuilderDeploymentStatefulSet) makeDeployment() (*appsv1.Deployment, error) {
	if b.PodSpec == nil {
		return nil, fmt.Errorf("%s has no PodSpec", b.nameForErrors())
	}
	owner, err := b.owner()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.nameForErrors(), err)
	}
	selector := map[string]string{labelOwner: owner.GetName()}
	labels := maps.Clone(selector)
	maps.Copy(labels, b.Labels)
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: b.ObjectMeta,
		Spec: appsv1.DeploymentSpec{
			Replicas: &b.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: selector},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: *b.PodSpec},
		},
	}, nil
}

// MakeStatefulSet returns the desired StatefulSet, without its volume claim templates: those come from MakeVolumeClaimTemplates. It
// makes no request.
func (b *BuilderDeploymentStatefulSet) MakeStatefulSet() (*appsv1.StatefulSet, error) {
	if b.PodSpec == nil {
		return nil, fmt.Errorf("%s has no PodSpec", b.nameForErrors())
	}
	return &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: b.ObjectMeta,
		Spec: appsv1.StatefulSetSpec{
			Replicas:    &b.Replicas,
			Selector:    &metav1.LabelSelector{MatchLabels: b.Labels},
			ServiceName: b.ServiceName,
			Template:    corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: b.Labels}, Spec: *b.PodSpec},
		},
	}, nil
}

// MakeVolumeClaimTemplates returns the StatefulSet's volume claim templates. It returns none if one of them has no PvcSpec;
// ReconcileDeployOrSts then returns an error.
func (b *BuilderDeploymentStatefulSet) MakeVolumeClaimTemplates() []corev1.PersistentVolumeClaim {
	templates, err := b.volumeClaimTemplates()
	if err != nil {
		return []corev1.PersistentVolumeClaim{}
	}
	return templates
}

func (b *BuilderDeploymentStatefulSet) volumeClaimTemplates() ([]corev1.PersistentVolumeClaim, error) {
	var templates []corev1.PersistentVolumeClaim
	for i := range b.VolumeClaimTemplate {
		claim, err := b.VolumeClaimTemplate[i].MakePvc()
		if err != nil {
			return nil, fmt.Errorf("VolumeClaimTemplate of %s: %w", b.nameForErrors(), err)
		}
		templates = append(templates, *claim)
	}
	return templates, nil
}

func (b *BuilderDeploymentStatefulSet) makeCompleteStatefulSet() (*appsv1.StatefulSet, error) {
	sts, err := b.MakeStatefulSet()
	if err != nil {
		return nil, err
	}
	sts.Spec.VolumeClaimTemplates, err = b.volumeClaimTemplates()
	return sts, err
}
