package dsoi_test

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/dsoi"
	v1 "github.com/armature-dev/armature/examples/kvstore/api/v1"
)

// An application says what the engine can't know of it: what a container runs.
var app = &dsoi.App[*v1.KVStore]{
	Name: "kvstore",
	Pod: func(_ *v1.KVStore, node dsoi.Node, pod *corev1.PodTemplateSpec) {
		pod.Spec.Containers[0].Command = []string{"kvstore", node.NodeType}
	},
}

const aStore = `
metadata: {namespace: default, name: demo}
spec:
  deploymentOrder: [coordinator, storage]
  k8sConfigGroup:
  - {name: small, image: "kvstore:v1"}
  - name: data
    image: kvstore:v1
    podDisruptionBudget: {maxUnavailable: 1}
  appConfigGroup:
  - {name: common, commonRuntimeProperties: "replicas=2\nmotto=hello"}
  - {name: storage, overrideProperties: "motto=ahoy"}
  nodes:
  - {name: main, kind: Deployment, nodeType: coordinator, k8sConfigGroup: small, appConfigGroup: common}
  - {name: az1, nodeType: storage, replicas: 3, k8sConfigGroup: data, appConfigGroup: [common, storage]}
`

// A plan is a function: what becomes of a spec can be looked at without a cluster.
func ExampleApp_Plan() {
	store := &v1.KVStore{}
	if err := yaml.UnmarshalStrict([]byte(aStore), store); err != nil {
		panic(err)
	}
	plan := app.Plan(store, buildertest.NewView(time.Now()))
	fmt.Println("in order:", strings.Join(plan.Rollout.Phases, ", "))
	for _, child := range plan.Children {
		kind, _, _ := strings.Cut(strings.TrimPrefix(fmt.Sprintf("%T", child.Object()), "*v1."), "{")
		fmt.Println(kind, child.Object().GetName())
		if config, ok := child.Object().(*corev1.ConfigMap); ok {
			fmt.Printf("  %q\n", config.Data["runtime.properties"])
		}
	}
	// Output:
	// in order: coordinator, storage
	// ConfigMap demo-main-config
	//   "replicas=2\nmotto=hello\n"
	// Deployment demo-main
	// ConfigMap demo-az1-config
	//   "replicas=2\nmotto=ahoy\n"
	// Service demo-az1-headless
	// PodDisruptionBudget demo-az1
	// StatefulSet demo-az1
}

// A description with a mistake isn't carried out in part.
func ExampleApp_Plan_mistake() {
	store := &v1.KVStore{}
	text := strings.Replace(aStore, "nodeType: storage, replicas: 3, k8sConfigGroup: data", "nodeType: storage, k8sConfigGroup: dta", 1)
	if err := yaml.UnmarshalStrict([]byte(text), store); err != nil {
		panic(err)
	}
	plan := app.Plan(store, buildertest.NewView(time.Now()))
	fmt.Println(len(plan.Children), "children,", plan.Status.Status.Phase)
	fmt.Println(plan.Events[0].Reason + ": " + plan.Events[0].Note)
	// Output:
	// 0 children, Invalid
	// InvalidSpec: nodes[1] "az1": k8sConfigGroup: there is no group "dta"; there are "data", "small"
}

// Setup is all that a program has to call for a kind. The manager's cache need hold only pods and claims of clusters.
func ExampleApp_Setup() {
	options := manager.Options{Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
		&corev1.Pod{}:                   {Label: dsoi.Selector()},
		&corev1.PersistentVolumeClaim{}: {Label: dsoi.Selector()},
	}}}
	setup := func(mgr manager.Manager) error { return app.Setup(mgr) }
	_, _ = options, setup
}

// Names of a workload are cut, with a hash in place of the end.
func ExampleWorkloadName() {
	fmt.Println(dsoi.WorkloadName("demo", "az1"))
	fmt.Println(dsoi.WorkloadName("the-store-of-the-department-of-accounts", "storage-nodes-of-zone-1"))
	// Output:
	// demo-az1
	// the-store-of-the-department-of-accounts-sto-d129f847
}
