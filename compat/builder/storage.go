package builder

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// BuilderStorageConfig describes a desired PersistentVolumeClaim, or the template of one in a StatefulSet.
type BuilderStorageConfig struct {
	PvcSpec *corev1.PersistentVolumeClaimSpec
	CommonBuilder
}

// ToNewBuilderStorageConfig sets the desired PersistentVolumeClaims. A claim that is no longer desired stays, with its data, until the
// owner is deleted.
func ToNewBuilderStorageConfig(builder []BuilderStorageConfig) func(*Builder) {
	return func(s *Builder) { s.StorageConfig = builder }
}

// ReconcileStorage applies the desired PersistentVolumeClaims.
func (s *Builder) ReconcileStorage() (controllerutil.OperationResult, error) {
	objects, err := s.desiredClaims()
	return s.run("Storage", objects, err)
}

func (s *Builder) desiredClaims() ([]desired, error) {
	var objects []desired
	for i := range s.StorageConfig {
		item := &s.StorageConfig[i]
		claim, err := item.MakePvc()
		if err != nil {
			return nil, err
		}
		objects = append(objects, s.desire(kindClaim, claim, item.CommonBuilder))
	}
	return objects, nil
}

// MakePvc returns the desired PersistentVolumeClaim. It makes no request.
func (b *BuilderStorageConfig) MakePvc() (*corev1.PersistentVolumeClaim, error) {
	if b.PvcSpec == nil {
		return nil, fmt.Errorf("%s has no PvcSpec", describe("PersistentVolumeClaim", b.ObjectMeta.Namespace, b.ObjectMeta.Name))
	}
	return &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: b.ObjectMeta,
		Spec:       *b.PvcSpec,
	}, nil
}
