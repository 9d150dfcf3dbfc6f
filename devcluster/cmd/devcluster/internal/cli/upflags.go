package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/fakenode"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localwebhook"
)

// maxLocalNodes bounds what is one process with a server for each node; a larger number is a typing error.
// Nodes that run containers have addresses for twice as many.
const maxLocalNodes = 100

// upFlags are the flags of `up` that describe the cluster.
type upFlags struct {
	set        *pflag.FlagSet
	nodes      int
	nodeNames  []string
	containers bool
	binaries   string
	fakeNodes  int
	gates      string
	apis       string
	audit      string
	webhook    string
	running    string
	apiServer  []string
	kubeconfig string
	timeout    time.Duration
}

func (f *upFlags) add(set *pflag.FlagSet) {
	f.set = set
	set.IntVar(&f.nodes, "nodes", 1, "nodes that run containers as local processes: node-1, node-2, ...")
	set.StringSliceVar(&f.nodeNames, "node-names", nil, "names of these nodes; implies --nodes")
	set.BoolVar(&f.containers, "containers", false, "let the nodes run real containers: "+
		"each a kubelet with a containerd, in a network without a way out; needs Linux and root")
	set.StringVar(&f.binaries, "node-binaries", "", "directory of the programs of --containers nodes (default nodes beside this program)")
	set.IntVar(&f.fakeNodes, "fake-nodes", 0, "simulated nodes: fake-0, fake-1, ...")
	set.StringVar(&f.gates, "feature-gates", "",
		"feature gates of the API server, the controller manager and the scheduler, such as A=true,B=false")
	set.StringVar(&f.apis, "runtime-config", "", "versions of APIs to serve or not, such as scheduling.k8s.io/v1beta1=true")
	set.StringVar(&f.audit, "audit-policy", "", "file with an audit policy (audit.k8s.io/v1): "+
		"the API server writes the requests that it names to DIR/logs/audit.log")
	set.StringVar(&f.webhook, "webhook-url", "", "let the API server call the webhooks of all Services here, such as https://localhost:9443; "+
		"their server gets its certificate from DIR/webhook (tls.crt, tls.key)")
	set.StringVar(&f.running, "controllers", "", "controllers that run, as kube-controller-manager's flag says it: "+
		"'*,-job-controller' is all but one (default those of Kubernetes)")
	set.StringArrayVar(&f.apiServer, "apiserver-flag", nil,
		"another flag of kube-apiserver, such as enable-admission-plugins=PodNodeSelector; repeat it for more")
	set.StringVar(&f.kubeconfig, "kubeconfig", "",
		"also put the cluster's context into this file, while the cluster is up (default DIR/kubeconfig only)")
	set.DurationVar(&f.timeout, "timeout", 2*time.Minute, "give up when the cluster is not ready by then")
}

// validate finds what is wrong with the flags by themselves.
func (f *upFlags) validate() error {
	if f.nodes < 0 || f.nodes > maxLocalNodes {
		return fmt.Errorf("--nodes %d: accepted are 0 to %d", f.nodes, maxLocalNodes)
	}
	if f.fakeNodes < 0 {
		return fmt.Errorf("--fake-nodes %d: accepted are 0 and more", f.fakeNodes)
	}
	if f.timeout <= 0 {
		return fmt.Errorf("--timeout %s: accepted are durations above 0, such as 90s", f.timeout)
	}
	if f.set.Changed("node-binaries") && f.binaries == "" {
		return fmt.Errorf("--node-binaries is empty")
	}
	if f.set.Changed("kubeconfig") && f.kubeconfig == "" {
		return fmt.Errorf("--kubeconfig is empty")
	}
	if f.webhook != "" {
		if _, err := localwebhook.ParseURL(f.webhook); err != nil {
			return fmt.Errorf("--webhook-url: %w", err)
		}
	}
	for _, flag := range f.apiServer {
		if flag == "" || strings.HasPrefix(flag, "-") {
			return fmt.Errorf("--apiserver-flag %q: accepted are names with values and without dashes, such as v=4", flag)
		}
	}
	if !f.set.Changed("node-names") {
		return nil
	}
	if f.set.Changed("nodes") && f.nodes != len(f.nodeNames) {
		return fmt.Errorf("--nodes %d contradicts --node-names, which lists %d (%s): leave out --nodes, or make them agree",
			f.nodes, len(f.nodeNames), strings.Join(f.nodeNames, ", "))
	}
	for i, name := range f.nodeNames {
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			return fmt.Errorf("--node-names: %q: %s", name, problems[0])
		}
		if fakenode.IsName(name) {
			return fmt.Errorf("--node-names: %q is the name of a fake node: choose another one", name)
		}
		if slices.Contains(f.nodeNames[:i], name) {
			return fmt.Errorf("--node-names: %q is listed twice", name)
		}
	}
	return nil
}

// localNodes are the names that the flags ask for.
func (f *upFlags) localNodes() []string {
	if f.set.Changed("node-names") {
		return f.nodeNames
	}
	names := []string{}
	for i := range f.nodes {
		names = append(names, fmt.Sprintf("node-%d", i+1))
	}
	return names
}

// applyTo changes the settings to what the flags ask for. What no flag mentions stays as it was at the last
// `up`; it returns what is different.
func (f *upFlags) applyTo(s *clusterdir.Settings, dir clusterdir.Dir) ([]string, error) {
	var changes []string
	if f.set.Changed("nodes") || f.set.Changed("node-names") {
		names := f.localNodes()
		// The count alone is satisfied by as many nodes of other names.
		agrees := slices.Equal(names, s.Nodes) || !f.set.Changed("node-names") && len(names) == len(s.Nodes)
		if !agrees {
			changes = append(changes, fmt.Sprintf("nodes are %s, not %s", listOf(s.Nodes), listOf(names)))
			s.Nodes = names
		}
	}
	if f.set.Changed("containers") && f.containers != s.Containers {
		if dir.IsCluster() {
			return nil, fmt.Errorf("--containers=%t: the cluster in %s was made with --containers=%t: "+
				"`devcluster delete` it first, or choose another --dir", f.containers, dir, s.Containers)
		}
		s.Containers = f.containers
	}
	if f.set.Changed("node-binaries") || s.Containers && s.NodeBinaries == "" {
		binaries, err := f.nodeBinaries()
		if err != nil {
			return nil, err
		}
		if binaries != s.NodeBinaries {
			changes = append(changes, fmt.Sprintf("nodes' programs are in %q, not %q", s.NodeBinaries, binaries))
			s.NodeBinaries = binaries
		}
	}
	if f.set.Changed("fake-nodes") && f.fakeNodes != s.FakeNodes {
		changes = append(changes, fmt.Sprintf("fake nodes are %d, not %d", s.FakeNodes, f.fakeNodes))
		s.FakeNodes = f.fakeNodes
	}
	if f.set.Changed("feature-gates") && f.gates != s.FeatureGates {
		changes = append(changes, fmt.Sprintf("feature gates are %q, not %q", s.FeatureGates, f.gates))
		s.FeatureGates = f.gates
	}
	if f.set.Changed("runtime-config") && f.apis != s.RuntimeConfig {
		changes = append(changes, fmt.Sprintf("the runtime config is %q, not %q", s.RuntimeConfig, f.apis))
		s.RuntimeConfig = f.apis
	}
	if f.set.Changed("audit-policy") {
		policy, err := f.auditPolicy()
		if err != nil {
			return nil, err
		}
		if policy != s.AuditPolicy {
			changes = append(changes, fmt.Sprintf("the audit policy is %q, not %q", s.AuditPolicy, policy))
			s.AuditPolicy = policy
		}
	}
	if f.set.Changed("controllers") && f.running != s.Controllers {
		changes = append(changes, fmt.Sprintf("controllers are %q, not %q", s.Controllers, f.running))
		s.Controllers = f.running
	}
	if f.set.Changed("apiserver-flag") && !slices.Equal(f.apiServer, s.APIServerFlags) {
		changes = append(changes, fmt.Sprintf("API server's further flags are %q, not %q", s.APIServerFlags, f.apiServer))
		s.APIServerFlags = f.apiServer
	}
	if f.set.Changed("webhook-url") && f.webhook != s.WebhookURL {
		changes = append(changes, fmt.Sprintf("webhook URL is %q, not %q", s.WebhookURL, f.webhook))
		s.WebhookURL = f.webhook
	}
	if s.WebhookURL != "" && s.Containers {
		return nil, fmt.Errorf("--webhook-url %s: with --containers the API server is in a network of its own, which doesn't reach it: "+
			"run the webhook's server in a pod behind its Service, or leave out --containers", s.WebhookURL)
	}
	if !f.set.Changed("kubeconfig") {
		s.Kubeconfigs = nil
		return changes, nil
	}
	file, err := filepath.Abs(f.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	// The one inside the directory is written anyway, and stays when the cluster is down.
	if file != dir.Kubeconfig() && !slices.Contains(s.Kubeconfigs, file) {
		changes = append(changes, fmt.Sprintf("context is not in %s", file))
		s.Kubeconfigs = []string{file}
	}
	return changes, nil
}

// auditPolicy is the policy's absolute path, or nothing where the flag is empty: no requests are written any more.
func (f *upFlags) auditPolicy() (string, error) {
	if f.audit == "" {
		return "", nil
	}
	if _, err := os.Stat(f.audit); err != nil {
		return "", fmt.Errorf("--audit-policy: %w", err)
	}
	return filepath.Abs(f.audit)
}

// nodeBinaries is the directory of the nodes' programs: where `make nodes` puts them, unless the flag names another.
func (f *upFlags) nodeBinaries() (string, error) {
	if f.binaries != "" {
		return filepath.Abs(f.binaries)
	}
	exe, err := os.Executable()
	return filepath.Join(filepath.Dir(exe), "nodes"), err
}

func listOf(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
