package builder

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/armature-dev/armature/compat/utils"
)

// BuilderConfigMap asks for a ConfigMap.
type BuilderConfigMap struct {
	Data map[string]string
	CommonBuilder
}

// ToNewBuilderConfigMap sets the ConfigMaps that there should be: none, if the list is empty.
func ToNewBuilderConfigMap(builder []BuilderConfigMap) func(*Builder) {
	return func(s *Builder) {
		s.ConfigMaps = builder
		s.declare(kindConfigMap)
	}
}

// ReconcileConfigMap applies the desired ConfigMaps.
func (s *Builder) ReconcileConfigMap() (controllerutil.OperationResult, error) {
	return s.run("ConfigMap", s.desiredConfigMaps(), nil)
}

func (s *Builder) desiredConfigMaps() []desired {
	var objects []desired
	for i := range s.ConfigMaps {
		item := &s.ConfigMaps[i]
		objects = append(objects, s.desire(kindConfigMap, item.makeConfigMap(), item.CommonBuilder))
	}
	return objects
}

func (b *BuilderConfigMap) makeConfigMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: b.ObjectMeta,
		Data:       b.Data,
	}
}

// BuilderConfigMapHash is a ConfigMap, or a Secret, whose content rolls the pods. The releases of the original before
// v0.0.7 had it here.
type BuilderConfigMapHash = utils.ConfigMapHash

// HashHolder is the digest of what the objects of one name hold.
type HashHolder = utils.HashHolder

// ToNewBuilderConfigMapHash makes every container of the Builder's Deployments and StatefulSets get an environment
// variable for each of these objects, with the object's name as its name and the digest of its content as its value. So
// a change of one of them rolls all the pods. To roll only the pods that use a ConfigMap, set the variables with
// utils.MakeConfigMapHash.
func ToNewBuilderConfigMapHash(builder []BuilderConfigMapHash) func(*Builder) {
	return func(s *Builder) { s.ConfigHash = builder }
}

// ReconcileConfigMapHash returns the digests of the objects given to [ToNewBuilderConfigMapHash]. It makes no request,
// and need not be called: [Builder.ReconcileDeployOrSts] computes them itself.
func (s *Builder) ReconcileConfigMapHash() ([]HashHolder, error) {
	return utils.MakeConfigMapHash(s.ConfigHash)
}
