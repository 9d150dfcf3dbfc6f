package dsoi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// planned returns what is planned for a town, of one type.
func planned[T client.Object](p builder.Plan[*Town]) []T {
	var objs []T
	for _, c := range p.Children {
		if o, ok := c.Object().(T); ok {
			objs = append(objs, o)
		}
	}
	return objs
}

func TestANodeAsObjects(t *testing.T) {
	o := town(t, theSpec)
	before := o.DeepCopyObject()
	plan := theApp().Plan(o, buildertest.NewView(theTime))
	assert.Equal(t, before, o, "the owner is the cache's")
	assert.Equal(t, []string{"coordinator", "storage", "gateway"}, plan.Rollout.Phases)

	var names []string
	for _, c := range plan.Children {
		names = append(names, strings.TrimPrefix(fmt.Sprintf("%T ", c.Object()), "*v1.")+c.Object().GetName())
		assert.Equal(t, "default", c.Object().GetNamespace())
	}
	assert.Equal(t, []string{
		"ConfigMap t-coord-config", "Deployment t-coord",
		"ConfigMap t-az1-config", "Service t-az1-headless", "Service t-az1", "PodDisruptionBudget t-az1", "StatefulSet t-az1",
		"ConfigMap t-az2-config", "Service t-az2-headless", "Service t-az2", "PodDisruptionBudget t-az2", "StatefulSet t-az2",
		"ConfigMap t-gate-config", "DaemonSet t-gate",
	}, names)

	all := map[string]string{
		"dsoi.armature.dev/cluster": "t", "dsoi.armature.dev/node": "az1", "dsoi.armature.dev/node-type": "storage",
		"app.kubernetes.io/name": "town", "app.kubernetes.io/instance": "t", "app.kubernetes.io/component": "storage",
	}
	selected := map[string]string{"dsoi.armature.dev/cluster": "t", "dsoi.armature.dev/node": "az1"}
	set := find(t, planned[*appsv1.StatefulSet](plan), "t-az1")
	assert.Equal(t, all, set.Labels)
	assert.EqualValues(t, 2, *set.Spec.Replicas)
	assert.Equal(t, selected, set.Spec.Selector.MatchLabels)
	assert.Equal(t, "t-az1-headless", set.Spec.ServiceName)
	assert.Equal(t, appsv1.ParallelPodManagement, set.Spec.PodManagementPolicy)
	assert.Equal(t, appsv1.RetainPersistentVolumeClaimRetentionPolicyType, set.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted)
	require.Len(t, set.Spec.VolumeClaimTemplates, 1)
	assert.Equal(t, map[string]string{AnnotationCluster: "t", AnnotationStorage: "data"}, set.Spec.VolumeClaimTemplates[0].Annotations)

	pod := set.Spec.Template
	assert.Equal(t, all, pod.Labels)
	assert.Equal(t, "t", pod.Annotations[AnnotationCluster])
	assert.NotEmpty(t, pod.Annotations[AnnotationRevision])
	container := pod.Spec.Containers[0]
	assert.Equal(t, "az1", container.Name)
	assert.Equal(t, "town:v1", container.Image)
	assert.Equal(t, []corev1.VolumeMount{{Name: "config", MountPath: "/etc/town"}, {Name: "data", MountPath: "/data"}}, container.VolumeMounts)
	require.Len(t, pod.Spec.Volumes, 1, "the claim's is the StatefulSet's own")

	assert.Equal(t, map[string]string{
		"config": "x\n", "runtime.properties": "a=9\nb=3\n", "log.xml": "<log/>", "external-zookeeper.json": `{"zkAddress":"zk:2181"}`,
	}, find(t, planned[*corev1.ConfigMap](plan), "t-az1-config").Data)

	headless := find(t, planned[*corev1.Service](plan), "t-az1-headless")
	assert.Equal(t, corev1.ClusterIPNone, headless.Spec.ClusterIP)
	assert.True(t, headless.Spec.PublishNotReadyAddresses)
	assert.Equal(t, selected, headless.Spec.Selector)
	assert.Equal(t, []corev1.ServicePort{
		{Name: "port-8080", Port: 8080, TargetPort: intstr.FromInt32(8080)}, {Name: "port-9090", Port: 9090, TargetPort: intstr.FromInt32(9090)},
	}, headless.Spec.Ports)
	assert.Equal(t, selected, find(t, planned[*corev1.Service](plan), "t-az1").Spec.Selector)
	assert.Equal(t, selected, find(t, planned[*policyv1.PodDisruptionBudget](plan), "t-az1").Spec.Selector.MatchLabels)
}

func TestADeploymentWithStorage(t *testing.T) {
	spec := replaced(t, "az1, kind: Statefulset", "az1, kind: DEPLOYMENT")
	plan := theApp().Plan(town(t, spec), buildertest.NewView(theTime))
	d := find(t, planned[*appsv1.Deployment](plan), "t-az1")
	assert.Equal(t, appsv1.RecreateDeploymentStrategyType, d.Spec.Strategy.Type, "only one machine can mount it")
	assert.Equal(t, "t-az1-data", d.Spec.Template.Spec.Volumes[1].PersistentVolumeClaim.ClaimName)
	claim := find(t, planned[*corev1.PersistentVolumeClaim](plan), "t-az1-data")
	assert.Equal(t, "t", claim.Annotations[AnnotationCluster])

	shared := strings.ReplaceAll(spec, "ReadWriteOnce", "ReadWriteMany")
	plan = theApp().Plan(town(t, shared), buildertest.NewView(theTime))
	assert.Empty(t, find(t, planned[*appsv1.Deployment](plan), "t-az1").Spec.Strategy)

	given := strings.Replace(strings.Replace(spec, "name: az2,", "name: az2, kind: Deployment,", 1), "podDisruptionBudget", "updateStrategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 2}}\n  podDisruptionBudget", 1)
	plan = theApp().Plan(town(t, given), buildertest.NewView(theTime))
	assert.Equal(t, 2, find(t, planned[*appsv1.Deployment](plan), "t-az1").Spec.Strategy.RollingUpdate.MaxSurge.IntValue())
}

func TestUpdateStrategies(t *testing.T) {
	spec := strings.Replace(theSpec, "name: data\n  image", "name: data\n  updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}\n  image", 1)
	spec = strings.Replace(spec, "name: small\n", "name: small\n  updateStrategy: {rollingUpdate: {maxUnavailable: 50%}}\n", 1)
	plan := theApp().Plan(town(t, spec), buildertest.NewView(theTime))
	assert.EqualValues(t, 1, *find(t, planned[*appsv1.StatefulSet](plan), "t-az1").Spec.UpdateStrategy.RollingUpdate.Partition)
	assert.Equal(t, "50%", planned[*appsv1.DaemonSet](plan)[0].Spec.UpdateStrategy.RollingUpdate.MaxUnavailable.StrVal)
	assert.Equal(t, "50%", planned[*appsv1.Deployment](plan)[0].Spec.Strategy.RollingUpdate.MaxUnavailable.StrVal)
}

func TestTheApplicationsPart(t *testing.T) {
	app := theApp()
	app.ConfigPath, app.DataFile, app.PropertiesFile = "/conf", "town.conf", "town.properties"
	app.Files = func(o *Town, node Node, files map[string]string) {
		files["mayor"] = o.Spec.Mayor + " of " + node.Workload
	}
	app.Pod = func(_ *Town, node Node, pod *corev1.PodTemplateSpec) {
		var opts string
		found, err := node.Field("java_opts", &opts)
		require.NoError(t, err)
		assert.Equal(t, node.Name == "az1", found)
		pod.Spec.Containers[0].Args = []string{node.NodeType, opts}
	}
	spec := strings.Replace(theSpec, "{name: common,", "{name: java, java_opts: -Xmx1G}\n- {name: common,", 1)
	spec = strings.Replace(spec, "[common, storage]", "[java, common, storage]", 1) + "mayor: Ann\n"
	plan := app.Plan(town(t, spec), buildertest.NewView(theTime))
	require.Empty(t, plan.Events)
	container := find(t, planned[*appsv1.StatefulSet](plan), "t-az1").Spec.Template.Spec.Containers[0]
	assert.Equal(t, []string{"storage", "-Xmx1G"}, container.Args)
	assert.Equal(t, "/conf", container.VolumeMounts[0].MountPath)
	data := find(t, planned[*corev1.ConfigMap](plan), "t-az1-config").Data
	assert.Equal(t, "Ann of t-az1", data["mayor"])
	assert.Contains(t, data, "town.conf")
	assert.Contains(t, data, "town.properties")

	wrong := Node{App: []v1beta1.AppConfigGroup{{Name: "g", Other: map[string]json.RawMessage{"n": json.RawMessage(`"x"`)}}}}
	var n int
	_, err := wrong.Field("n", &n)
	assert.ErrorContains(t, err, `appConfigGroup "g": n is "x"`)
}

// A pod without a probe is ready as soon as it has started, also one that crashes a moment later.
func TestHowLongPodsMustBeReady(t *testing.T) {
	tests := map[string]struct {
		group string
		want  int32
	}{
		"no probe":     {"", 5},
		"a probe":      {"readinessProbe: {tcpSocket: {port: 1}}", 0},
		"none, as is":  {"minReadySeconds: 0", 0},
		"some, probed": {"minReadySeconds: 30\n  readinessProbe: {tcpSocket: {port: 1}}", 30},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := strings.ReplaceAll(theSpec, "image: town:v1\n", "image: town:v1\n  "+tt.group+"\n")
			plan := theApp().Plan(town(t, spec), buildertest.NewView(theTime))
			require.Empty(t, plan.Events)
			assert.Equal(t, tt.want, find(t, planned[*appsv1.StatefulSet](plan), "t-az1").Spec.MinReadySeconds)
			assert.Equal(t, tt.want, planned[*appsv1.Deployment](plan)[0].Spec.MinReadySeconds)
			assert.Equal(t, tt.want, planned[*appsv1.DaemonSet](plan)[0].Spec.MinReadySeconds)
		})
	}
}

func TestTheApplicationsImage(t *testing.T) {
	app := theApp()
	app.Image = "town:default"
	spec := replaced(t, "name: small\n  image: town:v1", "name: small")
	plan := app.Plan(town(t, spec), buildertest.NewView(theTime))
	require.Empty(t, plan.Events)
	assert.Equal(t, "town:default", planned[*appsv1.Deployment](plan)[0].Spec.Template.Spec.Containers[0].Image)
	assert.Equal(t, "town:v1", planned[*appsv1.StatefulSet](plan)[0].Spec.Template.Spec.Containers[0].Image)
}

// What dsoi-spec's oldest documents have: maps, no image, a node of the type that it is listed under.
func TestAClusterAsTheDocumentsHaveIt(t *testing.T) {
	app := theApp()
	app.Image = "town:default"
	plan := app.Plan(town(t, `
order: [broker, controller]
external: {zookeeper: {spec: {zkConnections: connection}}, metadata: {spec: {metaConnections: connection}}}
nodeK8sConfigGroup:
  high: {resources: {requests: {memory: 64Mi, cpu: 250m}, limits: {memory: 128Mi, cpu: 500m}}}
  low: {resources: {requests: {memory: 32Mi}, limits: {memory: 32Mi}}}
nodeAppConfigGroup:
  common: {commonRuntimeProperties: a.config=run}
  broker: {runtimeProperties: a.config=broker, overrideProperties: a.override=new}
nodes:
  broker:
  - {name: high, kind: Statefulset, replicas: 2, nodeK8sConfigGroup: high, nodeAppConfigGroup: [common, broker]}
  - {name: low, kind: Deployment, replicas: 1, nodeConfigGroup: low, nodeAppConfigGroup: [common, broker]}
  controller:
  - {name: controller, replicas: 1, nodeK8sConfigGroup: low, nodeAppConfigGroup: common}
`), buildertest.NewView(theTime))
	require.Empty(t, plan.Events)
	assert.Len(t, planned[*appsv1.StatefulSet](plan), 2)
	assert.Len(t, planned[*appsv1.Deployment](plan), 1)
	assert.Equal(t, "a.config=broker\na.override=new\n", find(t, planned[*corev1.ConfigMap](plan), "t-high-config").Data["runtime.properties"])
}

// A group of the scope common is that of all nodes, or of all of its type: before those that they name, and once.
func TestCommonGroups(t *testing.T) {
	plan := theApp().Plan(town(t, `
deploymentOrder: [broker, coordinator]
k8sConfigGroup: {g: {image: i}}
appConfigGroup:
  all: {scope: common, data: all}
  brokers: {scope: common, nodeType: broker, data: brokers}
  own: {scope: node, nodeType: broker, data: own}
nodes:
  broker:
  - {name: b1, k8sConfigGroup: g, appConfigGroup: own}
  - {name: b2, k8sConfigGroup: g, appConfigGroup: [own, all]}
  coordinator: [{name: c, k8sConfigGroup: g}]
`), buildertest.NewView(theTime))
	require.Empty(t, plan.Events)
	for node, want := range map[string]string{"b1": "all\nbrokers\nown\n", "b2": "brokers\nown\nall\n", "c": "all\n"} {
		assert.Equal(t, want, find(t, planned[*corev1.ConfigMap](plan), "t-"+node+"-config").Data["config"], node)
	}
}

func TestANodeWithoutConfiguration(t *testing.T) {
	plan := theApp().Plan(town(t, `
deploymentOrder: [x]
k8sConfigGroup: {g: {image: i}}
nodes: {x: [{name: a, k8sConfigGroup: g, kind: Deployment}]}
`), buildertest.NewView(theTime))
	require.Len(t, plan.Children, 1)
	d := planned[*appsv1.Deployment](plan)[0]
	assert.Empty(t, d.Spec.Template.Spec.Volumes)
	assert.EqualValues(t, 1, *d.Spec.Replicas)
}

func TestRevisionsTellWhatPodsAreMadeFrom(t *testing.T) {
	revision := func(spec string) string {
		plan := theApp().Plan(town(t, spec), buildertest.NewView(theTime))
		return find(t, planned[*appsv1.StatefulSet](plan), "t-az1").Spec.Template.Annotations[AnnotationRevision]
	}
	first := revision(theSpec)
	assert.Equal(t, first, revision(theSpec))
	for old, new := range map[string]string{"town:v1": "town:v2", "b=3": "b=4", "zk:2181": "zk:2182", "containerPort: 9090": "containerPort: 9091"} {
		assert.NotEqual(t, first, revision(replaced(t, old, new)), new)
	}
	for old, new := range map[string]string{"replicas: 2": "replicas: 5", "maxUnavailable: 1": "maxUnavailable: 2", "port: 80,": "port: 81,", "1Gi": "2Gi"} {
		assert.Equal(t, first, revision(replaced(t, old, new)), "%s restarts no pod", new)
	}
}

// TestSelectorsNeverOverlap: no pod of a node is selected by another's workload, Service or budget.
func TestSelectorsNeverOverlap(t *testing.T) {
	label := rapid.StringMatching(`[a-z]([a-z0-9-]{0,61}[a-z0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		type node struct{ cluster, name string }
		name := rapid.OneOf(label, rapid.SampledFrom([]string{"a", "b", "a-b", strings.Repeat("x", 62) + "a", strings.Repeat("x", 62) + "b"}))
		one := node{name.Draw(t, "cluster") + rapid.SampledFrom([]string{"", "." + strings.Repeat("y", 60)}).Draw(t, "more"), name.Draw(t, "node")}
		other := node{rapid.SampledFrom([]string{one.cluster, name.Draw(t, "cluster")}).Draw(t, "cluster"), name.Draw(t, "node")}
		r := renderer{app: "town", cluster: one.cluster, node: Node{Node: v1beta1.Node{Name: one.name, NodeType: "x"}}}
		pod := labels.Set(r.labels())
		for key, value := range pod {
			assert.Empty(t, validation.IsValidLabelValue(value), key)
		}
		assert.True(t, labels.SelectorFromSet(selector(one.cluster, one.name)).Matches(pod))
		assert.Equal(t, one == other, labels.SelectorFromSet(selector(other.cluster, other.name)).Matches(pod))

		workload := WorkloadName(one.cluster, one.name)
		assert.LessOrEqual(t, len(workload), 52)
		assert.Empty(t, validation.IsDNS1123Subdomain(workload))
		assert.LessOrEqual(t, len(headlessName(workload)), 63)
		if one.cluster == other.cluster && one.name != other.name {
			assert.NotEqual(t, workload, WorkloadName(other.cluster, other.name))
		}
	})
}

func TestPodMetadata(t *testing.T) {
	spec := strings.Replace(theSpec, "name: small\n", "name: small\n  podMetadata: {labels: {team: x, app.kubernetes.io/name: mine}, annotations: {a: b}}\n", 1)
	plan := theApp().Plan(town(t, spec), buildertest.NewView(theTime))
	meta := planned[*appsv1.Deployment](plan)[0].Spec.Template.ObjectMeta
	assert.Equal(t, "x", meta.Labels["team"])
	assert.Equal(t, "mine", meta.Labels["app.kubernetes.io/name"])
	assert.Equal(t, "coord", meta.Labels[LabelNode])
	assert.Equal(t, "b", meta.Annotations["a"])
}

func TestRememberedByGeneration(t *testing.T) {
	app, calls := theApp(), 0
	app.Check = func(*Town, []Node) []string { calls++; return nil }
	o := town(t, theSpec)
	first := app.Plan(o, buildertest.NewView(theTime))
	second := app.Plan(o, buildertest.NewView(theTime))
	assert.Equal(t, 1, calls)
	assert.Same(t, first.Children[0].Object(), second.Children[0].Object())

	changed := town(t, replaced(t, "town:v1", "town:v2"))
	changed.Generation = 2
	plan := app.Plan(changed, buildertest.NewView(theTime))
	assert.Equal(t, "town:v2", planned[*appsv1.Deployment](plan)[0].Spec.Template.Spec.Containers[0].Image)
	changed.Generation = 0
	app.Plan(changed, buildertest.NewView(theTime))
	app.Plan(changed, buildertest.NewView(theTime))
	assert.Equal(t, 4, calls, "what has no generation is rendered each time")
}
