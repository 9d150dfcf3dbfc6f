package dsoi

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder/buildertest"
)

// nodesWith returns a town of nodes that have one Kubernetes group and name some config groups.
func nodesWith(t *testing.T, nodes int, groups ...string) *Town {
	o := town(t, "{}")
	o.Spec.DeploymentOrder = []string{"x"}
	o.Spec.K8sConfigGroup = v1beta1.K8sConfigGroups{{Name: "k", Image: "i"}}
	for i := range nodes {
		o.Spec.Nodes = append(o.Spec.Nodes, v1beta1.Node{Name: fmt.Sprint("n", i), NodeType: "x", K8sConfigGroup: "k", AppConfigGroup: groups})
	}
	return o
}

// allocated returns how much memory a function allocates, in MB.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) >> 20
}

// Whoever may create a cluster can't end the operator by its memory: what a spec of 1.5 MB would multiply is refused before.
func TestASpecCostsBoundedMemory(t *testing.T) {
	text := func(bytes int) string { return strings.Repeat("x", bytes) }
	many := func(n int, name func(i int) string) (names []string) {
		for i := range n {
			names = append(names, name(i))
		}
		return names
	}
	tests := map[string]struct {
		town *Town
		with func(o *Town)
		want string
	}{
		"a group named again and again": {
			nodesWith(t, 1, many(1000, func(int) string { return "g" })...),
			func(o *Town) { o.Spec.AppConfigGroup = v1beta1.AppConfigGroups{{Name: "g", Data: text(600_000)}} },
			`nodes[0] "n0": appConfigGroup names "g" more than once; want each group once`,
		},
		"more than a ConfigMap": {
			nodesWith(t, 1, "a", "b"),
			func(o *Town) {
				o.Spec.AppConfigGroup = v1beta1.AppConfigGroups{{Name: "a", Data: text(600_000)}, {Name: "b", Files: map[string]string{"f": text(600_000)}}}
			},
			`node "n0": its configuration has 1200001 bytes; want at most 1048576, as in a ConfigMap`,
		},
		"a large group of many nodes": {
			nodesWith(t, 1000),
			func(o *Town) {
				o.Spec.AppConfigGroup = v1beta1.AppConfigGroups{{Name: "g", Scope: v1beta1.ScopeCommon, OverrideProperties: "a=" + text(1_000_000)}}
			},
			`nodes: the configuration of the first 17 takes 17004386 bytes; want at most 16777216 for all nodes, each with a copy of its groups`,
		},
		"external dependencies of many nodes": {
			nodesWith(t, 1000),
			func(o *Town) {
				o.Spec.External = v1beta1.Externals{"e": {Spec: []byte(`{"a":"` + text(1_000_000) + `"}`)}}
			},
			"nodes: the configuration of the first 17 takes",
		},
		"many groups of many nodes": {
			nodesWith(t, 1000),
			func(o *Town) {
				for i := range 1000 {
					o.Spec.AppConfigGroup = append(o.Spec.AppConfigGroup, v1beta1.AppConfigGroup{Name: fmt.Sprint("g", i), Scope: v1beta1.ScopeCommon})
				}
			},
			"nodes: the configuration of the first",
		},
		"a large Kubernetes group of many nodes": {
			nodesWith(t, 50),
			func(o *Town) { o.Spec.K8sConfigGroup[0].Tolerations = make([]corev1.Toleration, 100_000) },
			"nodes: the k8sConfigGroup of the first 2 takes 134",
		},
		"many small files of many nodes": {
			nodesWith(t, 33, "g"),
			func(o *Town) {
				files := map[string]string{}
				for i := range 100_000 {
					files[strconv.Itoa(i)] = ""
				}
				o.Spec.AppConfigGroup = v1beta1.AppConfigGroups{{Name: "g", Files: files}}
			},
			"nodes: the configuration of the first",
		},
		"many small external dependencies of many nodes": {
			nodesWith(t, 6),
			func(o *Town) {
				o.Spec.External = v1beta1.Externals{}
				for i := range 100_000 {
					o.Spec.External[strconv.Itoa(i)] = v1beta1.External{Spec: []byte("{}")}
				}
			},
			"nodes: the configuration of the first",
		},
		"many small volumes of many nodes": {
			nodesWith(t, 12),
			func(o *Town) {
				for i := range 20_000 {
					o.Spec.K8sConfigGroup[0].Volumes = append(o.Spec.K8sConfigGroup[0].Volumes, corev1.Volume{Name: fmt.Sprint("v", i)})
				}
			},
			"nodes: the k8sConfigGroup of the first",
		},
		"groups that there aren't": {
			nodesWith(t, 1, many(100_000, func(i int) string { return fmt.Sprint("a", i) })...),
			func(o *Town) {
				for i := range 1000 {
					o.Spec.AppConfigGroup = append(o.Spec.AppConfigGroup, v1beta1.AppConfigGroup{Name: fmt.Sprint("g", i)})
				}
			},
			`nodes[0] "n0": appConfigGroup: there is no group "a0", "a1"`,
		},
		"mounts of volumes that there aren't": {
			nodesWith(t, 1),
			func(o *Town) {
				for i := range 3000 {
					o.Spec.K8sConfigGroup[0].Volumes = append(o.Spec.K8sConfigGroup[0].Volumes, corev1.Volume{Name: fmt.Sprint("v", i)})
					o.Spec.K8sConfigGroup[0].VolumeMounts = append(o.Spec.K8sConfigGroup[0].VolumeMounts, corev1.VolumeMount{Name: "x", MountPath: fmt.Sprint("/", i)})
				}
			},
			`volumeMounts: there is no volume "x"`,
		},
		"a long order": {
			nodesWith(t, 1),
			func(o *Town) { o.Spec.DeploymentOrder = many(20_000, func(i int) string { return fmt.Sprint("t", i) }) },
			"deploymentOrder has 20000 node types; want at most 1000",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.with(tt.town)
			var note string
			assert.Less(t, allocated(func() {
				plan := theApp().Plan(tt.town, buildertest.NewView(theTime))
				require.Len(t, plan.Events, 1)
				note = plan.Events[0].Note
			}), uint64(100))
			assert.Contains(t, note, tt.want)
		})
	}
}

// A group with many mistakes can be that of many nodes.
func TestMistakesAreBounded(t *testing.T) {
	o := nodesWith(t, 200)
	o.Spec.K8sConfigGroup[0].Volumes = make([]corev1.Volume, 1000)
	assert.Len(t, theApp().render(o).problems, maxProblems)
}

// A line that goes on for ever costs as much as it is long.
func TestALongLineOfProperties(t *testing.T) {
	assert.Less(t, allocated(func() {
		_, err := parseProperties("a=1" + strings.Repeat("\\\n", 50_000))
		require.NoError(t, err)
	}), uint64(10))
}

// What counts is the ConfigMap of a node, as for the API server: without the files that later groups replace, with those that the
// application adds.
func TestTheConfigurationOfANodeIsWhatItsConfigMapHas(t *testing.T) {
	o := nodesWith(t, 1, "a", "b")
	o.Spec.AppConfigGroup = v1beta1.AppConfigGroups{
		{Name: "a", Files: map[string]string{"f": strings.Repeat("a", 600_000)}},
		{Name: "b", Files: map[string]string{"f": strings.Repeat("b", 600_000)}},
	}
	app := theApp()
	plan := app.Plan(o, buildertest.NewView(theTime))
	assert.Empty(t, plan.Events)
	require.Len(t, planned[*corev1.ConfigMap](plan), 1)
	assert.Len(t, planned[*corev1.ConfigMap](plan)[0].Data["f"], 600_000)

	app = theApp()
	app.Files = func(_ *Town, _ Node, files map[string]string) { files["g"] = strings.Repeat("g", 600_000) }
	plan = app.Plan(o, buildertest.NewView(theTime))
	require.Len(t, plan.Events, 1)
	assert.Contains(t, plan.Events[0].Note, `node "n0": its configuration has 1200000 bytes; want at most 1048576, as in a ConfigMap`)
}

func TestAClusterOfManyNodes(t *testing.T) {
	o := nodesWith(t, 1000, "g")
	o.Spec.AppConfigGroup = v1beta1.AppConfigGroups{{Name: "g", Data: strings.Repeat("x", 16_000)}}
	plan := theApp().Plan(o, buildertest.NewView(theTime))
	assert.Empty(t, plan.Events)
	assert.Len(t, planned[*corev1.ConfigMap](plan), 1000)
}
