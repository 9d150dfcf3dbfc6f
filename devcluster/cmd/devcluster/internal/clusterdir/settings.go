package clusterdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const settingsKind = "DevCluster"

// Settings is what makes the cluster in a directory the same one at the next `up`.
type Settings struct {
	Kind string `json:"kind"`
	// Name names the kubeconfig context: devcluster-<name>.
	Name string `json:"name"`
	// Nodes are the names of the nodes, local or with containers.
	Nodes []string `json:"nodes"`
	// Containers tells that the nodes run containers, and the cluster lives in a network namespace of its own.
	Containers bool `json:"containers,omitempty"`
	// NodeBinaries is the directory of the programs of nodes that run containers.
	NodeBinaries string `json:"nodeBinaries,omitempty"`
	// FakeNodes is how many simulated nodes there are: fake-0, fake-1, ...
	FakeNodes int `json:"fakeNodes"`
	// FeatureGates are those of the API server, the controller manager and the scheduler: "A=true,B=false".
	FeatureGates string `json:"featureGates,omitempty"`
	// RuntimeConfig turns versions of APIs on and off: "scheduling.k8s.io/v1beta1=true".
	RuntimeConfig string `json:"runtimeConfig,omitempty"`
	// AuditPolicy is the file that tells which requests the API server writes into its audit log; none without one.
	AuditPolicy string `json:"auditPolicy,omitempty"`
	// WebhookURL is where the API server calls the webhooks of all Services: "https://localhost:9443". Empty means at the Services.
	WebhookURL string `json:"webhookURL,omitempty"`
	// Controllers are those that the controller manager runs, in the form of its own flag: "*,-job-controller". Empty means its default.
	Controllers string `json:"controllers,omitempty"`
	// APIServerFlags are further flags of the API server: "enable-admission-plugins=PodNodeSelector".
	APIServerFlags []string `json:"apiServerFlags,omitempty"`
	// Ports are the loopback ports by component.
	Ports map[string]int `json:"ports"`
	// Kubeconfigs are files outside of the directory that carry our context while the cluster is up.
	Kubeconfigs []string `json:"kubeconfigs,omitempty"`
}

// ContextName is the cluster's name in kubeconfig files.
func (s *Settings) ContextName() string { return "devcluster-" + s.Name }

// APIServerURL is where the API server listens.
func (s *Settings) APIServerURL() string {
	return fmt.Sprintf("https://127.0.0.1:%d", s.Ports["kube-apiserver"])
}

// LoadSettings reads the settings. The error is os.ErrNotExist when there is no cluster.
func (d Dir) LoadSettings() (*Settings, error) {
	s := &Settings{}
	if err := readJSON(d.SettingsFile(), s); err != nil {
		return nil, err
	}
	if s.Kind != settingsKind {
		return nil, fmt.Errorf("%s: kind is %q, not %q", d.SettingsFile(), s.Kind, settingsKind)
	}
	if s.Ports == nil {
		s.Ports = map[string]int{}
	}
	return s, nil
}

// LoadOrNewSettings reads the settings, or returns those of a new cluster with one local node.
func (d Dir) LoadOrNewSettings() (*Settings, error) {
	s, err := d.LoadSettings()
	if errors.Is(err, os.ErrNotExist) {
		return &Settings{Kind: settingsKind, Name: d.ClusterName(), Nodes: []string{"node-1"}, Ports: map[string]int{}}, nil
	}
	return s, err
}

// SaveSettings writes the settings.
func (d Dir) SaveSettings(s *Settings) error {
	return writeJSON(d.SettingsFile(), s)
}

func readJSON(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// halfWritten begins the names of files that writeJSON has not finished.
const halfWritten = ".tmp-"

// writeJSON replaces the file in one step, because `status` reads it at any time.
func writeJSON(file string, from any) error {
	data, err := json.MarshalIndent(from, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), halfWritten+"*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(append(data, '\n'))
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}
