package dsoi

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// checkPod reports what doesn't fit together in the pods of a node: what is there twice, a mount of a volume that there
// isn't, a request beyond its limit. The API server would refuse it, but some of it only when it is changed, and all of
// it when other objects are made already.
func checkPod(n Node, pod *corev1.PodTemplateSpec) (problems []string) {
	wrong := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("node %q: ", n.Name)+fmt.Sprintf(format, args...))
	}
	volumes := map[string]bool{}
	for _, v := range pod.Spec.Volumes {
		volumes[v.Name] = true
	}
	if n.Kind == statefulSet {
		for _, s := range n.K8s.StorageConfig {
			volumes[s.Name] = true
		}
	}
	thereAre := sync.OnceValue(func() string { return quoted(volumes) })
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		twice := map[string]bool{}
		once := func(what, key string) {
			if twice[what+key] {
				wrong("container %s: %s %s is there twice; want each once", c.Name, what, key)
			}
			twice[what+key] = true
		}
		for _, e := range c.Env {
			once("the variable", e.Name)
		}
		for _, p := range c.Ports {
			protocol := p.Protocol
			if protocol == "" {
				protocol = corev1.ProtocolTCP
			}
			once("the port", fmt.Sprintf("%d/%s", p.ContainerPort, protocol))
		}
		for _, m := range c.VolumeMounts {
			once("a mount at", m.MountPath)
			if !volumes[m.Name] {
				wrong("container %s: volumeMounts: there is no volume %q; there are %s", c.Name, m.Name, thereAre())
			}
		}
		for _, name := range slices.Sorted(maps.Keys(c.Resources.Requests)) {
			request := c.Resources.Requests[name]
			if limit, ok := c.Resources.Limits[name]; ok && request.Cmp(limit) > 0 {
				wrong("container %s: resources: the request of %s is %s, the limit %s; want no more than the limit",
					c.Name, name, request.String(), limit.String())
			}
		}
	}
	return problems
}
