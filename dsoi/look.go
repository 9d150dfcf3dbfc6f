package dsoi

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

// observed is what exists of a cluster.
type observed struct {
	now          time.Time
	statefulSets map[string]*appsv1.StatefulSet // by name
	deployments  map[string]*appsv1.Deployment
	daemonSets   map[string]*appsv1.DaemonSet
	pods         map[string][]*corev1.Pod // by the label of the node
	claims       map[string][]*corev1.PersistentVolumeClaim
	scaled       map[string]bool // nodes and workloads whose replicas are others' business
}

func look(view builder.View, scaling Scaling) *observed {
	return &observed{
		now:          view.Now,
		statefulSets: byName(builder.Owned[*appsv1.StatefulSet](view)),
		deployments:  byName(builder.Owned[*appsv1.Deployment](view)),
		daemonSets:   byName(builder.Owned[*appsv1.DaemonSet](view)),
		pods:         byNode(builder.Watched[*corev1.Pod](view)),
		claims:       byNode(builder.Watched[*corev1.PersistentVolumeClaim](view)),
		scaled:       scaledBy(view, scaling),
	}
}

func byName[T client.Object](objs []T) map[string]T {
	m := make(map[string]T, len(objs))
	for _, o := range objs {
		m[o.GetName()] = o
	}
	return m
}

func byNode[T client.Object](objs []T) map[string][]T {
	m := map[string][]T{}
	for _, o := range objs {
		node := o.GetLabels()[LabelNode]
		m[node] = append(m[node], o)
	}
	return m
}

// namesCluster returns the cluster that a pod or a claim is of.
func namesCluster(obj client.Object) []string {
	if name := obj.GetAnnotations()[AnnotationCluster]; name != "" {
		return []string{name}
	}
	return nil
}

// workload returns the node's workload as it is; nil if there is none.
func (o *observed) workload(n *renderedNode) client.Object {
	switch n.node.Kind {
	case deployment:
		if d := o.deployments[n.node.Workload]; d != nil {
			return d
		}
	case daemonSet:
		if d := o.daemonSets[n.node.Workload]; d != nil {
			return d
		}
	default:
		if s := o.statefulSets[n.node.Workload]; s != nil {
			return s
		}
	}
	return nil
}

// claim returns the claim of a name that is the node's.
func (o *observed) claim(n *renderedNode, name string) *corev1.PersistentVolumeClaim {
	for _, c := range o.claims[LabelValue(n.node.Name)] {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func (o *observed) isScaled(n *renderedNode) bool {
	return o.scaled[n.node.Name] || o.scaled[n.node.Workload]
}

// templateOf returns the template of a workload's pods.
func templateOf(workload client.Object) *corev1.PodTemplateSpec {
	switch w := workload.(type) {
	case *appsv1.StatefulSet:
		return &w.Spec.Template
	case *appsv1.Deployment:
		return &w.Spec.Template
	case *appsv1.DaemonSet:
		return &w.Spec.Template
	default:
		return nil
	}
}
