//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// kinds are Armature's own in namespaces.
const kinds = "jobflows,jobtemplates,daemonjobs,replicajobs,miniclusters,fluxjobs"

// keepEvidence writes what helps to understand a failure into files, in a directory called after the test: the console has
// the test's own messages only.
func (s *space) keepEvidence() {
	s.Helper()
	dir := filepath.Join(logsDir(), strings.ReplaceAll(s.Name(), "/", "."))
	keep := func(file string, args ...string) {
		out, err := kubectl(args...)
		if err != nil {
			out = err.Error()
		}
		if err := writeFile(filepath.Join(dir, file), out); err != nil {
			s.Log(err)
		}
	}
	keep("objects.txt", "get", "all,configmaps,persistentvolumeclaims,"+kinds, "--output=wide", "--namespace", s.name)
	keep("events.txt", "get", "events", "--sort-by=.lastTimestamp", "--namespace", s.name)
	keep("armature.yaml", "get", "jobs,pods,"+kinds, "--output=yaml", "--namespace", s.name)
	if examples, err := kubectl("api-resources", "--api-group=examples.armature.dev", "--output=name"); err == nil && examples != "" {
		keep("examples.yaml", "get", strings.Join(strings.Fields(examples), ","), "--output=yaml", "--namespace", s.name)
	}
	keep("nodes.txt", "describe", "nodes")
	if err := keepLogs(dir, s.name); err != nil {
		s.Log(err)
	}
	if err := keepLogs(dir, home); err != nil {
		s.Log(err)
	}
	s.Logf("namespace %s; what it had, and the logs of its pods and of the managers, are in %s", s.name, dir)
}

// keepLogs writes the logs of all containers of a namespace, and of those that ran in their place before.
func keepLogs(dir, namespace string) error {
	pods := &corev1.PodList{}
	if err := cluster.List(context.Background(), pods, client.InNamespace(namespace)); err != nil {
		return err
	}
	for _, pod := range pods.Items {
		for _, c := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
			args := []string{"logs", "--namespace", namespace, pod.Name, "--container", c.Name, "--tail=5000"}
			out, err := kubectl(args...)
			if err != nil {
				out = err.Error()
			}
			if err := writeFile(filepath.Join(dir, "pods", pod.Name+"."+c.Name+".log"), out); err != nil {
				return err
			}
			if c.RestartCount == 0 {
				continue
			}
			if out, err = kubectl(append(args, "--previous")...); err == nil {
				if err := writeFile(filepath.Join(dir, "pods", pod.Name+"."+c.Name+".previous.log"), out); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// logsDir is where what helps to understand failures is kept.
func logsDir() string {
	if dir := os.Getenv("E2E_LOGS"); dir != "" {
		return dir
	}
	return filepath.Join(os.TempDir(), "e2e-logs")
}

func writeFile(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o600)
}
