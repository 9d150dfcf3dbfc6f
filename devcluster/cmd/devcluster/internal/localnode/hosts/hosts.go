// Package hosts keeps, for each namespace, a file of the names that pods have in DNS, in the format of /etc/hosts.
//
// A pod with a hostname and a subdomain is <hostname>.<subdomain> in its namespace, if a headless Service is called like
// the subdomain. There is no DNS here, so containers get the file as their /etc/hosts, where the C library looks before
// it asks DNS. Programs on this machine still read the machine's own: see docs/local-nodes.md.
package hosts

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Files are the files of all namespaces, in a directory of their own. The zero value is not usable.
type Files struct {
	dir string

	mu    sync.Mutex
	hosts map[string]map[string]host // by namespace and name
}

type host struct {
	uid types.UID
	ip  string
}

// New returns the files in a directory, which is made when the first is written.
func New(dir string) *Files {
	return &Files{dir: dir, hosts: map[string]map[string]host{}}
}

// Path returns the file of a namespace. It is there when it returns, and is replaced as a whole when it changes.
func (f *Files) Path(namespace string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := filepath.Join(f.dir, namespace)
	if _, err := os.Stat(path); err == nil && f.hosts[namespace] != nil {
		return path, nil
	}
	return path, f.write(namespace)
}

// Add gives a pod's name an address. Of several pods of one name the last counts.
func (f *Files) Add(pod *corev1.Pod, ip string) error {
	name, ok := nameOf(pod)
	if !ok {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(pod.Namespace)[name] = host{pod.UID, ip}
	return f.write(pod.Namespace)
}

// Remove takes a pod's name away, unless another pod has it now.
func (f *Files) Remove(pod *corev1.Pod) error {
	name, ok := nameOf(pod)
	if !ok {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of(pod.Namespace)[name].uid != pod.UID {
		return nil
	}
	delete(f.hosts[pod.Namespace], name)
	return f.write(pod.Namespace)
}

// nameOf returns <hostname>.<subdomain>.
func nameOf(pod *corev1.Pod) (string, bool) {
	return pod.Spec.Hostname + "." + pod.Spec.Subdomain, pod.Spec.Hostname != "" && pod.Spec.Subdomain != ""
}

func (f *Files) of(namespace string) map[string]host {
	if f.hosts[namespace] == nil {
		f.hosts[namespace] = map[string]host{}
	}
	return f.hosts[namespace]
}

// write replaces a file; whoever reads it sees the old one or the new one.
func (f *Files) write(namespace string) error {
	var b strings.Builder
	b.WriteString("# Kept by devcluster: pods of this namespace that have a hostname and a subdomain.\n127.0.0.1\tlocalhost\n")
	hosts := f.of(namespace)
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		inNamespace := name + "." + namespace
		fmt.Fprintf(&b, "%s\t%s.svc.cluster.local\t%s.svc\t%s\t%s\n", hosts[name].ip, inNamespace, inNamespace, inNamespace, name)
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(f.dir, namespace)
	next := path + "~" // no namespace is called so
	if err := os.WriteFile(next, []byte(b.String()), 0o644); err != nil {
		return err
	}
	return os.Rename(next, path)
}
