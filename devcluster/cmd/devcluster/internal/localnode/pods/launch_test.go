package pods

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func emptyDir(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
}

func TestContainerPaths(t *testing.T) {
	b := newBench(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "cm"}, Data: map[string]string{"k": "value"}})
	host := t.TempDir()
	if err := os.WriteFile(filepath.Join(host, "f"), []byte("host"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := b.sh("main", strings.Join([]string{
		`set -e`,
		`test "$(cat /etc/cfg/k)" = value`, // rewritten
		`test "$(cat $DEVCLUSTER_ROOT/etc/cfg/k)" = value`,          // through the root directory
		`echo x > /data/in; test -s $DEVCLUSTER_ROOT/data/in`,       // the same volume
		`test -e "$DATA_FILE"`,                                      // rewritten in the environment
		`test "$(find /data -name in)" = "$DATA_FILE"`,              // a directory, not a link to one
		`echo y > /data/nested/f; test -s /only/f`,                  // a mount inside a mount
		`test "$(cat /one)" = host`,                                 // a file
		`test "$(pwd -P)" = "$(cd $DEVCLUSTER_ROOT/srv/x; pwd -P)"`, // workingDir
		`test "$HOME" = "$DEVCLUSTER_ROOT"; test -d "$TMPDIR"`,
		`test "$HOSTNAME" = p; test "$KUBERNETES_SERVICE_PORT" = 6443; test -z "$SECRET_OF_THE_NODE"`,
		`test -z "$KUBECONFIG"`,
		`grep -q localhost /etc/hosts; grep -q localhost $DEVCLUSTER_ROOT/etc/hosts; test "${HOSTS##*/}" = ns`,
		`echo message > $TERMINATION_LOG`,
	}, "\n"))
	c.WorkingDir = "/srv/x"
	c.Env = append(c.Env, corev1.EnvVar{Name: "DATA_FILE", Value: "/data/in"}, corev1.EnvVar{Name: "HOSTS", Value: "/etc/hosts"})
	c.VolumeMounts = []corev1.VolumeMount{
		{Name: "cfg", MountPath: "/etc/cfg"}, {Name: "data", MountPath: "/data"},
		{Name: "nested", MountPath: "/data/nested"}, {Name: "nested", MountPath: "/only"},
		{Name: "host", MountPath: "/one", SubPath: "f"},
	}
	pod := makePod(corev1.RestartPolicyNever, c)
	pod.Spec.Volumes = []corev1.Volume{
		emptyDir("data"), emptyDir("nested"),
		{Name: "cfg", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}}},
		{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: host}}},
	}
	t.Setenv("SECRET_OF_THE_NODE", "x")
	r := b.run(pod)
	s := r.finish()
	if end := s.ContainerStatuses[0].State.Terminated; s.Phase != corev1.PodSucceeded || end.Message != "message\n" {
		t.Errorf("%+v, log:\n%s", end, r.log("main", corev1.PodLogOptions{}))
	}
}

func TestKubeconfigForContainersWithAToken(t *testing.T) {
	b := newBench(t)
	c := b.sh("main", `cat $KUBECONFIG`)
	c.VolumeMounts = []corev1.VolumeMount{{Name: "account", MountPath: accountDir}}
	pod := makePod(corev1.RestartPolicyNever, c)
	pod.Spec.Volumes = []corev1.Volume{emptyDir("account")}
	r := b.run(pod)
	r.finish()
	config := r.log("main", corev1.PodLogOptions{})
	for _, want := range []string{"server: https://127.0.0.1:6443", "namespace: ns", accountDir + "/token"} {
		if !strings.Contains(config, want) {
			t.Errorf("the kubeconfig has no %q:\n%s", want, config)
		}
	}
}

func TestARestartedContainerHasANewRoot(t *testing.T) {
	b := newBench(t)
	c := b.sh("main", `test ! -e $DEVCLUSTER_ROOT/left || exit 0; touch $DEVCLUSTER_ROOT/left /keep/it; echo x >> $OUT/runs; test $(wc -l < $OUT/runs) -ge 2 || exit 1`)
	c.VolumeMounts = []corev1.VolumeMount{{Name: "keep", MountPath: "/keep"}}
	pod := makePod(corev1.RestartPolicyOnFailure, c)
	pod.Spec.Volumes = []corev1.Volume{emptyDir("keep")}
	r := b.run(pod)
	if s := r.finish(); s.Phase != corev1.PodSucceeded || b.file("runs") != "x\nx\n" {
		t.Errorf("phase %s, runs %q", s.Phase, b.file("runs"))
	}
	if _, err := os.Stat(filepath.Join(r.volumes.Path("keep"), "it")); err != nil {
		t.Errorf("the volume was emptied: %v", err)
	}
}
