package supervisor

import (
	"context"
	"fmt"
	"os"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/containernode"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/fakenode"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/kubeconfig"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localwebhook"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/pki"
)

// prepare writes everything that the components read from files.
func (s *Supervisor) prepare() error {
	if s.settings.Containers {
		if err := containernode.PrepareNetwork(len(s.settings.Nodes)); err != nil {
			return err
		}
	}
	if err := pickPorts(s.settings.Ports); err != nil {
		return err
	}
	if err := s.dir.SaveSettings(s.settings); err != nil {
		return err
	}
	// A file that can't be read is found before the start, not after.
	for _, file := range s.settings.Kubeconfigs {
		if err := kubeconfig.Remove(file, s.settings.ContextName()); err != nil {
			return err
		}
	}
	if err := pki.Ensure(s.dir, containernode.Gateway); err != nil {
		return err
	}
	if s.settings.WebhookURL != "" {
		if err := localwebhook.Prepare(s.settings.WebhookURL, s.dir); err != nil {
			return err
		}
	}
	for _, user := range []string{"controller-manager", "scheduler", "local-nodes", "fake-nodes"} {
		if err := s.entry(user).Write(s.dir.Credentials(user + ".kubeconfig")); err != nil {
			return err
		}
	}
	if err := s.entry("admin").Write(s.dir.Kubeconfig()); err != nil {
		return err
	}
	for file, content := range map[string]string{
		schedulerConfigFile: schedulerConfig(s.dir.Credentials("scheduler.kubeconfig")),
		fakenode.ConfigFile: fakenode.Config(),
	} {
		if err := os.WriteFile(s.dir.Credentials(file), []byte(content), 0o600); err != nil {
			return err
		}
	}
	if s.settings.Containers {
		if err := s.prepareContainers(); err != nil {
			return err
		}
	}
	return s.truncateLogs()
}

func (s *Supervisor) entry(user string) kubeconfig.Entry {
	return s.entryAt(user, s.settings.APIServerURL())
}

// entryAt is the user's way to the API server at this URL.
func (s *Supervisor) entryAt(user, server string) kubeconfig.Entry {
	return kubeconfig.Entry{
		Name:     s.settings.ContextName(),
		Server:   server,
		CAFile:   s.dir.PKI("ca.crt"),
		CertFile: s.dir.PKI("user-" + user + ".crt"),
		KeyFile:  s.dir.PKI("user-" + user + ".key"),
	}
}

// truncateLogs keeps the logs to this run.
func (s *Supervisor) truncateLogs() error {
	for _, group := range s.stopOrder() {
		for _, name := range group {
			if err := os.WriteFile(s.dir.Log(name), nil, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// start runs the sequence of a start, until everything is ready.
func (s *Supervisor) start(ctx context.Context) error {
	fmt.Fprintf(s.out, "starting etcd and kube-apiserver (%s)\n", s.settings.ContextName())
	// The API server waits for etcd by itself; both load at the same time.
	if err := s.keepAll(s.etcd(), s.apiServer()); err != nil {
		return err
	}
	config, err := s.adminConfig()
	if err != nil {
		return err
	}
	if s.admin, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if err := until(ctx, "kube-apiserver", pollEvery, s.apiServerReady); err != nil {
		return err
	}
	if err := s.prepareNodes(ctx); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "starting kube-controller-manager, kube-scheduler and %s\n", nodesText(s.settings))
	specs := []spec{s.controllerManager(), s.scheduler()}
	switch {
	case s.settings.Containers:
		specs = append(specs, s.containerSpecs()...)
	case len(s.settings.Nodes) > 0:
		specs = append(specs, s.localNodes())
	}
	if s.settings.FakeNodes > 0 {
		specs = append(specs, s.fakeNodes())
	}
	if err := s.keepAll(specs...); err != nil {
		return err
	}
	if s.settings.Containers {
		if err := s.announceDNS(ctx); err != nil {
			return startError(ctx, err)
		}
	}
	if err := fakenode.Create(ctx, config, s.settings.FakeNodes); err != nil {
		return startError(ctx, err)
	}
	if err := s.waitReady(ctx); err != nil {
		return err
	}
	return s.mergeContexts()
}

func (s *Supervisor) keepAll(specs ...spec) error {
	for _, sp := range specs {
		if err := s.keep(sp); err != nil {
			return err
		}
	}
	return nil
}

func (s *Supervisor) adminConfig() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", s.dir.Kubeconfig())
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

func (s *Supervisor) mergeContexts() error {
	for _, file := range s.settings.Kubeconfigs {
		if err := s.entry("admin").Merge(file); err != nil {
			return err
		}
	}
	return nil
}

// startError prefers the reason for which the start was given up over what that did to a request.
func startError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
