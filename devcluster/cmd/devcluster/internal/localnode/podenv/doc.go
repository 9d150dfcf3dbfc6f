// Package podenv computes the environment, command and arguments of a container
// as the kubelet does: literals with $(VAR) references, envFrom, ConfigMap and
// Secret keys, fields of the pod and resources of containers.
//
// virtual-kubelet can resolve an environment too, but into the pod object, before
// the pod has an address, and without the kubelet's retry per container. So it is
// told not to, and this package reads the objects when a container starts.
package podenv
