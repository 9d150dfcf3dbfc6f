//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// An operator of one's own, in a container: its app is reached by the name of its Service, what is changed or deleted comes
// back, and nothing is left of an app that is deleted.
func TestExampleOperatorOfOnesOwn(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.operate("webapp", "webapp:e2e")
	s.applyWith("webapp/sample.yaml", "image: webapp", "image: webapp:e2e")
	s.await("Ready", "webapp/hello")

	ask := s.asker()
	answered := map[string]bool{}
	s.eventually("both servers to answer by the Service's name", func() error {
		answer := ask("hello." + s.name + ".svc.cluster.local")
		if greeting, server, ok := strings.Cut(answer, " from "); ok && greeting == "Hello" {
			answered[server] = true
		}
		if len(answered) < 2 {
			return fmt.Errorf("%v; the last answer: %s", answered, answer)
		}
		return nil
	})

	s.kubectl("patch", "deployment/hello", "--type=merge", "--patch", `{"spec":{"replicas":3}}`)
	s.is("deployment/hello", "{.spec.replicas}", "2")
	before := s.kubectl("get", "service/hello", "--output=jsonpath={.metadata.uid}")
	s.kubectl("delete", "service/hello")
	s.eventually("the Service to come back", func() error {
		uid, err := kubectl("get", "service/hello", "--namespace", s.name, "--output=jsonpath={.metadata.uid}")
		if err == nil && uid == before {
			err = fmt.Errorf("it is still the old one")
		}
		return err
	})

	s.kubectl("get", "poddisruptionbudget/hello")
	s.kubectl("patch", "webapp/hello", "--type=merge", "--patch", `{"spec":{"replicas":1,"greeting":"Ahoy"}}`)
	s.kubectl("wait", "--for=delete", "poddisruptionbudget/hello", "--timeout=300s")
	s.is("deployment/hello", "{.status.replicas}", "1")
	s.eventually("the new greeting", func() error { // a kubelet brings it into the pod within a minute or two
		if answer := ask("hello"); !strings.HasPrefix(answer, "Ahoy from ") {
			return fmt.Errorf("it says %s", answer)
		}
		return nil
	})

	s.kubectl("delete", "webapp/hello", "--cascade=foreground", "--timeout=300s")
	s.eventually("all that it had to be gone", func() error {
		left, err := kubectl("get", "deployments,services,configmaps,poddisruptionbudgets,pods", "--namespace", s.name,
			"--selector=app.kubernetes.io/instance=hello", "--output=name")
		if err == nil && left != "" {
			err = fmt.Errorf("there is still %s", left)
		}
		return err
	})
}

// asker starts a pod from which to ask web servers, and returns how.
func (s *space) asker() func(host string) string {
	s.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "asker"}, Spec: shell("sleep 3600").Spec}
	pod.Spec.TerminationGracePeriodSeconds = ptr.To[int64](0)
	require.NoError(s, cluster.Create(s.Context(), pod))
	s.await("Ready", "pod/asker")
	return func(host string) string {
		out, err := kubectl("exec", "--namespace", s.name, "asker", "--", "wget", "-q", "-O", "-", "http://"+host+"/")
		if err != nil {
			return err.Error()
		}
		return strings.TrimSpace(out)
	}
}

// The tutorial's operator: what is wanted no more is pruned, and drift is put back.
func TestExampleOperatorOfTheTutorial(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.operate("tutorial", "tutorial:e2e")
	s.apply("tutorial/sample.yaml")
	s.await("Ready", "backup/nightly")
	s.kubectl("get", "configmap/nightly")
	s.kubectl("patch", "cronjob/nightly", "--type=merge", "--patch", `{"spec":{"schedule":"0 0 * * *"}}`)
	s.is("cronjob/nightly", "{.spec.schedule}", "30 2 * * *")
	s.kubectl("patch", "backup/nightly", "--type=merge", "--patch", `{"spec":{"script":null}}`)
	s.kubectl("wait", "--for=delete", "configmap/nightly", "--timeout=300s")
	s.kubectl("delete", "backup/nightly", "--cascade=foreground", "--timeout=300s")
	s.kubectl("wait", "--for=delete", "cronjob/nightly", "--timeout=300s")
}

// kubectl runs a command in the namespace, which must succeed, and returns what it prints.
func (s *space) kubectl(args ...string) string {
	s.Helper()
	out, err := kubectl(append(args, "--namespace", s.name)...)
	require.NoError(s, err)
	return strings.TrimSpace(out)
}

// is waits until a field of an object has a value.
func (s *space) is(object, field, want string) {
	s.Helper()
	s.eventually(object+" to have "+field+"="+want, func() error {
		got, err := kubectl("get", object, "--namespace", s.name, "--output=jsonpath="+field)
		if err == nil && got != want {
			err = fmt.Errorf("it is %q", got)
		}
		return err
	})
}
