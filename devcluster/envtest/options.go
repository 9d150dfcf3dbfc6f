package envtest

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/armature-dev/armature/devcluster"
)

// The variables of controller-runtime's envtest that have a meaning here.
const (
	startTimeoutEnv = "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT"
	attachOutputEnv = "KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT"
)

// options are those of the cluster that the fields describe.
func (e *Environment) options() ([]devcluster.Option, error) {
	if err := e.refuse(); err != nil {
		return nil, err
	}
	var opts []devcluster.Option
	if users := e.users(); users != nil {
		opts = append(opts, users.options...)
	}
	for _, flag := range e.ControlPlane.GetAPIServer().Configure().AsStrings(nil) {
		opts = append(opts, devcluster.WithFlags("--apiserver-flag="+strings.TrimPrefix(flag, "--")))
	}
	timeout := e.ControlPlaneStartTimeout
	if text := os.Getenv(startTimeoutEnv); timeout == 0 && text != "" {
		var err error
		if timeout, err = time.ParseDuration(text); err != nil {
			return nil, fmt.Errorf("%s: %w", startTimeoutEnv, err)
		}
	}
	if timeout > 0 {
		opts = append(opts, devcluster.WithTimeout(timeout))
	}
	if e.AttachControlPlaneOutput || os.Getenv(attachOutputEnv) == "true" {
		opts = append(opts, devcluster.WithOutput(os.Stdout))
	}
	return opts, nil
}

// refuse returns an error for the first field that asks for what devcluster doesn't do.
func (e *Environment) refuse() error {
	server := e.ControlPlane.GetAPIServer()
	ours := e.users() != nil
	const itself = "devcluster chooses it itself: leave it empty"
	for _, field := range []struct {
		name   string
		isSet  bool
		reason string
	}{
		{"DownloadBinaryAssetsVersion", e.DownloadBinaryAssetsVersion != "",
			"the version of Kubernetes is that of devcluster: leave it empty, or keep controller-runtime's envtest for this suite"},
		{"ControlPlane.Etcd", e.ControlPlane.Etcd != nil, "devcluster has its own etcd, whose flags can't be chosen: leave it nil"},
		{"ControlPlane.APIServer.Args", len(server.Args) > 0, //nolint:staticcheck // The refusal is for suites that still have it.
			"it replaces all flags, some of which devcluster needs: add flags with ControlPlane.GetAPIServer().Configure()"},
		{"ControlPlane.APIServer.Path", server.Path != "", itself},
		{"ControlPlane.APIServer.EtcdURL", server.EtcdURL != nil, itself},
		{"ControlPlane.APIServer.SecurePort", server.SecurePort != 0, itself},                                                    //nolint:staticcheck // as above
		{"ControlPlane.APIServer.InsecureServing", server.InsecureServing != nil, "no API server has it any more: leave it nil"}, //nolint:staticcheck // as above
		{"ControlPlane.APIServer.SecureServing.ListenAddr", !ours && server.SecureServing.ListenAddr != ListenAddr{}, itself},
		{"ControlPlane.APIServer.SecureServing.Authn", !ours && server.SecureServing.Authn != nil,
			"users have client certificates of the cluster: leave it nil"},
	} {
		if field.isSet {
			return fmt.Errorf("Environment.%s is set: %s", field.name, field.reason) //nolint:staticcheck // It begins with a name.
		}
	}
	return nil
}
