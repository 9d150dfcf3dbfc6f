package dsoi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
)

// replaced returns the spec with a text in place of another.
func replaced(t require.TestingT, old, new string) string {
	require.Contains(t, theSpec, old)
	return strings.ReplaceAll(theSpec, old, new)
}

func TestMistakesAreNamed(t *testing.T) {
	tests := map[string]struct{ old, new, want string }{
		"a dangling Kubernetes group": {"coordinator, k8sConfigGroup: small", "coordinator, k8sConfigGroup: hot",
			`nodes[0] "coord": k8sConfigGroup: there is no group "hot"; there are "data", "small"`},
		"a dangling app group": {"[common, storage]}\n- {name: gate", "[common, stored]}\n- {name: gate",
			`nodes[2] "az2": appConfigGroup: there is no group "stored"; there are "common", "storage"`},
		"an order of no node type": {"[coordinator, storage, gateway]", "[coordinator, storage, gateway, minion]",
			`deploymentOrder[3]: no node is of the type "minion"; the node types are "coordinator", "gateway", "storage"`},
		"a type twice in the order": {"[coordinator, storage, gateway]", "[coordinator, storage, gateway, storage]",
			`deploymentOrder[3]: "storage" is there twice; want each node type once`},
		"a type missing in the order": {"[coordinator, storage, gateway]", "[coordinator, storage]",
			`nodes[3] "gate": nodeType is "gateway", which isn't in deploymentOrder; it has "coordinator", "storage"`},
		"no order":                 {"deploymentOrder: [coordinator, storage, gateway]", "", `isn't in deploymentOrder; it has none`},
		"two nodes of one name":    {"name: az2", "name: az1", `nodes[2] "az1": nodes[1] has that name too; want each name once`},
		"two groups of one name":   {"name: small", "name: data", `k8sConfigGroup[1] "data": another group has that name; want each name once`},
		"a group without a name":   {"- name: small", "- imagePullPolicy: Never", "k8sConfigGroup[0]: name is empty"},
		"a kind that is none":      {"Statefulset", "ReplicaSet", `kind is "ReplicaSet"; want StatefulSet, Deployment or DaemonSet`},
		"a name that is none":      {"name: az1", "name: AZ_1", `nodes[1] "AZ_1": name: a lowercase RFC 1123 label`},
		"negative replicas":        {"replicas: 2", "replicas: -1", "replicas is -1; want 0 or more"},
		"a reclaim that is none":   {"name: az1,", "name: az1, reclaim: Recycle,", `reclaim is "Recycle"; want Retain or Delete`},
		"no node type":             {"nodeType: gateway, ", "", `nodes[3] "gate": nodeType is empty; want one of deploymentOrder`},
		"no image":                 {"name: small\n  image: town:v1", "name: small", `k8sConfigGroup "small": image is empty`},
		"a selector":               {"service: {", "service: {selector: {a: b}, ", "service.selector is set; leave it out"},
		"a budget of both":         {"{maxUnavailable: 1}", "{maxUnavailable: 1, minAvailable: 1}", "want one of minAvailable and maxUnavailable"},
		"a budget of neither":      {"{maxUnavailable: 1}", "{}", "want one of minAvailable and maxUnavailable"},
		"a label of ours":          {"podDisruptionBudget", "podMetadata: {labels: {dsoi.armature.dev/node: x}}\n  podDisruptionBudget", "dsoi.armature.dev/node is the operator's own"},
		"storage without a size":   {"requests: {storage: 1Gi}", "requests: {}", "spec.resources.requests.storage is missing"},
		"storage without a path":   {"mountPath: /data", "mountPath: data", `mountPath is "data"; want a path that begins with /`},
		"storage called config":    {"- {name: data, mountPath", "- {name: config, mountPath", "the name is that of the configuration"},
		"storage and a volume":     {"podDisruptionBudget", "volumes: [{name: data, emptyDir: {}}]\n  podDisruptionBudget", "the name is that of another storageConfig"},
		"a partition elsewhere":    {"name: small", "name: small\n  updateStrategy: {rollingUpdate: {partition: 1}}", "a Deployment has no partition"},
		"a strategy elsewhere":     {"name: data\n  image", "name: data\n  updateStrategy: {type: Recreate}\n  image", `type is "Recreate"; a StatefulSet has "RollingUpdate", "OnDelete"`},
		"properties that are none": {"b=3", "nonsense", `appConfigGroup "storage": runtimeProperties: line 1 is "nonsense"; want key=value`},
		"a file name that is none": {"log.xml", "a/b", `"a/b" can't be the name of a file`},
		"an unknown app field":     {"name: storage, runtime", "name: storage, jvm: x, runtime", `appConfigGroup "storage": unknown field "jvm"; want scope, nodeType, data, files`},
		"an unknown field":         {"image: town:v1\n  ports: [{name", "imagee: town:v1\n  ports: [{name", `k8sConfigGroup[0] "small": unknown field "imagee"`},
		"external that is a text":  {`{spec: {zkAddress: "zk:2181"}}`, "zk", `external.zookeeper is a text; want an object`},
		"an external's name":       {"zookeeper", "zoo keeper", `external: the name "zoo keeper" can't be part of the name of a file`},
		"two names of one field":   {"nodes:", "order: [coordinator]\nnodes:", "deploymentOrder and order are names of one field; want one of them"},
		"a policy that is none":    {"nodes:", "onFailure: Alert\nnodes:", `onFailure is "Alert"; want Wait or Rollback`},
		"a time that is none":      {"nodes:", "upgradeTimeout: soon\nnodes:", `upgradeTimeout is "soon"; want a number of seconds`},
		"a time too short":         {"nodes:", "upgradeTimeout: 0\nnodes:", `upgradeTimeout is 0s; want at least a second`},
		"names that would collide": {"name: az2", "name: az1-headless", `the nodes "az1" and "az1-headless" would both have a Service t-az1-headless; rename one`},
		"too long to settle":       {"name: small\n", "name: small\n  minReadySeconds: 600\n", `k8sConfigGroup "small": minReadySeconds is 600; want 0 to 599`},
		"a scope that is none":     {"name: storage, runtime", "name: storage, scope: cluster, runtime", `appConfigGroup[1] "storage": scope is "cluster"; want common or node`},
		"a group of another type":  {"name: storage, runtime", "name: storage, nodeType: gateway, runtime", `nodes[1] "az1": appConfigGroup: the group "storage" is for nodes of the type "gateway"; this one's is "storage"`},
		"a port twice":             {"{containerPort: 9090}", "{containerPort: 8080, protocol: TCP}", `node "az1": container az1: the port 8080/TCP is there twice; want each once`},
		"a variable twice":         {"name: small\n", "name: small\n  env: [{name: A}, {name: B}, {name: A}]\n", `node "coord": container coord: the variable A is there twice`},
		"a mount twice":            {"podDisruptionBudget", "volumeMounts: [{name: data, mountPath: /data}]\n  podDisruptionBudget", `a mount at /data is there twice`},
		"a mount of nothing":       {"name: small\n", "name: small\n  volumeMounts: [{name: dat, mountPath: /data}]\n", `volumeMounts: there is no volume "dat"; there are "config"`},
		"more than the limit":      {"name: small\n", "name: small\n  resources: {requests: {cpu: 2}, limits: {cpu: 1500m}}\n", `resources: the request of cpu is 2, the limit 1500m`},
		"a node that is a text":    {"- {name: coord", "- coord\n- {name: coord", "nodes[0]: is a text; want a node"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := town(t, replaced(t, tt.old, tt.new))
			plan := theApp().Plan(o, buildertest.NewView(theTime))
			assert.Empty(t, plan.Children)
			assert.Empty(t, plan.Prune)
			require.NotNil(t, plan.Status)
			for _, kind := range []string{events.ConditionReady, events.ConditionStalled} {
				c := meta.FindStatusCondition(plan.Status.Status.Conditions, kind)
				require.NotNil(t, c)
				assert.Equal(t, ReasonInvalidSpec, c.Reason)
				assert.Contains(t, c.Message, tt.want)
				assert.EqualValues(t, 1, c.ObservedGeneration)
			}
			assert.Equal(t, metav1.ConditionFalse, meta.FindStatusCondition(plan.Status.Status.Conditions, events.ConditionReady).Status)
			assert.Equal(t, v1beta1.ClusterInvalid, plan.Status.Status.Phase)
			require.Len(t, plan.Events, 1)
			assert.Equal(t, ReasonInvalidSpec, plan.Events[0].Reason)
			again := theApp().Plan(plan.Status, buildertest.NewView(theTime.Add(1)))
			assert.Nil(t, again.Status)
			assert.Empty(t, again.Events)
		})
	}
}

// Files are in a map, which has no order: the message has one, or each pass would write another status.
func TestProblemsAreInOrder(t *testing.T) {
	o := town(t, replaced(t, `log.xml: "<log/>"`, `"c/": c, "a/": a, "d/": d, "b/": b`))
	first := theApp().Plan(o, buildertest.NewView(theTime)).Events[0].Note
	assert.Regexp(t, `"a/".*"b/".*"c/"`, first)
	for range 50 {
		assert.Equal(t, first, theApp().Plan(o, buildertest.NewView(theTime)).Events[0].Note)
	}
}

// The name of a Service has no dots, that of a cluster may: nothing is half made of one.
func TestAClusterWithADotInItsName(t *testing.T) {
	o := town(t, theSpec)
	o.Name = "my.town"
	plan := theApp().Plan(o, buildertest.NewView(theTime))
	assert.Empty(t, plan.Children)
	assert.Contains(t, plan.Events[0].Note, `nodes[1] "az1": a Service can't be called "my.town-az1"; want a cluster whose name has no dot`)
	assert.NotContains(t, plan.Events[0].Note, "coord", "which has none")
}

func TestAMountOfAStatefulSetsStorage(t *testing.T) {
	spec := replaced(t, "podDisruptionBudget", "volumeMounts: [{name: data, mountPath: /more}]\n  podDisruptionBudget")
	assert.Empty(t, theApp().Plan(town(t, spec), buildertest.NewView(theTime)).Events)
}

func TestNoNodes(t *testing.T) {
	plan := theApp().Plan(town(t, "{}"), buildertest.NewView(theTime))
	assert.Contains(t, plan.Events[0].Note, "nodes is empty; want at least one")
	assert.Empty(t, plan.Prune, "nothing is deleted")
}

func TestMistakesOfTheApplication(t *testing.T) {
	app := theApp()
	app.Check = func(o *Town, nodes []Node) []string {
		assert.Len(t, nodes, 4)
		return []string{"mayor is empty"}
	}
	assert.Equal(t, "mayor is empty", app.Plan(town(t, theSpec), buildertest.NewView(theTime)).Events[0].Note)
}

func TestSummaryIsBounded(t *testing.T) {
	var problems []string
	for range 1000 {
		problems = append(problems, strings.Repeat("x", 1000))
	}
	text := summary(problems)
	assert.Less(t, len(text), 2048)
	assert.Contains(t, text, "; and 995 more")
	assert.Equal(t, "a; b", summary([]string{"a", "b"}))
}

// TestAnySpecIsValidOrRefused draws specs with mistakes: one without is rendered, one with is refused, none panics.
func TestAnySpecIsValidOrRefused(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "c", "", "a-headless", "A"})
	types := rapid.SampledFrom([]string{"x", "y", "z", ""})
	kinds := rapid.SampledFrom([]string{"", "Statefulset", "statefulset", "DEPLOYMENT", "DaemonSet", "Job"})
	rapid.Check(t, func(t *rapid.T) {
		o := town(t, "{}")
		o.Spec.DeploymentOrder = rapid.SliceOfN(types, 0, 3).Draw(t, "order")
		for range rapid.IntRange(0, 3).Draw(t, "groups") {
			o.Spec.K8sConfigGroup = append(o.Spec.K8sConfigGroup, v1beta1.K8sConfigGroup{Name: names.Draw(t, "group"), Image: "i"})
		}
		for range rapid.IntRange(0, 4).Draw(t, "nodes") {
			o.Spec.Nodes = append(o.Spec.Nodes, v1beta1.Node{
				Name: names.Draw(t, "name"), Kind: kinds.Draw(t, "kind"), NodeType: types.Draw(t, "type"), K8sConfigGroup: names.Draw(t, "of group"),
			})
		}
		r := theApp().render(o)
		if len(r.problems) > 0 {
			return
		}
		require.Len(t, r.nodes, len(o.Spec.Nodes))
		seen := map[string]bool{}
		for _, n := range r.nodes {
			require.Contains(t, r.order, n.node.NodeType)
			require.False(t, seen[n.node.Name])
			seen[n.node.Name] = true
		}
		for _, name := range r.order {
			require.True(t, rapidContains(o.Spec.Nodes, name), "a type of the order that has no node")
		}
	})
}

func rapidContains(nodes v1beta1.Nodes, nodeType string) bool {
	for _, n := range nodes {
		if n.NodeType == nodeType {
			return true
		}
	}
	return false
}
