package supervisor

import (
	"context"
	"fmt"
	"strings"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/component"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/containernode"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/fakenode"
)

// LocalLabel marks the local nodes, whose pods are processes of this machine.
const LocalLabel = "devcluster.armature.dev/local"

// NodeLabel is the label of the nodes that the settings name.
func NodeLabel(settings *clusterdir.Settings) string {
	if settings.Containers {
		return containernode.Label
	}
	return LocalLabel
}

func (s *Supervisor) localNodes() spec {
	return spec{
		name:     component.LocalNodes,
		endpoint: count(len(s.settings.Nodes), "node"),
		args: []string{
			"--kubeconfig=" + s.dir.Credentials("local-nodes.kubeconfig"),
			"--names=" + strings.Join(s.settings.Nodes, ","),
			"--labels=" + LocalLabel + "=true",
			"--dir=" + s.dir.Nodes(),
			"--ca-file=" + s.dir.PKI("ca.crt"),
			"--ca-key-file=" + s.dir.PKI("ca.key"),
		},
	}
}

func (s *Supervisor) fakeNodes() spec {
	return spec{
		name:     component.FakeNodes,
		endpoint: count(s.settings.FakeNodes, "node"),
		args: []string{
			"--kubeconfig=" + s.dir.Credentials("fake-nodes.kubeconfig"),
			"--config=" + s.dir.Credentials(fakenode.ConfigFile),
		},
		// Else kwok reads a file in the user's home directory as well.
		env: []string{"KWOK_WORKDIR=" + s.dir.Credentials("kwok")},
		before: func() error {
			ctx, cancel := context.WithTimeout(context.Background(), tryTimeout)
			defer cancel()
			return s.releaseLeases(ctx)
		},
	}
}

// nodeGraceSeconds is how long a silent node counts as ready. Thousands of fake nodes renew their leases so
// rarely that the renewals cost little; the grace has to match.
func (s *Supervisor) nodeGraceSeconds() int {
	if s.settings.FakeNodes > 0 {
		return 2 * fakenode.LeaseSeconds
	}
	return 50
}

func nodesText(settings *clusterdir.Settings) string {
	text := count(len(settings.Nodes), nodeKind(settings)+" node")
	if settings.FakeNodes > 0 {
		text += ", " + count(settings.FakeNodes, "fake node")
	}
	return text
}

func nodeKind(settings *clusterdir.Settings) string {
	if settings.Containers {
		return "container"
	}
	return "local"
}

func count(n int, what string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
