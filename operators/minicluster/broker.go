package minicluster

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// brokerPort is the port that brokers listen on.
const brokerPort = 8050

// brokerConfig renders broker.toml, which is the same for every broker of the cluster. It names all hosts that the
// cluster can ever have, so that scaling changes nothing in it. The resources are configured, since a broker that joins
// late must have its place in them from the beginning.
func brokerConfig(c *v1alpha1.MiniCluster) string {
	if own := c.Spec.Flux.BrokerConfig; own != "" {
		return own
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }

	line("[access]")
	line("allow-guest-user = true")
	line("allow-root-owner = true")
	line("")
	line("[bootstrap]")
	line("curve_cert = %q", curvePath(c))
	line("default_port = %d", brokerPort)
	line("default_bind = %q", "tcp://"+cmp.Or(c.Spec.Network.Interface, "eth0")+":%p")
	line("default_connect = %q", "tcp://%h."+domain(c)+":%p")
	line("hosts = [{ host = %q }]", hosts(c))
	line("")
	line("[resource]")
	line("noverify = true")
	if n := cores(c); n > 0 {
		line("")
		line("[[resource.config]]")
		line("hosts = %q", hosts(c))
		line("cores = %q", idRange(n))
		if n := gpus(c); n > 0 {
			line("gpus = %q", idRange(n))
		}
	} else {
		line("path = %q", privateDir(c)+"/R") // start.sh makes it, as of flux-operator's configurations
	}
	if policy := c.Spec.Flux.Scheduler.QueuePolicy; policy != "" {
		line("")
		line("[sched-fluxion-qmanager]")
		line("queue-policy = %q", policy)
	}
	return b.String()
}

// cores is how many cores Flux believes each node to have: the whole ones of the container's limit, and at least one.
// Without a limit the container can use all of its node's cores, which only start.sh can count: then it is 0.
func cores(c *v1alpha1.MiniCluster) int64 {
	_, w := worker(c)
	if cpu, ok := w.Resources.Limits[corev1.ResourceCPU]; ok {
		return max(cpu.MilliValue()/1000, 1)
	}
	return 0
}

// gpus is how many GPUs each node has: resources of any vendor called gpu, such as nvidia.com/gpu.
func gpus(c *v1alpha1.MiniCluster) int64 {
	_, w := worker(c)
	var n int64
	for name, quantity := range w.Resources.Limits { // an extended resource's request is its limit
		if strings.HasSuffix(string(name), "/gpu") {
			n += quantity.Value()
		}
	}
	return n
}

// idRange names so many things, from 0, as Flux writes sets of ids.
func idRange(n int64) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "0"
	}
	return fmt.Sprintf("0-%d", n-1)
}
