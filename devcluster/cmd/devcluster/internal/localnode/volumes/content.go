package volumes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/kubernetes/pkg/volume/configmap"
	"k8s.io/kubernetes/pkg/volume/secret"
	volumeutil "k8s.io/kubernetes/pkg/volume/util"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/podenv"
)

type payload = map[string]volumeutil.FileProjection

// hasContent reports whether the volume's files are made from API objects.
func hasContent(v *corev1.Volume) bool {
	return v.ConfigMap != nil || v.Secret != nil || v.DownwardAPI != nil || v.Projected != nil
}

func (s *Set) write(ctx context.Context, pod *corev1.Pod, v *corev1.Volume, dir string) error {
	files, err := s.content(ctx, pod, v)
	if err != nil {
		return err
	}
	writer, err := volumeutil.NewAtomicWriter(dir, fmt.Sprintf("pod %s/%s volume %s", pod.Namespace, pod.Name, v.Name))
	if err != nil {
		return err
	}
	return writer.Write(files, nil)
}

func (s *Set) content(ctx context.Context, pod *corev1.Pod, v *corev1.Volume) (payload, error) {
	switch {
	case v.ConfigMap != nil:
		c := v.ConfigMap
		return s.configMap(ctx, pod, c.Name, c.Items, mode(c.DefaultMode), isTrue(c.Optional))
	case v.Secret != nil:
		c := v.Secret
		return s.secret(ctx, pod, c.SecretName, c.Items, mode(c.DefaultMode), isTrue(c.Optional))
	case v.DownwardAPI != nil:
		return s.downwardAPI(pod, v.DownwardAPI.Items, mode(v.DownwardAPI.DefaultMode))
	}
	files := payload{}
	var errs []error
	for i := range v.Projected.Sources {
		part, err := s.projection(ctx, pod, v, &v.Projected.Sources[i])
		if err != nil {
			errs = append(errs, err)
		}
		maps.Copy(files, part)
	}
	return files, errors.Join(errs...)
}

func (s *Set) projection(ctx context.Context, pod *corev1.Pod, v *corev1.Volume, source *corev1.VolumeProjection) (payload, error) {
	defaultMode := mode(v.Projected.DefaultMode)
	switch {
	case source.ConfigMap != nil:
		c := source.ConfigMap
		return s.configMap(ctx, pod, c.Name, c.Items, defaultMode, isTrue(c.Optional))
	case source.Secret != nil:
		c := source.Secret
		return s.secret(ctx, pod, c.Name, c.Items, defaultMode, isTrue(c.Optional))
	case source.DownwardAPI != nil:
		return s.downwardAPI(pod, source.DownwardAPI.Items, defaultMode)
	case source.ServiceAccountToken != nil:
		return s.token(pod, source.ServiceAccountToken, defaultMode)
	}
	return nil, &UnsupportedError{Volume: v.Name, Type: "projected with a clusterTrustBundle or podCertificate source"}
}

func (s *Set) configMap(
	ctx context.Context, pod *corev1.Pod, name string, items []corev1.KeyToPath, mode int32, optional bool,
) (payload, error) {
	object, err := s.src.Objects.ConfigMap(ctx, pod.Namespace, name)
	if err != nil {
		if !optional || !apierrors.IsNotFound(err) {
			return nil, err
		}
		object = &corev1.ConfigMap{}
	}
	return configmap.MakePayload(items, object, &mode, nil, optional)
}

func (s *Set) secret(
	ctx context.Context, pod *corev1.Pod, name string, items []corev1.KeyToPath, mode int32, optional bool,
) (payload, error) {
	object, err := s.src.Objects.Secret(ctx, pod.Namespace, name)
	if err != nil {
		if !optional || !apierrors.IsNotFound(err) {
			return nil, err
		}
		object = &corev1.Secret{}
	}
	return secret.MakePayload(items, object, &mode, nil, optional)
}

func (s *Set) downwardAPI(pod *corev1.Pod, items []corev1.DownwardAPIVolumeFile, defaultMode int32) (payload, error) {
	files := payload{}
	for _, item := range items {
		var value string
		var err error
		switch {
		case item.FieldRef != nil:
			value, err = podenv.Field(pod, item.FieldRef)
		case item.ResourceFieldRef != nil:
			value, err = podenv.Resource(pod, item.ResourceFieldRef, "", s.src.Allocatable)
		}
		if err != nil {
			return nil, fmt.Errorf("downwardAPI file %q: %w", item.Path, err)
		}
		file := volumeutil.FileProjection{Data: []byte(value), Mode: defaultMode}
		if item.Mode != nil {
			file.Mode = *item.Mode
		}
		files[filepath.Clean(item.Path)] = file
	}
	return files, nil
}

func (s *Set) token(pod *corev1.Pod, source *corev1.ServiceAccountTokenProjection, mode int32) (payload, error) {
	var audiences []string
	if source.Audience != "" {
		audiences = []string{source.Audience}
	}
	token, err := s.src.Tokens.GetServiceAccountToken(pod.Namespace, pod.Spec.ServiceAccountName, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{
			Audiences:         audiences,
			ExpirationSeconds: source.ExpirationSeconds,
			BoundObjectRef: &authenticationv1.BoundObjectReference{
				APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID,
			},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("token of service account %q: %w", pod.Spec.ServiceAccountName, err)
	}
	return payload{source.Path: {Data: []byte(token.Status.Token), Mode: mode}}, nil
}

// mode is the API's default for an object that did not pass its defaulting.
func mode(m *int32) int32 {
	if m == nil {
		return 0o644
	}
	return *m
}

func isTrue(b *bool) bool { return b != nil && *b }
