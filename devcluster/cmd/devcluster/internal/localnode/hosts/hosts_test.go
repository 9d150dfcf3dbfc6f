package hosts

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func pod(namespace, uid, hostname, subdomain string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, UID: types.UID(uid)},
		Spec:       corev1.PodSpec{Hostname: hostname, Subdomain: subdomain},
	}
}

// lines are those of a namespace's pods.
func lines(t *testing.T, f *Files, namespace string) string {
	t.Helper()
	path, err := f.Path(namespace)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "127.0.0.1\tlocalhost\n")
	if !ok {
		t.Fatalf("no localhost in %s", text)
	}
	return after
}

func TestFiles(t *testing.T) {
	f := New(t.TempDir() + "/hosts")
	if got := lines(t, f, "empty"); got != "" {
		t.Errorf("got %q", got)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(f.Add(pod("a", "1", "w-0", "job"), "127.1.0.1"))
	must(f.Add(pod("a", "2", "w-1", "job"), "127.1.0.2"))
	must(f.Add(pod("b", "3", "w-0", "job"), "127.1.0.3"))
	must(f.Add(pod("a", "4", "w-2", ""), "127.1.0.4"))
	must(f.Add(pod("a", "5", "", "job"), "127.1.0.5"))
	want := "127.1.0.1\tw-0.job.a.svc.cluster.local\tw-0.job.a.svc\tw-0.job.a\tw-0.job\n" +
		"127.1.0.2\tw-1.job.a.svc.cluster.local\tw-1.job.a.svc\tw-1.job.a\tw-1.job\n"
	if got := lines(t, f, "a"); got != want {
		t.Errorf("got %q", got)
	}
	must(f.Add(pod("a", "6", "w-0", "job"), "127.1.0.6")) // its predecessor is not gone yet
	must(f.Remove(pod("a", "1", "w-0", "job")))
	must(f.Remove(pod("a", "2", "w-1", "job")))
	must(f.Remove(pod("a", "9", "w-9", "job")))
	if got := lines(t, f, "a"); !strings.HasPrefix(got, "127.1.0.6\tw-0.job.a.svc") || strings.Count(got, "\n") != 1 {
		t.Errorf("got %q", got)
	}
}
