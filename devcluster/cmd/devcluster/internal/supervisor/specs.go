package supervisor

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/component"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/containernode"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localwebhook"
)

const serviceCIDR = "10.96.0.0/16"

func (s *Supervisor) url(name string) string {
	return fmt.Sprintf("https://127.0.0.1:%d", s.settings.Ports[name])
}

func (s *Supervisor) etcd() spec {
	return spec{
		name:     component.Etcd,
		endpoint: s.url(component.Etcd),
		args: []string{
			"--data-dir=" + s.dir.Etcd(),
			"--listen-client-urls=" + s.url(component.Etcd),
			"--cert-file=" + s.dir.PKI("etcd/server.crt"),
			"--key-file=" + s.dir.PKI("etcd/server.key"),
			"--trusted-ca-file=" + s.dir.PKI("etcd/ca.crt"),
		},
	}
}

func (s *Supervisor) apiServer() spec {
	// A loopback address can't be an endpoint of the Service kubernetes.
	reach := []string{"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none"}
	if s.settings.Containers {
		// No kube-proxy serves the control plane: the API server goes to the pods of extension servers itself.
		reach = []string{"--bind-address=0.0.0.0", "--advertise-address=" + containernode.Gateway, "--enable-aggregator-routing=true"}
	}
	audit := []string{}
	if policy := s.settings.AuditPolicy; policy != "" {
		audit = []string{"--audit-policy-file=" + policy, "--audit-log-path=" + s.dir.AuditLog()}
	}
	further := []string{}
	for _, flag := range s.settings.APIServerFlags {
		further = append(further, "--"+flag)
	}
	var env []string
	if s.settings.WebhookURL != "" {
		env = localwebhook.Env(s.settings.WebhookURL, s.dir)
	}
	return spec{
		name:     component.APIServer,
		endpoint: s.url(component.APIServer),
		env:      env,
		args: slices.Concat(append(slices.Concat(reach, audit),
			fmt.Sprintf("--secure-port=%d", s.settings.Ports[component.APIServer]),
			"--tls-cert-file="+s.dir.PKI("apiserver.crt"),
			"--tls-private-key-file="+s.dir.PKI("apiserver.key"),
			"--client-ca-file="+s.dir.PKI("ca.crt"),
			"--etcd-servers="+s.url(component.Etcd),
			"--etcd-cafile="+s.dir.PKI("etcd/ca.crt"),
			"--etcd-certfile="+s.dir.PKI("etcd/client.crt"),
			"--etcd-keyfile="+s.dir.PKI("etcd/client.key"),
			"--authorization-mode=Node,RBAC",
			"--enable-admission-plugins=NodeRestriction",
			"--allow-privileged=true",
			"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
			"--service-account-key-file="+s.dir.PKI("sa.pub"),
			"--service-account-signing-key-file="+s.dir.PKI("sa.key"),
			"--service-cluster-ip-range="+serviceCIDR,
			"--kubelet-certificate-authority="+s.dir.PKI("ca.crt"),
			"--kubelet-client-certificate="+s.dir.PKI("apiserver-kubelet-client.crt"),
			"--kubelet-client-key="+s.dir.PKI("apiserver-kubelet-client.key"),
			"--kubelet-preferred-address-types=InternalIP,Hostname",
			"--requestheader-client-ca-file="+s.dir.PKI("front-proxy-ca.crt"),
			"--requestheader-allowed-names=front-proxy-client",
			"--requestheader-username-headers=X-Remote-User",
			"--requestheader-group-headers=X-Remote-Group",
			"--requestheader-extra-headers-prefix=X-Remote-Extra-",
			"--proxy-client-cert-file="+s.dir.PKI("front-proxy-client.crt"),
			"--proxy-client-key-file="+s.dir.PKI("front-proxy-client.key"),
			// Thousands of pods come and go here; the limits of a shared server would only hide what is slow.
			"--max-requests-inflight=3000",
			"--max-mutating-requests-inflight=1500",
			"--feature-gates="+s.settings.FeatureGates,
			"--runtime-config="+s.settings.RuntimeConfig,
		), further),
	}
}

func (s *Supervisor) controllerManager() spec {
	kubeconfig := s.dir.Credentials("controller-manager.kubeconfig")
	return spec{
		name:     component.ControllerManager,
		endpoint: s.url(component.ControllerManager),
		args: []string{
			"--bind-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", s.settings.Ports[component.ControllerManager]),
			"--tls-cert-file=" + s.dir.PKI("controller-manager.crt"),
			"--tls-private-key-file=" + s.dir.PKI("controller-manager.key"),
			"--kubeconfig=" + kubeconfig,
			"--authentication-kubeconfig=" + kubeconfig,
			"--authorization-kubeconfig=" + kubeconfig,
			"--client-ca-file=" + s.dir.PKI("ca.crt"),
			"--leader-elect=false",
			"--use-service-account-credentials=true",
			"--service-account-private-key-file=" + s.dir.PKI("sa.key"),
			"--root-ca-file=" + s.dir.PKI("ca.crt"),
			"--cluster-signing-cert-file=" + s.dir.PKI("ca.crt"),
			"--cluster-signing-key-file=" + s.dir.PKI("ca.key"),
			"--allocate-node-cidrs=false",
			fmt.Sprintf("--node-monitor-grace-period=%ds", s.nodeGraceSeconds()),
			"--kube-api-qps=1000",
			"--kube-api-burst=2000",
			"--concurrent-job-syncs=20",
			"--concurrent-deployment-syncs=10",
			"--concurrent-replicaset-syncs=10",
			"--concurrent-statefulset-syncs=10",
			"--feature-gates=" + s.settings.FeatureGates,
			"--controllers=" + cmp.Or(s.settings.Controllers, "*"),
		},
	}
}

func (s *Supervisor) scheduler() spec {
	kubeconfig := s.dir.Credentials("scheduler.kubeconfig")
	return spec{
		name:     component.Scheduler,
		endpoint: s.url(component.Scheduler),
		args: []string{
			"--bind-address=127.0.0.1",
			fmt.Sprintf("--secure-port=%d", s.settings.Ports[component.Scheduler]),
			"--tls-cert-file=" + s.dir.PKI("scheduler.crt"),
			"--tls-private-key-file=" + s.dir.PKI("scheduler.key"),
			"--authentication-kubeconfig=" + kubeconfig,
			"--authorization-kubeconfig=" + kubeconfig,
			"--client-ca-file=" + s.dir.PKI("ca.crt"),
			"--config=" + s.dir.Credentials(schedulerConfigFile),
			"--feature-gates=" + s.settings.FeatureGates,
		},
	}
}

const schedulerConfigFile = "scheduler.yaml"

func schedulerConfig(kubeconfig string) string {
	return fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: %q
  qps: 1000
  burst: 2000
leaderElection:
  leaderElect: false
`, kubeconfig)
}
