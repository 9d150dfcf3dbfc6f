package envtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/armature-dev/armature/devcluster"
)

// Environment is a cluster for a suite. It has the fields of controller-runtime's Environment, and its methods. The documentation of this
// package lists the fields that have no effect here and those that are refused.
type Environment envtest.Environment

// Use sets options of the cluster, such as devcluster.WithNodes("node-1"). It has no effect after [Environment.Start].
func (e *Environment) Use(opts ...devcluster.Option) {
	users := e.users()
	if users == nil {
		users = &clusterUsers{}
		e.ControlPlane.GetAPIServer().SecureServing.Authn = users
	}
	users.options = append(users.options, opts...)
}

// Start starts a cluster, installs the CRDs and the webhooks, and returns a connection with all rights. The cluster stops with
// [Environment.Stop], and when the test binary ends in any way. The error names the field that can't be as it is.
func (e *Environment) Start() (*rest.Config, error) {
	if e.usesExistingCluster() {
		return e.real().Start()
	}
	opts, err := e.options()
	if err != nil {
		return nil, err
	}
	cluster, err := devcluster.Up(context.Background(), opts...)
	if err != nil {
		return nil, fmt.Errorf("unable to start control plane itself: %w", err)
	}
	e.Use()
	e.users().cluster = cluster
	if err := e.connect(cluster); err != nil {
		return nil, errors.Join(err, e.users().stop())
	}
	var config *rest.Config
	err = e.asExisting(func(real *envtest.Environment) (err error) {
		config, err = real.Start()
		return err
	})
	if err != nil {
		return config, errors.Join(err, e.Stop())
	}
	return config, nil
}

// Stop uninstalls what the options say, deletes the certificates of webhooks, and stops the cluster.
func (e *Environment) Stop() error {
	users := e.users()
	if users == nil || users.cluster == nil {
		return e.real().Stop()
	}
	err := e.asExisting(func(real *envtest.Environment) error { return real.Stop() })
	err = errors.Join(err, users.stop())
	e.Config, e.KubeConfig = nil, nil
	return err
}

// AddUser returns a user with this name and these groups, by a client certificate of the cluster. The connection has the settings of base,
// which may be nil.
func (e *Environment) AddUser(user User, base *rest.Config) (*AuthenticatedUser, error) {
	return e.real().AddUser(user, base)
}

func (e *Environment) real() *envtest.Environment {
	return (*envtest.Environment)(e)
}

// asExisting lets controller-runtime's envtest do its part on a cluster that it hasn't started.
func (e *Environment) asExisting(do func(*envtest.Environment) error) error {
	chosen, yes := e.UseExistingCluster, true
	e.UseExistingCluster = &yes
	defer func() { e.UseExistingCluster = chosen }()
	return do(e.real())
}

// usesExistingCluster is the rule of controller-runtime's envtest.
func (e *Environment) usesExistingCluster() bool {
	if e.UseExistingCluster == nil {
		return strings.ToLower(os.Getenv("USE_EXISTING_CLUSTER")) == "true"
	}
	return *e.UseExistingCluster
}

// connect lets the environment, its API server and its users be those of the cluster.
func (e *Environment) connect(cluster *devcluster.Cluster) error {
	config := cluster.Config()
	config.QPS, config.Burst = 1000, 2000 // as envtest's own
	server, err := url.Parse(config.Host)
	if err != nil {
		return err
	}
	users := e.users()
	dir, err := users.directory()
	if err != nil {
		return err
	}
	kubectl, err := writeKubectl(dir)
	if err != nil {
		return err
	}
	apiServer := e.ControlPlane.GetAPIServer()
	apiServer.SecureServing = SecureServing{
		ListenAddr: ListenAddr{Address: server.Hostname(), Port: server.Port()}, CA: config.CAData, Authn: users,
	}
	apiServer.CertDir = dir
	e.ControlPlane.KubectlPath = kubectl
	e.Config, e.KubeConfig = config, nil
	return nil
}
