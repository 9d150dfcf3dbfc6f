package clusterdir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/tree"
)

// DefaultName is the directory used when nobody says otherwise, inside the working directory.
const DefaultName = ".devcluster"

// Dir is the absolute path of a cluster's directory.
type Dir string

// New returns the cluster directory at path, or DefaultName in the working directory when path is empty.
// Nothing is created.
func New(path string) (Dir, error) {
	if path == "" {
		path = DefaultName
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("cluster directory %q: %w", path, err)
	}
	return Dir(abs), nil
}

func (d Dir) path(elem ...string) string {
	return filepath.Join(append([]string{string(d)}, elem...)...)
}

// SettingsFile has the cluster's settings.
func (d Dir) SettingsFile() string { return d.path("cluster.json") }

// RunFile has the RunState of the running cluster.
func (d Dir) RunFile() string { return d.path("run.json") }

// LockFile is locked while the cluster runs.
func (d Dir) LockFile() string { return d.path("lock") }

// Kubeconfig is the administrator's.
func (d Dir) Kubeconfig() string { return d.path("kubeconfig") }

// Etcd is the directory of etcd's data.
func (d Dir) Etcd() string { return d.path("etcd") }

// Nodes is the directory of the nodes' data.
func (d Dir) Nodes() string { return d.path("nodes") }

// Logs is the directory of the components' logs.
func (d Dir) Logs() string { return d.path("logs") }

// AuditLog is where the API server writes the requests that the audit policy names.
func (d Dir) AuditLog() string { return d.path("logs", "audit.log") }

// Node returns the directory of a node that runs containers.
func (d Dir) Node(name string) string { return d.path("nodes", name) }

// PKI returns the path of a certificate or key.
func (d Dir) PKI(name string) string { return d.path("pki", name) }

// Webhook returns a file of the directory that a webhook server reads its certificate from: ca.crt, tls.crt and tls.key.
func (d Dir) Webhook(name string) string { return d.path("webhook", name) }

// Credentials returns the path of a component's own configuration: its kubeconfig, its config file.
func (d Dir) Credentials(name string) string { return d.path("credentials", name) }

// Log returns the log file of a component.
func (d Dir) Log(component string) string { return d.path("logs", component+".log") }

// Create makes the directory and those inside it. An existing directory that holds something else is refused,
// so that a mistyped --dir never mixes a cluster into somebody's files.
func (d Dir) Create() error {
	if !d.IsCluster() {
		if entries, err := os.ReadDir(string(d)); err == nil && len(entries) > 0 && !onlyOurs(entries) {
			return fmt.Errorf("%s is not empty and holds no devcluster: choose another --dir", d)
		}
	}
	for _, sub := range []string{"pki/etcd", "credentials", "logs", "nodes", "webhook"} {
		if err := os.MkdirAll(d.path(filepath.FromSlash(sub)), 0o700); err != nil {
			return fmt.Errorf("create cluster directory: %w", err)
		}
	}
	return nil
}

// onlyOurs allows for a first `up` that was interrupted before it wrote its settings.
func onlyOurs(entries []os.DirEntry) bool {
	for _, e := range entries {
		switch name := e.Name(); name {
		case "pki", "credentials", "logs", "nodes", "webhook", "lock", "run.json":
		default:
			if !strings.HasPrefix(name, halfWritten) {
				return false
			}
		}
	}
	return true
}

// IsCluster tells whether the directory holds a cluster's settings.
func (d Dir) IsCluster() bool {
	_, err := d.LoadSettings()
	return err == nil
}

// Delete removes the directory and its data. A directory without a cluster's settings is refused.
func (d Dir) Delete() error {
	if !d.IsCluster() {
		return fmt.Errorf("%s holds no devcluster: nothing is deleted", d)
	}
	if err := tree.Remove(string(d)); err != nil {
		return fmt.Errorf("delete cluster directory: %w", err)
	}
	return nil
}

// DeleteExceptLogs removes the directory and its data, but keeps the logs, if there are any.
func (d Dir) DeleteExceptLogs() error {
	if logs, err := os.ReadDir(d.Logs()); err != nil || len(logs) == 0 {
		return d.Delete()
	}
	if !d.IsCluster() {
		return fmt.Errorf("%s holds no devcluster: nothing is deleted", d)
	}
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return fmt.Errorf("delete cluster directory: %w", err)
	}
	for _, entry := range entries {
		if path := d.path(entry.Name()); path != d.Logs() {
			err = errors.Join(err, tree.Remove(path))
		}
	}
	if err != nil {
		return fmt.Errorf("delete cluster directory: %w", err)
	}
	return nil
}

// Cgroup is the name of the cgroup above those of the nodes. It is no other cluster's.
func (d Dir) Cgroup() string {
	sum := sha256.Sum256([]byte(d))
	return "devcluster-" + hex.EncodeToString(sum[:8])
}

var notInNames = regexp.MustCompile(`[^a-z0-9-]+`)

// ClusterName derives a name from the directory: that of the project around DIR, and a few digits of the
// path's digest, so that clusters of two checkouts don't replace each other's kubeconfig context.
func (d Dir) ClusterName() string {
	base := filepath.Base(string(d))
	if base == DefaultName {
		base = filepath.Base(filepath.Dir(string(d)))
	}
	base = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(base), "-"), "-")
	sum := sha256.Sum256([]byte(d))
	return strings.TrimPrefix(base+"-"+hex.EncodeToString(sum[:2]), "-")
}
