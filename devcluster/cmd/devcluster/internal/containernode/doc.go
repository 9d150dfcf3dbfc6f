// Package containernode runs nodes that are as real as one machine can make them: each is a kubelet with a
// containerd, runc, a CNI bridge and a kube-proxy of its own. Linux and root only.
//
// The network: the whole cluster lives in a network namespace without a route out (Isolate). In it there is one
// bridge, to which every node is connected by a link of its own; the control plane has the bridge's address.
//
//	control plane, CoreDNS   10.89.0.1 on the bridge
//	node number i            10.89.0.(10+i), its pods 10.244.i.0/24
//
// A node is a component of two processes. The first (Run) stays outside: it makes the node's cgroup and link and
// waits. The second (RunInside) is process 1 of the node's own PID, mount, network, IPC and UTS namespaces, and
// runs the node's programs. It is a machine's power switch: when it dies, for whatever reason, the kernel kills
// every process of the node, and with the last of them its mounts, links and namespaces are gone. Only the cgroups
// have to be removed by hand (RemoveCgroups), which `devcluster down` does even when everything was killed.
//
// Inside, a node sees the files of the machine, but /var, /tmp, /run and /proc are its own: /var is DIR/nodes/NAME/var,
// so that containerd and the kubelet find everything where they expect it, and nobody else's files are touched.
package containernode
