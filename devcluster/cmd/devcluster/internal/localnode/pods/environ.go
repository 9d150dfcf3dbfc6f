package pods

import (
	"cmp"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/pathmap"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/process"
)

// Variables that every container has.
const (
	envRoot       = "DEVCLUSTER_ROOT"
	envMessage    = "TERMINATION_LOG"
	envKubeconfig = "KUBECONFIG"
)

// KillLeftovers kills the containers in the directory of all pods that are still
// there although their node is not, because their shims were killed as well.
func KillLeftovers(dir string) { process.KillMarked(envRoot + "=" + dir + "/") }

// accountDir is where admission mounts the service account's token.
const accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// baseEnv is a container's environment before its own variables. Of the node's
// environment it has only what finds programs and their language.
func (c *container) baseEnv(pod *corev1.Pod, root, message string) map[string]string {
	hostname := pod.Name
	if pod.Spec.Hostname != "" {
		hostname = pod.Spec.Hostname
	}
	env := map[string]string{
		"PATH":     cmp.Or(os.Getenv("PATH"), defaultPath),
		"LANG":     cmp.Or(os.Getenv("LANG"), "C.UTF-8"),
		"HOME":     root,
		"TMPDIR":   filepath.Join(root, "tmp"),
		"HOSTNAME": hostname,
		envRoot:    root,
		envMessage: message,
	}
	maps.Copy(env, apiServerEnv(c.pod.host.APIServer))
	return env
}

func apiServerEnv(server *url.URL) map[string]string {
	if server == nil {
		return nil
	}
	host, port := server.Hostname(), cmp.Or(server.Port(), "443")
	address := net.JoinHostPort(host, port)
	return map[string]string{
		"KUBERNETES_SERVICE_HOST":                host,
		"KUBERNETES_SERVICE_PORT":                port,
		"KUBERNETES_SERVICE_PORT_HTTPS":          port,
		"KUBERNETES_PORT":                        "tcp://" + address,
		"KUBERNETES_PORT_" + port + "_TCP":       "tcp://" + address,
		"KUBERNETES_PORT_" + port + "_TCP_PROTO": "tcp",
		"KUBERNETES_PORT_" + port + "_TCP_PORT":  port,
		"KUBERNETES_PORT_" + port + "_TCP_ADDR":  host,
	}
}

// references are the base variables that $(VAR) may refer to: those that exist in
// any cluster, and the root directory. The rest would, in a real cluster, come
// from the image, where references do not reach.
func references(base map[string]string) map[string]string {
	known := map[string]string{}
	for name, value := range base {
		switch name {
		case "PATH", "LANG", "HOME", "TMPDIR", "HOSTNAME", envMessage:
		default:
			known[name] = value
		}
	}
	return known
}

// environ is the complete environment, and the PATH in it.
func (p *plan) environ(paths *pathmap.Map) (env []string, lookPath string) {
	all := maps.Clone(p.base)
	for _, v := range p.vars {
		all[v.Name] = paths.Rewrite(v.Value)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, name+"="+all[name])
	}
	return env, all["PATH"]
}

// kubeconfig writes a kubeconfig for the pod's service account and puts it into
// the environment, if the container has the account's token. Programs that run in
// a cluster read the token from a fixed path, which is not there on this machine;
// most of them look at KUBECONFIG before that.
func (p *plan) kubeconfig(mounts []mount) error {
	has := slices.ContainsFunc(mounts, func(m mount) bool { return m.at == accountDir })
	if !has || p.c.pod.host.APIServer == nil {
		return nil
	}
	const name = "devcluster"
	pod := p.c.pod.Object()
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{
		Server: p.c.pod.host.APIServer.String(), CertificateAuthority: p.c.pod.host.CAFile,
	}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{TokenFile: filepath.Join(p.root, accountDir, "token")}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: pod.Namespace}
	config.CurrentContext = name
	file := filepath.Join(p.root, ".kube", "config")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		return err
	}
	p.base[envKubeconfig] = file
	return nil
}
