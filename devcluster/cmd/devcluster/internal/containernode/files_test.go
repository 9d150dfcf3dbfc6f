package containernode

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kubeproxyv1alpha1 "k8s.io/kube-proxy/config/v1alpha1"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	"sigs.k8s.io/yaml"
)

var second = Config{Name: "node-2", Number: 2, Nodes: 3, Dir: "/c/nodes/node-2", Binaries: "/b", Cgroup: "devcluster-1"}

func TestKubeletConfigHasOnlyKnownFields(t *testing.T) {
	var config kubeletv1beta1.KubeletConfiguration
	require.NoError(t, yaml.UnmarshalStrict([]byte(second.Files()[kubeletFile]), &config))
	assert.Equal(t, "10.89.0.12", config.Address)
	assert.Equal(t, "/devcluster-1/node-2", config.CgroupRoot)
	assert.Equal(t, "0%", config.EvictionHard["nodefs.available"])
	assert.False(t, *config.FailCgroupV1)
}

func TestKubeProxyConfigHasOnlyKnownFields(t *testing.T) {
	var config kubeproxyv1alpha1.KubeProxyConfiguration
	require.NoError(t, yaml.UnmarshalStrict([]byte(second.Files()[kubeProxyFile]), &config))
	assert.Equal(t, "node-2", config.HostnameOverride)
	assert.Zero(t, *config.Conntrack.MaxPerCore, "the limits of the machine are left alone")
}

func TestPodsOfEachNodeHaveAddressesOfTheirOwn(t *testing.T) {
	var config struct {
		Plugins []struct {
			Type string
			IPAM struct{ Ranges [][]struct{ Subnet string } }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(second.Files()[cniFile]), &config))
	assert.Equal(t, "10.244.2.0/24", config.Plugins[0].IPAM.Ranges[0][0].Subnet)
	for _, plugin := range config.Plugins {
		assert.Contains(t, Programs(), plugin.Type)
	}
}
