package containernode

import (
	"fmt"
	"path/filepath"
)

// Gateway is the address of the control plane and of CoreDNS: that of the bridge.
const Gateway = "10.89.0.1"

// DNSAddress is the cluster IP of the Service kube-dns.
const DNSAddress = "10.96.0.10"

const (
	gatewayCIDR = Gateway + "/24"
	podNetwork  = "10.244.0.0/16"
	serviceCIDR = "10.96.0.0/16"
)

// Config is a node.
type Config struct {
	// Name is the name of the Node.
	Name string
	// Number counts the nodes of the cluster from 1. The node's addresses follow from it.
	Number int
	// Nodes is how many nodes there are.
	Nodes int
	// Dir is where the node has its files: etc, which Files describes, and var, which is its /var.
	Dir string
	// Binaries is the directory of the programs: see Programs.
	Binaries string
	// Cgroup is the parent of the cgroups of all nodes of the cluster, below the root of each hierarchy.
	Cgroup string
}

// Address is the node's address.
func Address(number int) string { return fmt.Sprintf("10.89.0.%d", 10+number) }

func podCIDR(number int) string { return fmt.Sprintf("10.244.%d.0/24", number) }

// hostLink is the end of the node's link at the bridge.
func hostLink(number int) string { return fmt.Sprintf("node%d", number) }

// Programs are the files of Config.Binaries, as `make nodes` builds them.
func Programs() []string {
	return []string{
		"containerd", "containerd-shim-runc-v2", "ctr", "runc", "kubelet", "kube-proxy", "coredns",
		"bridge", "host-local", "loopback", "portmap", PauseArchive,
	}
}

// Label marks these nodes.
const Label = "devcluster.armature.dev/container"

// PauseArchive is an OCI archive with the image that holds a pod's namespaces.
const PauseArchive = "pause.tar"

// pauseImage is the name of that image.
const pauseImage = "docker.io/devcluster/pause:1"

// Etc returns the path of one of the node's Files.
func (c Config) Etc(name string) string { return filepath.Join(c.Dir, "etc", name) }

const (
	// insideDir is a directory of the node's own /run.
	insideDir   = "/run/devcluster"
	insideEtc   = insideDir + "/etc"
	insideBin   = insideDir + "/bin"
	insideCNI   = insideEtc + "/cni"
	pidFileName = "init.pid"

	insideResolvConf = insideEtc + "/" + resolvConfFile
)
