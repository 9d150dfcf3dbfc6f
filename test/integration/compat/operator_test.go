package compat

// The operator under test. It uses nothing but what v0.0.7 of the original has: with other import paths for builder and
// utils this file compiles with that as well.

import (
	"context"
	"maps"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/compat/builder"
	"github.com/armature-dev/armature/compat/utils"
)

// clusterReconciler makes a small database cluster of each "custom resource": a ConfigMap whose data say
//
//	nodes:         web=Deployment,db=Statefulset
//	config.<node>: what is in the node's configuration file
type clusterReconciler struct {
	Client   client.Client
	Recorder record.EventRecorder
}

// node is one node type of a cluster.
type node struct{ name, kind string }

func nodesOf(cr *v1.ConfigMap) []node {
	var nodes []node
	for spec := range strings.SplitSeq(cr.Data["nodes"], ",") {
		if name, kind, ok := strings.Cut(spec, "="); ok {
			nodes = append(nodes, node{name, kind})
		}
	}
	return nodes
}

func (r *clusterReconciler) do(ctx context.Context, cr *v1.ConfigMap) error {
	ib := internalBuilder{cr: cr, client: r.Client, ownerRef: makeOwnerRef(cr), commonLabels: map[string]string{
		"app": "cluster", "custom_resource": cr.GetName(),
	}}
	configMaps := []builder.BuilderConfigMap{}
	workloads := []builder.BuilderDeploymentStatefulSet{}
	services := []builder.BuilderService{}
	for _, n := range nodesOf(cr) {
		cm := ib.makeConfigMap(n)
		hash := []utils.ConfigMapHash{{Object: &v1.ConfigMap{Data: cm.Data, ObjectMeta: cm.ObjectMeta}}}
		configMaps = append(configMaps, *cm)
		workloads = append(workloads, *ib.makeStsOrDeploy(n, hash))
		services = append(services, *ib.makeService(n))
	}

	// construct builder
	build := builder.NewBuilder(
		builder.ToNewBuilderConfigMap(configMaps),
		builder.ToNewBuilderDeploymentStatefulSet(workloads),
		builder.ToNewBuilderRecorder(builder.BuilderRecorder{Recorder: r.Recorder, ControllerName: "ClusterOperator"}),
		builder.ToNewBuilderContext(builder.BuilderContext{Context: ctx}),
		builder.ToNewBuilderService(services),
		builder.ToNewBuilderStore(*builder.NewStore(ib.client, ib.commonLabels, cr.Namespace, cr)),
	)
	if _, err := build.ReconcileConfigMap(); err != nil {
		return err
	}
	if _, err := build.ReconcileService(); err != nil {
		return err
	}
	if _, err := build.ReconcileDeployOrSts(); err != nil {
		return err
	}
	return build.ReconcileStore()
}

type internalBuilder struct {
	cr           *v1.ConfigMap
	client       client.Client
	ownerRef     *metav1.OwnerReference
	commonLabels map[string]string
}

func makeOwnerRef(cr *v1.ConfigMap) *metav1.OwnerReference {
	controller := true
	return &metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: cr.Name, UID: cr.UID, Controller: &controller}
}

func (ib *internalBuilder) common(name string) builder.CommonBuilder {
	return builder.CommonBuilder{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ib.cr.GetNamespace(), Labels: ib.commonLabels},
		Client:     ib.client,
		CrObject:   ib.cr,
		OwnerRef:   *ib.ownerRef,
	}
}

func (ib *internalBuilder) makeConfigMap(n node) *builder.BuilderConfigMap {
	return &builder.BuilderConfigMap{
		CommonBuilder: ib.common(ib.cr.Name + "-" + n.name + "-config"),
		Data:          map[string]string{"node.conf": ib.cr.Data["config."+n.name]},
	}
}

func (ib *internalBuilder) makeStsOrDeploy(n node, configHash []utils.ConfigMapHash) *builder.BuilderDeploymentStatefulSet {
	labels := map[string]string{"node": n.name}
	maps.Copy(labels, ib.commonLabels)
	return &builder.BuilderDeploymentStatefulSet{
		CommonBuilder: ib.common(ib.cr.Name + "-" + n.name),
		Replicas:      2,
		Labels:        labels,
		Kind:          n.kind,
		ServiceName:   ib.cr.Name + "-" + n.name + "-svc",
		PodSpec: &v1.PodSpec{
			Containers: []v1.Container{{Name: n.name, Image: "cluster:1", Env: getEnv(configHash)}},
		},
	}
}

func getEnv(configHash []utils.ConfigMapHash) []v1.EnvVar {
	envs := []v1.EnvVar{{Name: "MODE", Value: "production"}}
	hashes, _ := utils.MakeConfigMapHash(configHash)
	for _, cmhash := range hashes {
		envs = append(envs, v1.EnvVar{Name: cmhash.Name, Value: cmhash.HashVaule})
	}
	return envs
}

func (ib *internalBuilder) makeService(n node) *builder.BuilderService {
	return &builder.BuilderService{
		CommonBuilder:  ib.common(ib.cr.Name + "-" + n.name + "-svc"),
		SelectorLabels: map[string]string{"custom_resource": ib.cr.Name, "node": n.name},
		ServiceSpec:    &v1.ServiceSpec{Ports: []v1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}}},
	}
}
