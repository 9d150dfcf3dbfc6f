package envtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"

	"github.com/armature-dev/armature/devcluster"
)

// kubeconfigEnv is the variable of package devcluster.
const kubeconfigEnv = "DEVCLUSTER_KUBECONFIG"

// clusterUsers adds users to a cluster of devcluster. It is also where an Environment, whose fields are controller-runtime's, has its
// cluster and the options of it.
type clusterUsers struct {
	options []devcluster.Option
	cluster *devcluster.Cluster // nil until it is started
	// temporary is a directory that Stop of the Environment deletes, or empty.
	temporary string
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

// directory returns a directory for files of the Environment: that of the cluster, which is deleted with it, or a temporary one if the
// environment names a kubeconfig, which may be in a directory of the user.
func (u *clusterUsers) directory() (string, error) {
	if os.Getenv(kubeconfigEnv) == "" {
		return filepath.Dir(u.cluster.Kubeconfig()), nil
	}
	var err error
	u.temporary, err = os.MkdirTemp("", "devcluster-envtest-")
	return u.temporary, err
}

// stop stops the cluster and deletes the temporary directory.
func (u *clusterUsers) stop() error {
	err := u.cluster.Stop()
	if u.temporary != "" {
		err = errors.Join(err, os.RemoveAll(u.temporary))
	}
	u.cluster, u.temporary = nil, ""
	return err
}

// writeKubectl writes a program that is devcluster's kubectl into the directory.
func writeKubectl(dir string) (path string, err error) {
	binary, err := devcluster.Binary(context.Background())
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "kubectl")
	return path, os.WriteFile(path, []byte(fmt.Sprintf("#!/bin/sh\nexec '%s' kubectl \"$@\"\n", binary)), 0o700)
}
