package v1beta1

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

func read(t require.TestingT, text string) ClusterSpec {
	var spec ClusterSpec
	require.NoError(t, yaml.Unmarshal([]byte(text), &spec))
	return spec
}

func TestListsAndMapsAreTheSame(t *testing.T) {
	list := read(t, `
k8sConfigGroup: [{name: big, image: i, port: [{containerPort: 1}]}, {name: small, image: i, volumeMount: [{name: v, mountPath: /v}]}]
appConfigGroup: [{name: common, data: a=b}]
nodes:
- {name: az1, nodeType: broker, kind: Statefulset, replicas: 2, k8sConfig: big, pinotNodeConfig: common}
- {name: az2, type: broker, nodeK8sConfigGroup: small, nodeAppConfigGroup: [common, common]}
- {name: c, nodeType: controller, nodeConfigGroup: small}
`)
	asMap := read(t, `
k8sConfigGroup: {small: {image: i, volumeMounts: [{name: v, mountPath: /v}]}, big: {name: big, image: i, ports: [{containerPort: 1}]}}
appConfigGroup: {common: {data: a=b}}
nodes:
  controller: [{name: c, k8sConfigGroup: small}]
  broker:
  - {name: az1, kind: Statefulset, replicas: 2, k8sConfigGroup: big, appConfigGroup: common}
  - {name: az2, nodeType: broker, k8sConfigGroup: small, appConfigGroup: [common, common]}
`)
	assert.Equal(t, asMap, list)
	assert.Equal(t, Nodes{
		{Name: "az1", NodeType: "broker", Kind: "Statefulset", Replicas: ptr.To[int32](2), K8sConfigGroup: "big", AppConfigGroup: Names{"common"}},
		{Name: "az2", NodeType: "broker", K8sConfigGroup: "small", AppConfigGroup: Names{"common", "common"}},
		{Name: "c", NodeType: "controller", K8sConfigGroup: "small"},
	}, list.Nodes)
}

func TestWhatIsMalformedIsToldAndKept(t *testing.T) {
	tests := map[string]struct{ spec, why string }{
		"groups that are a text":     {`k8sConfigGroup: big`, "is a text; want a list of groups, or a map from name to group"},
		"a group that is a text":     {`k8sConfigGroup: [big]`, "is a text; want a group"},
		"a group that is null":       {`k8sConfigGroup: {big: null}`, "is null; want a group"},
		"an unknown field":           {`k8sConfigGroup: [{name: big, imagee: i}]`, `unknown field "imagee"`},
		"an unknown field deep down": {`k8sConfigGroup: [{name: big, env: [{name: a, valu: b}]}]`, `unknown field "env[0].valu"`},
		"a field of another type":    {`k8sConfigGroup: [{name: big, image: {}}]`, "cannot unmarshal object into Go struct field"},
		"a quantity that is none":    {`k8sConfigGroup: [{name: big, resources: {limits: {cpu: lots}}}]`, "quantities must match"},
		"two names of a field":       {`k8sConfigGroup: [{name: big, port: [], ports: []}]`, "port and ports are two names of one field; want one of them"},
		"a name and another key":     {`k8sConfigGroup: {big: {name: small}}`, `its name is "small", under the key "big"; want them to be the same, or no name`},
		"app groups that are a bool": {`appConfigGroup: true`, "is a number or a truth value; want a list of groups"},
		"app data that isn't text":   {`appConfigGroup: [{name: a, data: {}}]`, "cannot unmarshal object"},
		"nodes that are a number":    {`nodes: 3`, "is a number or a truth value; want a list of nodes, or a map from node type to lists of nodes"},
		"a node that is a list":      {`nodes: [[]]`, "is a list; want a node"},
		"nodes of a type as a map":   {`nodes: {broker: {name: a}}`, "broker is an object; want a list of nodes"},
		"a node of another type":     {`nodes: {broker: [{name: a, nodeType: server}]}`, `nodeType is "server" in a list of the node type "broker"`},
		"replicas that are a text":   {`nodes: [{name: a, replicas: two}]`, "cannot unmarshal string"},
		"too many replicas":          {`nodes: [{name: a, replicas: 99999999999}]`, "cannot unmarshal number"},
		"two app config groups":      {`nodes: [{name: a, appConfigGroup: x, pinotNodeConfig: y}]`, "names its application config group twice"},
		"an app config of numbers":   {`nodes: [{name: a, appConfigGroup: [1]}]`, "want a name or a list of names"},
		"an unknown node field":      {`nodes: [{name: a, image: i}]`, `unknown field "image"`},
		"external as a list":         {`external: [zookeeper]`, "is a list; want a map from name to spec"},
		"an external that is a text": {`external: {zookeeper: "zk:2181"}`, "is a text; want an object"},
		"external beside its spec":   {`external: {zookeeper: {spec: {a: b}, c: d}}`, `has "c" beside spec`},
		"external spec as a text":    {`external: {zookeeper: {spec: x}}`, "spec is a text; want an object"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := read(t, tt.spec)
			var all []*Malformed
			for _, g := range spec.K8sConfigGroup {
				all = append(all, g.Malformed)
			}
			for _, g := range spec.AppConfigGroup {
				all = append(all, g.Malformed)
			}
			for _, n := range spec.Nodes {
				all = append(all, n.Malformed)
			}
			for _, e := range spec.External {
				all = append(all, e.Malformed)
			}
			require.Len(t, all, 1)
			require.NotNil(t, all[0])
			assert.Contains(t, all[0].Why, tt.why)
			assert.NotNil(t, all[0].Field)

			again, err := json.Marshal(spec)
			require.NoError(t, err)
			assert.Equal(t, spec, read(t, string(again)), "it is written as it was read")
		})
	}
}

func TestAFieldThatIsTheApplicationsOwn(t *testing.T) {
	spec := read(t, `appConfigGroup: [{name: controller, java_opts: -Xmx1G, data: a=b, env: {P_ADDR: "1"}}]`)
	group := spec.AppConfigGroup[0]
	require.Nil(t, group.Malformed)
	assert.Equal(t, "a=b", group.Data)
	assert.JSONEq(t, `"-Xmx1G"`, string(group.Other["java_opts"]))
	assert.JSONEq(t, `{"P_ADDR": "1"}`, string(group.Other["env"]))
	again, err := json.Marshal(spec)
	require.NoError(t, err)
	assert.Equal(t, spec, read(t, string(again)))
}

func TestExternal(t *testing.T) {
	spec := read(t, `external: {zookeeper: {spec: {zkAddress: "zk:2181"}}, metadataStore: {host: db}}`)
	var zk struct{ ZkAddress string }
	require.NoError(t, spec.External["zookeeper"].Decode(&struct {
		ZkAddress *string `json:"zkAddress"`
	}{&zk.ZkAddress}))
	assert.Equal(t, "zk:2181", zk.ZkAddress)
	assert.JSONEq(t, `{"host": "db"}`, string(spec.External["metadataStore"].Spec))
	assert.ErrorContains(t, spec.External["metadataStore"].Decode(&struct{}{}), "host")
}

// TestReadingNeverFails holds what keeps one object from hiding all others of its kind from an operator.
func TestReadingNeverFails(t *testing.T) {
	scalar := rapid.Custom(func(t *rapid.T) any {
		return rapid.OneOf(rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any]("x"), rapid.Just[any](1e30), rapid.Just[any](3)).Draw(t, "scalar")
	})
	names := rapid.SampledFrom([]string{
		"name", "spec", "image", "port", "ports", "env", "nodeType", "type", "replicas", "k8sConfig", "k8sConfigGroup", "appConfigGroup",
		"xNodeConfig", "files", "data", "service", "storageConfig", "resources", "podMetadata", "a", "",
	})
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		return rapid.Custom(func(t *rapid.T) any {
			switch kind := rapid.IntRange(0, 2).Draw(t, "kind"); {
			case kind == 1 && depth > 0:
				return rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "list")
			case kind == 2 && depth > 0:
				return rapid.MapOfN(names, value(depth-1), 0, 4).Draw(t, "map")
			default:
				return scalar.Draw(t, "scalar")
			}
		})
	}
	fields := rapid.SampledFrom([]string{
		"external", "k8sConfigGroup", "k8sConfig", "nodeK8sConfigGroup", "appConfigGroup", "nodeAppConfigGroup", "myAppConfigGroup", "nodes", "upgradeTimeout",
	})
	rapid.Check(t, func(t *rapid.T) {
		data, err := json.Marshal(rapid.MapOfN(fields, value(4), 1, 4).Draw(t, "spec"))
		require.NoError(t, err)
		var spec, again ClusterSpec
		require.NoError(t, json.Unmarshal(data, &spec), string(data))
		written, err := json.Marshal(spec)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(written, &again))
		rewritten, err := json.Marshal(again)
		require.NoError(t, err)
		require.JSONEq(t, string(written), string(rewritten), "what was read is what is written")
		require.Equal(t, spec, *spec.DeepCopy())
	})
}
