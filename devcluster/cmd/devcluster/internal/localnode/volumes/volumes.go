package volumes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/podenv"
)

// Tokens issues service account tokens, from a cache while they are fresh.
type Tokens interface {
	GetServiceAccountToken(namespace, name string, tr *authenticationv1.TokenRequest) (*authenticationv1.TokenRequest, error)
}

// Sources is where the content of volumes comes from.
type Sources struct {
	Client      kubernetes.Interface
	Objects     podenv.Objects
	Tokens      Tokens
	Allocatable corev1.ResourceList
}

// UnsupportedError says that a volume is of a type that local nodes do not have.
// Waiting does not help.
type UnsupportedError struct{ Volume, Type string }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("volume %q is of type %s, which devcluster's local nodes do not support; supported are configMap, "+
		"downwardAPI, emptyDir, hostPath, projected, secret, and persistentVolumeClaim bound to a hostPath or local volume",
		e.Volume, e.Type)
}

// Set is the volumes of one pod.
type Set struct {
	dir string
	src Sources

	mu    sync.Mutex
	paths map[string]string
}

// New makes the set of a pod that keeps its volumes below dir.
func New(dir string, src Sources) *Set {
	return &Set{dir: dir, src: src, paths: map[string]string{}}
}

// Path is where a volume is; empty if it has not been set up.
func (s *Set) Path(volume string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paths[volume]
}

// Setup prepares all volumes of the pod. After an error it can be called again:
// what is done is done.
func (s *Set) Setup(ctx context.Context, pod *corev1.Pod) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if s.paths[v.Name] != "" {
			continue
		}
		path, err := s.setup(ctx, pod, v)
		if err != nil {
			if _, ok := errors.AsType[*UnsupportedError](err); ok {
				return err
			}
			errs = append(errs, fmt.Errorf("volume %q: %w", v.Name, err))
			continue
		}
		s.paths[v.Name] = path
	}
	return errors.Join(errs...)
}

// Refresh rewrites the volumes whose content comes from the API, where it changed.
func (s *Set) Refresh(ctx context.Context, pod *corev1.Pod) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if s.paths[v.Name] == "" || !hasContent(v) {
			continue
		}
		if err := s.write(ctx, pod, v, s.paths[v.Name]); err != nil {
			errs = append(errs, fmt.Errorf("volume %q: %w", v.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (s *Set) setup(ctx context.Context, pod *corev1.Pod, v *corev1.Volume) (string, error) {
	dir := filepath.Join(s.dir, v.Name)
	switch {
	case v.EmptyDir != nil:
		return dir, makeDir(dir, 0o777)
	case v.HostPath != nil:
		return v.HostPath.Path, hostPath(v.HostPath)
	case v.PersistentVolumeClaim != nil:
		return s.claim(ctx, pod, v.Name, v.PersistentVolumeClaim.ClaimName)
	case v.Ephemeral != nil:
		return s.claim(ctx, pod, v.Name, pod.Name+"-"+v.Name)
	case hasContent(v):
		if err := makeDir(dir, 0o755); err != nil {
			return "", err
		}
		return dir, s.write(ctx, pod, v, dir)
	}
	return "", &UnsupportedError{Volume: v.Name, Type: typeOf(v)}
}

// makeDir makes a directory with exactly these permissions, whatever the umask.
func makeDir(dir string, mode os.FileMode) error {
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	return os.Chmod(dir, mode)
}

// typeOf is the name of the volume's type in a manifest.
func typeOf(v *corev1.Volume) string {
	sources := reflect.ValueOf(v.VolumeSource)
	for i := range sources.NumField() {
		if !sources.Field(i).IsNil() {
			name, _, _ := strings.Cut(sources.Type().Field(i).Tag.Get("json"), ",")
			return name
		}
	}
	return "unknown"
}
