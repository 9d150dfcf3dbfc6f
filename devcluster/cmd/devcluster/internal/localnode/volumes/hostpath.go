package volumes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hostPath checks the path for the volume's type, and makes what the type says is
// made. A path without a type is made as a directory if there is nothing, as
// container runtimes do.
func hostPath(v *corev1.HostPathVolumeSource) error {
	kind := corev1.HostPathUnset
	if v.Type != nil {
		kind = *v.Type
	}
	switch kind {
	case corev1.HostPathUnset:
		if _, err := os.Stat(v.Path); os.IsNotExist(err) {
			return os.MkdirAll(v.Path, 0o755)
		}
		return nil
	case corev1.HostPathDirectoryOrCreate:
		if _, err := os.Stat(v.Path); os.IsNotExist(err) {
			if err := os.MkdirAll(v.Path, 0o755); err != nil {
				return err
			}
		}
	case corev1.HostPathFileOrCreate:
		if err := os.MkdirAll(filepath.Dir(v.Path), 0o755); err != nil {
			return err
		}
		file, err := os.OpenFile(v.Path, os.O_CREATE|os.O_RDONLY, 0o644)
		if err != nil {
			return err
		}
		file.Close()
	}
	info, err := os.Stat(v.Path)
	if err != nil {
		return fmt.Errorf("hostPath of type %s: %w", kind, err)
	}
	if m := info.Mode(); !isOfType(m, kind) {
		return fmt.Errorf("hostPath %s is not of type %s: its mode is %s", v.Path, kind, m)
	}
	return nil
}

func isOfType(m os.FileMode, kind corev1.HostPathType) bool {
	switch kind {
	case corev1.HostPathDirectory, corev1.HostPathDirectoryOrCreate:
		return m.IsDir()
	case corev1.HostPathFile, corev1.HostPathFileOrCreate:
		return m.IsRegular()
	case corev1.HostPathSocket:
		return m&os.ModeSocket != 0
	case corev1.HostPathCharDev:
		return m&os.ModeCharDevice != 0
	case corev1.HostPathBlockDev:
		return m&os.ModeDevice != 0 && m&os.ModeCharDevice == 0
	}
	return false
}

// claim finds the path behind a persistent volume claim.
func (s *Set) claim(ctx context.Context, pod *corev1.Pod, volume, name string) (string, error) {
	pvc, err := s.src.Client.CoreV1().PersistentVolumeClaims(pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if pvc.Status.Phase != corev1.ClaimBound || pvc.Spec.VolumeName == "" {
		return "", fmt.Errorf("persistentvolumeclaim %q is not bound", name)
	}
	pv, err := s.src.Client.CoreV1().PersistentVolumes().Get(ctx, pvc.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	switch {
	case pv.Spec.HostPath != nil:
		return pv.Spec.HostPath.Path, hostPath(pv.Spec.HostPath)
	case pv.Spec.Local != nil:
		if _, err := os.Stat(pv.Spec.Local.Path); err != nil {
			return "", err
		}
		return pv.Spec.Local.Path, nil
	}
	return "", &UnsupportedError{Volume: volume, Type: fmt.Sprintf("persistentVolumeClaim bound to persistent volume %q", pv.Name)}
}
