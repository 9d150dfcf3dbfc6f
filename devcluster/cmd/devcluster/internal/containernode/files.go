package containernode

import (
	"fmt"
	"path"
)

// Names of the credentials that the node's programs expect among its files, beside those that Files returns.
const (
	CAFile              = "ca.crt"
	ServingCert         = "kubelet.crt"
	ServingKey          = "kubelet.key"
	KubeletKubeconfig   = "kubelet.kubeconfig"
	KubeProxyKubeconfig = "kube-proxy.kubeconfig"
)

const (
	containerdFile = "containerd.toml"
	kubeletFile    = "kubelet.yaml"
	kubeProxyFile  = "kube-proxy.yaml"
	cniFile        = "cni/10-bridge.conflist"
	resolvConfFile = "resolv.conf"
)

// Files are the configuration files of the node's programs, by their path below the node's etc.
func (c Config) Files() map[string]string {
	return map[string]string{
		containerdFile: containerdConfig,
		kubeletFile:    c.kubeletConfig(),
		kubeProxyFile:  c.kubeProxyConfig(),
		cniFile:        c.cniConfig(),
		resolvConfFile: "nameserver " + Gateway + "\n",
	}
}

// Without CAP_SYS_RESOURCE, as in many containers, no process may become harder to kill than containerd is.
const containerdConfig = `version = 3
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.nri.v1.nri"]

[grpc]
  address = "` + containerdSocket + `"

[plugins."io.containerd.cri.v1.images"]
  snapshotter = "overlayfs"
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = "` + pauseImage + `"

[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["` + insideBin + `"]
    conf_dir = "` + insideCNI + `"
  [plugins."io.containerd.cri.v1.runtime".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
        BinaryName = "` + insideBin + `/runc"
        SystemdCgroup = false
`

// The disk belongs to the machine, whose user knows how full it may be: nothing is evicted or collected for it.
func (c Config) kubeletConfig() string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: %q
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: %q}
authorization: {mode: Webhook}
tlsCertFile: %q
tlsPrivateKeyFile: %q
containerRuntimeEndpoint: "unix://%s"
cgroupDriver: cgroupfs
cgroupRoot: %q
failCgroupV1: false
failSwapOn: false
clusterDNS: [%q]
clusterDomain: cluster.local
resolvConf: %q
volumePluginDir: /var/lib/kubelet/volumeplugins
serializeImagePulls: false
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: "0%%", nodefs.available: "0%%", nodefs.inodesFree: "0%%", `+
		`imagefs.available: "0%%", imagefs.inodesFree: "0%%"}
oomScoreAdj: 0
nodeStatusUpdateFrequency: 5s
`, Address(c.Number), path.Join(insideEtc, CAFile), path.Join(insideEtc, ServingCert), path.Join(insideEtc, ServingKey),
		containerdSocket, "/"+path.Join(c.Cgroup, c.Name), DNSAddress, insideResolvConf)
}

// The limits of connection tracking belong to the machine: kube-proxy leaves them alone.
func (c Config) kubeProxyConfig() string {
	return fmt.Sprintf(`apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
hostnameOverride: %q
clusterCIDR: %q
clientConnection: {kubeconfig: %q}
healthzBindAddress: "127.0.0.1:10256"
metricsBindAddress: "127.0.0.1:10249"
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
oomScoreAdj: 0
`, c.Name, podNetwork, path.Join(insideEtc, KubeProxyKubeconfig))
}

func (c Config) cniConfig() string {
	return fmt.Sprintf(`{
  "cniVersion": "1.0.0",
  "name": "pods",
  "plugins": [
    {
      "type": "bridge",
      "bridge": "pods",
      "isGateway": true,
      "hairpinMode": true,
      "ipam": {"type": "host-local", "ranges": [[{"subnet": %q}]], "routes": [{"dst": "0.0.0.0/0"}]}
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`, podCIDR(c.Number))
}
