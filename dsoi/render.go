package dsoi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/builder"
)

// renderedNode is what a node consists of, as far as that follows from the spec. Its objects are shared by all passes:
// no one changes them.
type renderedNode struct {
	node     Node
	revision string // of its pods
	fixed    []builder.Child
	workload builder.Child
	options  []builder.ChildOption // of the workload
	claims   []*corev1.PersistentVolumeClaim
}

// renderer makes the objects of a node.
type renderer struct {
	app, cluster, namespace string
	node                    Node
	configPath              string
}

// render makes all that follows from a cluster's spec.
func (a *App[C]) render(cluster C) *rendered {
	d := describe(cluster.Description())
	d.image = a.Image
	nodes := d.resolve(cluster.GetName())
	d.checkNames(nodes)
	d.checkFields(a.Fields)
	if len(d.problems) == 0 && a.Check != nil {
		d.problems = a.Check(cluster, nodes)
	}
	r := &rendered{order: d.order, rollout: d.rollout, size: d.size}
	r.rollout.Phases = r.order
	for _, n := range nodes {
		if len(d.problems) > 0 {
			break
		}
		node, problems := a.renderNode(cluster, n)
		d.problems = append(d.problems, problems...)
		r.nodes = append(r.nodes, node)
	}
	r.problems = d.problems
	return r
}

func (a *App[C]) renderNode(cluster C, n Node) (*renderedNode, []string) {
	files, problems := a.files(cluster, n)
	if len(problems) > 0 {
		return nil, problems
	}
	r := &renderer{app: a.Name, cluster: cluster.GetName(), namespace: cluster.GetNamespace(), node: n, configPath: a.configPath()}
	inPhase := builder.InPhase(n.NodeType)
	out := &renderedNode{node: n}
	options := []builder.ChildOption{inPhase}
	if len(files) > 0 {
		config := r.configMap(files)
		out.fixed = append(out.fixed, builder.Want(config, inPhase).Immutable())
		options = append(options, builder.HashFrom(config))
	}
	pod := r.pod(len(files) > 0)
	if a.Pod != nil {
		a.Pod(cluster, n, pod)
	}
	if problems := checkPod(n, pod); len(problems) > 0 {
		return nil, problems
	}
	out.revision = revisionOf(pod, files)
	pod.Annotations = with(pod.Annotations, AnnotationRevision, out.revision)
	for _, obj := range r.around() {
		out.fixed = append(out.fixed, builder.Want(obj, inPhase).Immutable())
	}
	if n.Kind != daemonSet {
		options = append(options, builder.Ignore("spec.replicas")) // see replicas.go
	}
	out.workload, out.options = builder.Want(r.workload(pod), options...).Immutable(), options
	if n.Kind != statefulSet {
		out.claims = r.claims()
	}
	return out, nil
}

// revisionOf identifies what pods are made from.
func revisionOf(pod *corev1.PodTemplateSpec, files map[string]string) string {
	data, err := json.Marshal(struct {
		Pod   *corev1.PodTemplateSpec
		Files map[string]string
	}{pod, files})
	if err != nil {
		return "" // of Kubernetes' own types and text there is none
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:5])
}

// labels are those of all objects of the node.
func (r *renderer) labels() map[string]string {
	labels := selector(r.cluster, r.node.Name)
	labels[LabelNodeType] = LabelValue(r.node.NodeType)
	labels["app.kubernetes.io/name"] = LabelValue(r.app)
	labels["app.kubernetes.io/instance"] = LabelValue(r.cluster)
	labels["app.kubernetes.io/component"] = LabelValue(r.node.NodeType)
	return labels
}

// with returns a map with one more entry. The map stays as it is.
func with(m map[string]string, key, value string) map[string]string {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}
