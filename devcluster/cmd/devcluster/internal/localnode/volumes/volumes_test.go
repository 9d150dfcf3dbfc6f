package volumes

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/podenv"
)

type tokens struct {
	issued *authenticationv1.TokenRequest
}

func (t *tokens) GetServiceAccountToken(_, name string, tr *authenticationv1.TokenRequest) (*authenticationv1.TokenRequest, error) {
	t.issued = tr.DeepCopy()
	tr.Status.Token = "token-of-" + name
	return tr, nil
}

func set(t *testing.T, objects ...runtime.Object) (*Set, *fake.Clientset, *tokens) {
	t.Helper()
	client := fake.NewClientset(objects...)
	tk := &tokens{}
	return New(t.TempDir(), Sources{Client: client, Objects: podenv.Live{Client: client}, Tokens: tk}), client, tk
}

func podWith(source corev1.VolumeSource) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "u", Labels: map[string]string{"l": "1"}},
		Spec:       corev1.PodSpec{ServiceAccountName: "sa", Volumes: []corev1.Volume{{Name: "v", VolumeSource: source}}},
	}
}

func configMap(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "cm"}, Data: data}
}

func read(t *testing.T, elem ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestConfigMapIsReplacedAtOnce(t *testing.T) {
	s, client, _ := set(t, configMap(map[string]string{"a": "1", "b": "1"}))
	pod := podWith(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}})
	if err := s.Setup(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	dir := s.Path("v")
	before, _ := os.Readlink(filepath.Join(dir, "..data"))
	if _, err := client.CoreV1().ConfigMaps("ns").Update(t.Context(), configMap(map[string]string{"a": "2", "c": "2"}), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Refresh(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Readlink(filepath.Join(dir, "..data")); after == before {
		t.Error("the files were not replaced together: ..data is still " + before)
	}
	if a, c := read(t, dir, "a"), read(t, dir, "c"); a != "2" || c != "2" {
		t.Errorf("a is %q, c is %q, want 2", a, c)
	}
	if _, err := os.Lstat(filepath.Join(dir, "b")); !os.IsNotExist(err) {
		t.Errorf("b is still there (%v)", err)
	}
}

func TestSecretItems(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"}, Data: map[string][]byte{"a": []byte("x"), "b": []byte("y")}}
	s, _, _ := set(t, secret)
	pod := podWith(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: "s", DefaultMode: ptr.To[int32](0o440),
		Items: []corev1.KeyToPath{{Key: "a", Path: "deep/a"}, {Key: "b", Path: "b", Mode: ptr.To[int32](0o400)}},
	}})
	if err := s.Setup(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{"deep/a": 0o440, "b": 0o400} {
		info, err := os.Stat(filepath.Join(s.Path("v"), path))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v, want mode %o", path, info, err, mode)
		}
	}
}

func TestProjected(t *testing.T) {
	s, _, tk := set(t, configMap(map[string]string{"a": "1"}))
	pod := podWith(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}},
		{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "none"}, Optional: new(true)}},
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}},
		}}},
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", Audience: "aud", ExpirationSeconds: ptr.To[int64](600)}},
	}}})
	if !UsesTokens(pod) || !UsesConfigMap(pod, "cm") || !UsesSecret(pod, "none") || UsesConfigMap(pod, "none") {
		t.Error("the references of the pod are wrong")
	}
	if err := s.Setup(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"a": "1", "labels": `l="1"`, "token": "token-of-sa"} {
		if got := read(t, s.Path("v"), path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if ref := tk.issued.Spec.BoundObjectRef; ref == nil || ref.UID != "u" || tk.issued.Spec.Audiences[0] != "aud" {
		t.Errorf("requested %+v", tk.issued.Spec)
	}
}

func TestMissingObjectIsRetried(t *testing.T) {
	s, client, _ := set(t)
	pod := podWith(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}})
	if err := s.Setup(t.Context(), pod); err == nil || !strings.Contains(err.Error(), `volume "v"`) || s.Path("v") != "" {
		t.Fatalf("error is %v, path %q", err, s.Path("v"))
	}
	if _, err := client.CoreV1().ConfigMaps("ns").Create(t.Context(), configMap(nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Setup(t.Context(), pod); err != nil || s.Path("v") == "" {
		t.Fatalf("error is %v, path %q", err, s.Path("v"))
	}
}

func TestHostPath(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		kind corev1.HostPathType
		ok   bool
	}{
		{dir, corev1.HostPathDirectory, true},
		{file, corev1.HostPathDirectory, false},
		{file, corev1.HostPathFile, true},
		{dir, corev1.HostPathFile, false},
		{filepath.Join(dir, "none"), corev1.HostPathDirectory, false},
		{filepath.Join(dir, "none"), corev1.HostPathFile, false},
		{filepath.Join(dir, "made", "dir"), corev1.HostPathDirectoryOrCreate, true},
		{filepath.Join(dir, "made", "file"), corev1.HostPathFileOrCreate, true},
		{filepath.Join(dir, "any"), corev1.HostPathUnset, true},
		{file, corev1.HostPathSocket, false},
		{"/dev/null", corev1.HostPathCharDev, true},
		{"/dev/null", corev1.HostPathBlockDev, false},
	} {
		s, _, _ := set(t)
		err := s.Setup(t.Context(), podWith(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: c.path, Type: &c.kind}}))
		if (err == nil) != c.ok {
			t.Errorf("%s as %q: %v", c.path, c.kind, err)
		}
	}
}

func TestClaim(t *testing.T) {
	dir := t.TempDir()
	claim := func(volume string, phase corev1.PersistentVolumeClaimPhase) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "claim"},
			Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: volume}, Status: corev1.PersistentVolumeClaimStatus{Phase: phase},
		}
	}
	volume := func(name string, source corev1.PersistentVolumeSource) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: source}}
	}
	local := volume("local", corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: dir}})
	nfs := volume("nfs", corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{}})
	for _, c := range []struct {
		name    string
		objects []runtime.Object
		path    string
		err     string
	}{
		{"bound", []runtime.Object{claim("local", corev1.ClaimBound), local}, dir, ""},
		{"not bound", []runtime.Object{claim("", corev1.ClaimPending)}, "", `"claim" is not bound`},
		{"missing", nil, "", `"claim" not found`},
		{"unsupported", []runtime.Object{claim("nfs", corev1.ClaimBound), nfs}, "", `persistent volume "nfs"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _, _ := set(t, c.objects...)
			err := s.Setup(t.Context(), podWith(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "claim"}}))
			if s.Path("v") != c.path || (c.err == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), c.err)) {
				t.Errorf("path %q, error %v", s.Path("v"), err)
			}
		})
	}
}

func TestUnsupported(t *testing.T) {
	s, _, _ := set(t)
	err := s.Setup(t.Context(), podWith(corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}))
	var unsupported *UnsupportedError
	if !errors.As(err, &unsupported) || unsupported.Volume != "v" || unsupported.Type != "nfs" {
		t.Errorf("error is %v", err)
	}
}
