package envtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"

	"github.com/armature-dev/armature/devcluster"
)

// clusterUsers adds users to a cluster of devcluster. It is also where an Environment, whose fields are controller-runtime's, has its
// cluster and the options of it.
type clusterUsers struct {
	options []devcluster.Option
	cluster *devcluster.Cluster // nil until it is started
}

var _ Authn = &clusterUsers{}

// users returns those of an Environment that has been started or has options.
func (e *Environment) users() *clusterUsers {
	users, _ := e.ControlPlane.GetAPIServer().SecureServing.Authn.(*clusterUsers)
	return users
}

// Configure does nothing: the cluster is configured.
func (u *clusterUsers) Configure(string, *Arguments) error { return nil }

// Start does nothing: the cluster starts with its Environment.
func (u *clusterUsers) Start() error { return nil }

// Stop does nothing: the cluster stops with its Environment.
func (u *clusterUsers) Stop() error { return nil }

// AddUser returns a connection of a user. It is the certificate that is the cluster's, and the rest is from base.
func (u *clusterUsers) AddUser(user User, base *rest.Config) (*rest.Config, error) {
	if u.cluster == nil {
		return nil, fmt.Errorf("add user %s: the Environment isn't started: call Start first", user.Name)
	}
	of, err := u.cluster.AddUser(user.Name, user.Groups...)
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(base)
	config.CertData, config.KeyData = of.CertData, of.KeyData
	return config, nil
}

// kubectlOf writes a program that is devcluster's kubectl, into the directory of the cluster.
func kubectlOf(cluster *devcluster.Cluster) (string, error) {
	binary, err := devcluster.Binary(context.Background())
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(cluster.Kubeconfig()), "kubectl")
	return path, os.WriteFile(path, []byte(fmt.Sprintf("#!/bin/sh\nexec '%s' kubectl \"$@\"\n", binary)), 0o700)
}
