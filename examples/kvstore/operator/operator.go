// Package operator is the whole of the KVStore operator: what DSOI's engine does not know of the application.
package operator

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/dsoi"
	"github.com/armature-dev/armature/dsoi/scaling"
	v1 "github.com/armature-dev/armature/examples/kvstore/api/v1"
	"github.com/armature-dev/armature/examples/kvstore/store"
)

// Setup lets a manager run KVStores and their scalings. An image is the name of a program: on the local nodes of
// devcluster there are no images. programs is the directory where it is; empty looks it up in the PATH.
func Setup(mgr manager.Manager, programs string) error {
	if err := App(programs).Setup(mgr); err != nil {
		return err
	}
	local := programs != "" // the pods are processes beside this one
	return (&scaling.Controller[*v1.KVStoreScaling]{Name: "kvstore-scaling", Cluster: &v1.KVStore{}, Loopback: local}).Setup(mgr)
}

// App is what the engine needs to know of the application.
func App(programs string) *dsoi.App[*v1.KVStore] {
	return &dsoi.App[*v1.KVStore]{
		Name:    "kvstore",
		Scaling: &v1.KVStoreScaling{},
		Check:   check,
		Pod: func(kv *v1.KVStore, node dsoi.Node, pod *corev1.PodTemplateSpec) {
			finish(kv, node, pod, programs)
		},
	}
}

// check refuses node types that there is no program for.
func check(_ *v1.KVStore, nodes []dsoi.Node) []string {
	var problems []string
	for _, n := range nodes {
		if !slices.Contains(store.Types, n.NodeType) {
			problems = append(problems, fmt.Sprintf("node %q: nodeType is %q; a KVStore has %s",
				n.Name, n.NodeType, strings.Join(store.Types, ", ")))
		}
	}
	return problems
}

// finish says what a node's container runs, and tells it where it is.
func finish(kv *v1.KVStore, node dsoi.Node, pod *corev1.PodTemplateSpec, programs string) {
	c := &pod.Spec.Containers[0]
	c.Command = []string{filepath.Join(programs, program(c.Image)), node.NodeType}
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	c.Env = append(c.Env,
		corev1.EnvVar{Name: store.EnvAddress, ValueFrom: field("status.podIP")},
		corev1.EnvVar{Name: store.EnvPod, ValueFrom: field("metadata.name")},
		corev1.EnvVar{Name: store.EnvNamespace, ValueFrom: field("metadata.namespace")},
		corev1.EnvVar{Name: store.EnvCluster, Value: kv.Name},
	)
	for _, m := range c.VolumeMounts {
		switch m.Name {
		case "config":
			c.Env = append(c.Env, corev1.EnvVar{Name: store.EnvConfig, Value: m.MountPath + "/runtime.properties"})
		case "data":
			c.Env = append(c.Env, corev1.EnvVar{Name: store.EnvData, Value: m.MountPath})
		}
	}
	if node.NodeType == store.Storage {
		pod.Spec.TerminationGracePeriodSeconds = ptr.To[int64](30) // to hand over what it holds
	}
}

// program is what an image is called, without registry and tag.
func program(image string) string {
	name, _, _ := strings.Cut(path.Base(image), ":")
	return name
}

// Cache lets a manager's cache hold only the pods and claims of clusters.
func Cache() cache.Options {
	ours := cache.ByObject{Label: dsoi.Selector()}
	return cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: ours, &corev1.PersistentVolumeClaim{}: ours}}
}
