package builder

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/armature-dev/armature/compat/utils"
)

// BuilderConfigMap describes a desired ConfigMap.
type BuilderConfigMap struct {
	Data map[string]string
	CommonBuilder
}

// ToNewBuilderConfigMap sets the desired ConfigMaps. With an empty list none is desired.
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

// BuilderConfigMapHash is a ConfigMap, or a Secret, whose changed content rolls the pods. Releases of the original before v0.0.7 had
// it in this package.
type BuilderConfigMapHash = utils.ConfigMapHash

// HashHolder is the digest of the content of the objects of one name.
type HashHolder = utils.HashHolder

// ToNewBuilderConfigMapHash adds an environment variable for each of these objects to every container of the Builder's Deployments and
// StatefulSets. The variable's name is the object's name, its value the digest of the object's content. So a change of one object
// rolls all the pods. To roll only the pods that use a ConfigMap, set the variables with utils.MakeConfigMapHash.
func ToNewBuilderConfigMapHash(builder []BuilderConfigMapHash) func(*Builder) {
	return func(s *Builder) { s.ConfigHash = builder }
}

// ReconcileConfigMapHash returns the digests of the objects given to [ToNewBuilderConfigMapHash]. It makes no request. Calling it is
// optional, because [Builder.ReconcileDeployOrSts] computes the digests itself.
func (s *Builder) ReconcileConfigMapHash() ([]HashHolder, error) {
	return utils.MakeConfigMapHash(s.ConfigHash)
}
