package supervisor

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/component"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/containernode"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/pki"
)

// containerNodes are the nodes that run containers.
func (s *Supervisor) containerNodes() []containernode.Config {
	var nodes []containernode.Config
	for i, name := range s.settings.Nodes {
		nodes = append(nodes, containernode.Config{
			Name:     name,
			Number:   i + 1,
			Nodes:    len(s.settings.Nodes),
			Dir:      s.dir.Node(name),
			Binaries: s.settings.NodeBinaries,
			Cgroup:   s.dir.Cgroup(),
		})
	}
	return nodes
}

// prepareContainers writes what the nodes that run containers, and CoreDNS, read from files.
func (s *Supervisor) prepareContainers() error {
	for _, node := range s.containerNodes() {
		if err := s.prepareContainerNode(node); err != nil {
			return fmt.Errorf("prepare node %s: %w", node.Name, err)
		}
	}
	if err := s.entry("coredns").Write(s.dir.Credentials("coredns.kubeconfig")); err != nil {
		return err
	}
	return os.WriteFile(s.dir.Credentials(corefile), []byte(corefileText(s.dir.Credentials("coredns.kubeconfig"))), 0o600)
}

func (s *Supervisor) prepareContainerNode(node containernode.Config) error {
	if err := pki.EnsureNode(s.dir, node.Name, containernode.Address(node.Number)); err != nil {
		return err
	}
	for name, content := range node.Files() {
		if err := os.MkdirAll(filepath.Dir(node.Etc(name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(node.Etc(name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	for name, from := range map[string]string{
		containernode.CAFile:      "ca.crt",
		containernode.ServingCert: "node-" + node.Name + ".crt",
		containernode.ServingKey:  "node-" + node.Name + ".key",
	} {
		content, err := os.ReadFile(s.dir.PKI(from))
		if err != nil {
			return err
		}
		if err := os.WriteFile(node.Etc(name), content, 0o600); err != nil {
			return err
		}
	}
	server := fmt.Sprintf("https://%s:%d", containernode.Gateway, s.settings.Ports[component.APIServer])
	if err := s.entryAt("node-"+node.Name, server).Write(node.Etc(containernode.KubeletKubeconfig)); err != nil {
		return err
	}
	return s.entryAt("kube-proxy", server).Write(node.Etc(containernode.KubeProxyKubeconfig))
}

func (s *Supervisor) containerSpecs() []spec {
	specs := []spec{{
		name:     component.CoreDNS,
		program:  component.Program,
		endpoint: "dns://" + containernode.Gateway,
		args:     []string{filepath.Join(s.settings.NodeBinaries, "coredns"), "-conf", s.dir.Credentials(corefile)},
	}}
	for _, node := range s.containerNodes() {
		specs = append(specs, spec{
			name:     component.NodeComponent(node.Name),
			program:  component.ContainerNode,
			endpoint: containernode.Address(node.Number),
			args:     component.NodeFlags(node),
		})
	}
	return specs
}

const (
	corefile     = "Corefile"
	coreDNSReady = "http://127.0.0.1:8181/ready"
)

// corefileText is a CoreDNS that knows the cluster's names and no other. Answers are kept for a second only: who asks
// for a pod before it is there shall not have to wait for it long after.
func corefileText(kubeconfig string) string {
	return fmt.Sprintf(`cluster.local in-addr.arpa ip6.arpa {
	bind %[1]s
	errors
	ready 127.0.0.1:8181
	kubernetes {
		kubeconfig %[2]q
		pods insecure
		ttl 1
	}
	cache 1 {
		denial 9984 1
	}
}
. {
	bind %[1]s
	errors
	template ANY ANY {
		rcode NXDOMAIN
	}
}
`, containernode.Gateway, kubeconfig)
}
