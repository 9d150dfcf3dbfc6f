package localnode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"
)

func TestNodeRegistersAndRunsPods(t *testing.T) {
	c := newCluster(t)
	c.create(makePod("p", "1", "echo hello"))
	c.until("pod succeeds", func() bool { return c.phase("p") == corev1.PodSucceeded })
	if got := c.logged("p"); got != "hello\n" {
		t.Errorf("log is %q", got)
	}
	var node *corev1.Node
	c.until("node registers", func() bool {
		node, _ = c.client.CoreV1().Nodes().Get(t.Context(), "node-1", metav1.GetOptions{})
		return node != nil
	})
	if node.Status.DaemonEndpoints.KubeletEndpoint.Port == 0 || node.Labels[labelLocal] != "true" {
		t.Errorf("node is %+v", node)
	}
	c.until("node has no taint", func() bool {
		node, err := c.client.CoreV1().Nodes().Get(t.Context(), "node-1", metav1.GetOptions{})
		return err == nil && len(node.Spec.Taints) == 0
	})
	c.until("lease", func() bool {
		lease, err := c.client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(t.Context(), "node-1", metav1.GetOptions{})
		return err == nil && lease.Spec.RenewTime != nil
	})
}

func TestPodsFindEachOtherByName(t *testing.T) {
	c := newCluster(t)
	named := func(name, uid, script string) *corev1.Pod {
		pod := makePod(name, uid, script)
		pod.Spec.Hostname, pod.Spec.Subdomain = name, "job"
		return pod
	}
	c.create(named("w-0", "1", waitForTerm))
	c.until("pod runs", func() bool { return c.logged("w-0") == "up\n" })
	look := named("w-1", "2", `grep "$(printf '\tw-0.job$')" /etc/hosts | cut -f1`) // as it is while both are there
	c.create(look)
	c.until("pod succeeds", func() bool { return c.phase("w-1") == corev1.PodSucceeded })
	if got, want := c.logged("w-1"), c.get("w-0").Status.PodIP+"\n"; got != want {
		t.Errorf("w-0.job has the address %q, not %q", got, want)
	}
	c.change("w-0", markDeleted(0))
	c.until("pod vanishes", func() bool { return c.get("w-0") == nil })
	c.until("its name goes", func() bool {
		path, err := c.node.shared.hosts.Path("ns")
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		return err == nil && !strings.Contains(string(text), "w-0")
	})
}

func markDeleted(grace int64) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = new(metav1.Now()), new(grace)
	}
}

func TestDeletedPodReportsItsEndBeforeItVanishes(t *testing.T) {
	c := newCluster(t)
	c.create(makePod("p", "1", waitForTerm))
	c.until("pod runs", func() bool { return c.logged("p") == "up\n" })
	c.client.ClearActions()
	c.change("p", markDeleted(30))
	c.until("pod vanishes", func() bool { return c.get("p") == nil })

	ended, deleted := -1, -1
	for i, action := range c.client.Actions() {
		switch a := action.(type) {
		case clienttesting.PatchAction:
			if a.GetSubresource() == "status" && a.GetResource().Resource == "pods" {
				ended = i
			}
		case clienttesting.DeleteAction:
			if a.GetResource().Resource == "pods" && deleted < 0 {
				deleted = i
			}
		}
	}
	if ended < 0 || deleted < ended {
		t.Errorf("status written by call %d, pod deleted by call %d", ended, deleted)
	}
	c.until("its directory goes", func() bool {
		_, err := os.Stat(filepath.Join(c.node.host.Dir, "1"))
		return os.IsNotExist(err)
	})
}

func TestPodThatDoesNotRunYetIsDeletedAtOnce(t *testing.T) {
	c := newCluster(t)
	pod := makePod("p", "1", "exit 0")
	pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "none"},
	}}}
	c.create(pod)
	c.until("pod waits", func() bool {
		pod := c.get("p")
		return len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].State.Waiting.Reason == "CreateContainerConfigError"
	})
	c.change("p", markDeleted(3600))
	c.until("pod vanishes", func() bool { return c.get("p") == nil })
}

func TestForceDeletedPodMakesRoomForTheNext(t *testing.T) {
	c := newCluster(t)
	c.create(makePod("p", "1", `trap '' TERM; echo up; while :; do sleep 0.01; done`))
	c.until("first runs", func() bool { return c.logged("p") == "up\n" })
	if err := c.client.CoreV1().Pods("ns").Delete(t.Context(), "p", metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}); err != nil {
		t.Fatal(err)
	}
	c.create(makePod("p", "2", "echo second"))
	c.until("second succeeds", func() bool { return c.phase("p") == corev1.PodSucceeded })
	if got := c.logged("p"); got != "second\n" {
		t.Errorf("log is %q", got)
	}
	c.until("first is gone", func() bool { return c.node.provider.find("1") == nil })
}

// An informer that lists again sees a deleted and a new pod of one name as an update.
func TestPodReplacedDuringAnInterruptedWatch(t *testing.T) {
	c := newCluster(t)
	first, second := makePod("p", "1", waitForTerm), makePod("p", "2", "exit 0")
	c.create(first)
	c.until("first runs", func() bool { return c.phase("p") == corev1.PodRunning })
	c.node.provider.events().OnUpdate(first, second)
	if c.node.provider.find("2") == nil {
		t.Error("the second pod was not started")
	}
	c.until("first is gone", func() bool { return c.node.provider.find("1") == nil })
}

// virtual-kubelet updates the whole pod; that must not bring back what others removed.
func TestStatusWritesLeaveMetadataAlone(t *testing.T) {
	c := newCluster(t)
	pod := makePod("p", "1", waitForTerm)
	pod.Finalizers = []string{"batch.kubernetes.io/job-tracking"}
	pod.Labels = map[string]string{"a": "1"}
	c.create(pod)
	c.until("pod runs", func() bool { return c.phase("p") == corev1.PodRunning })
	c.change("p", func(pod *corev1.Pod) {
		pod.Finalizers, pod.Labels = nil, nil
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: "x.io/other", Status: corev1.ConditionTrue})
	})
	c.node.provider.find("1").Terminate(0)
	c.until("pod fails", func() bool { return c.phase("p") == corev1.PodFailed })
	pod = c.get("p")
	foreign := false
	for _, condition := range pod.Status.Conditions {
		foreign = foreign || condition.Type == "x.io/other"
	}
	if len(pod.Finalizers) > 0 || len(pod.Labels) > 0 || !foreign {
		t.Errorf("after the status was written: finalizers %v, labels %v, conditions %+v", pod.Finalizers, pod.Labels, pod.Status.Conditions)
	}
}

func TestRestartedNode(t *testing.T) {
	c := newCluster(t)
	c.create(makePod("running", "1", waitForTerm))
	c.create(makePod("deleted", "2", waitForTerm))
	c.create(makePod("finished", "3", "echo kept"))
	c.create(makePod("vanished", "4", waitForTerm))
	c.until("pods run", func() bool {
		return c.logged("running") == "up\n" && c.logged("deleted") == "up\n" && c.logged("vanished") == "up\n" &&
			c.phase("finished") == corev1.PodSucceeded
	})
	c.stop()
	if got := c.phase("running"); got != corev1.PodRunning {
		t.Errorf("the stop of the node made the pod %s", got)
	}
	c.change("deleted", markDeleted(3600))
	if err := c.client.CoreV1().Pods("ns").Delete(t.Context(), "vanished", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.start()
	c.until("running pod fails", func() bool { return c.phase("running") == corev1.PodFailed })
	if end := c.get("running").Status.ContainerStatuses[0].State.Terminated; end.ExitCode != 137 || end.Reason != "ContainerStatusUnknown" {
		t.Errorf("ended as %+v", end)
	}
	c.until("deleted pod vanishes", func() bool { return c.get("deleted") == nil })
	if c.phase("finished") != corev1.PodSucceeded || c.logged("finished") != "kept\n" {
		t.Errorf("finished pod: phase %s, log %q", c.phase("finished"), c.logged("finished"))
	}
	c.until("directories of gone pods go", func() bool {
		entries, _ := os.ReadDir(c.node.host.Dir)
		return len(entries) == 2
	})
}

func TestManyPods(t *testing.T) {
	c := newCluster(t)
	const n = 40
	for i := range n {
		name := string(rune('a'+i/26)) + string(rune('a'+i%26))
		c.create(makePod(name, "uid-"+name, "exit 0"))
	}
	ips := map[string]bool{}
	c.until("all succeed", func() bool {
		list, err := c.client.CoreV1().Pods("ns").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false
		}
		done := 0
		for _, pod := range list.Items {
			if pod.Status.Phase == corev1.PodSucceeded {
				done++
				ips[pod.Status.PodIP] = true
			}
		}
		return done == n
	})
	if len(ips) != n && !ips[nodeIP] {
		t.Errorf("%d pods share %d addresses", n, len(ips))
	}
}
