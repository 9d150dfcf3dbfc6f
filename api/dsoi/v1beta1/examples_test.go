package v1beta1

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// The shapes that DSOI's documents and examples have had over time, each read as what it means.

func TestClusterOfTypesGo(t *testing.T) {
	spec := read(t, `
nodes: [{name: server, kind: Deployment, replicas: 1, nodeType: server, k8sConfigGroup: k8s-server, myAppConfigGroup: server-config}]
deploymentOrder: [server]
k8sConfigGroup:
- name: k8s-server
  image: app:v1
  service: {type: ClusterIP, ports: [{protocol: TCP, port: 80, targetPort: 8000}]}
  storageConfig:
  - {name: stage, mountPath: /staging, spec: {accessModes: [ReadWriteOnce], storageClassName: x, resources: {requests: {storage: 10Gi}}}}
myAppConfigGroup: [{name: server-config, data: "logging=true"}]
`)
	assert.Equal(t, Names{"server-config"}, spec.Nodes[0].AppConfigGroup)
	assert.Nil(t, spec.K8sConfigGroup[0].Malformed)
	assert.Equal(t, "logging=true", spec.MyAppConfigGroup[0].Data)
}

func TestClusterOfTheDocuments(t *testing.T) {
	spec := read(t, `
OrderForCreateUpdate: [broker, controller]
external: {zookeeper: {spec: {zkRuntimeProperties: config}}, metadata: {metaConnections: connection}}
nodeK8sConfigGroup: {broker-high-mem: {resources: {limits: {memory: 128Mi}}}}
nodeAppConfigGroup:
  common: {commonRuntimeProperties: app.config=run}
  broker: {runtimeProperties: app.config=broker, overrideProperties: app.override=newbroker}
nodes:
  broker:
  - {name: broker-highmem, kind: Statefulset, replicas: 2, nodeK8sConfigGroup: broker-high-mem, nodeAppConfigGroup: [common, broker]}
`)
	assert.Equal(t, []string{"broker", "controller"}, spec.OrderForCreateUpdate)
	assert.Len(t, spec.External, 2)
	assert.Equal(t, "128Mi", spec.NodeK8sConfigGroup[0].Resources.Limits.Memory().String())
	assert.Equal(t, Nodes{{
		Name: "broker-highmem", Kind: "Statefulset", NodeType: "broker", Replicas: ptr.To[int32](2), K8sConfigGroup: "broker-high-mem", AppConfigGroup: Names{"common", "broker"},
	}}, spec.Nodes)
	assert.Equal(t, "app.override=newbroker", spec.NodeAppConfigGroup[0].OverrideProperties)
}

func TestScalingOfTheExamples(t *testing.T) {
	var spec ScalingSpec
	require.NoError(t, yaml.UnmarshalStrict([]byte(`
external: {spec: {url: http://getmymetrics.com}}
autoscaling:
- {name: broker-high-mem, spec: {minReplica: null, maxReplica: null, threshold: null, coolDown: null}}
- {name: broker-low-mem, spec: {enable: false, min: 1, max: 3, threshold: 80, coolDown: 30}}
- {name: server, spec: {minReplica: 1, maxReplica: 3, threshold: "0.5", coolDown: 1m}}
`), &spec))
	assert.Equal(t, "http://getmymetrics.com", spec.External.Spec.URL)
	require.Len(t, spec.Autoscaling, 3)
	assert.Nil(t, spec.Autoscaling[0].Spec.Enable, "which is on")
	assert.Equal(t, ptr.To[int32](3), spec.Autoscaling[1].Spec.Max)
	for i, want := range []time.Duration{7 * time.Minute, 30 * time.Second, time.Minute} {
		got, err := spec.Autoscaling[i].Spec.CoolDown.Parse(7 * time.Minute)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}
