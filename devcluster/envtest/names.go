package envtest

import (
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// The types of controller-runtime's envtest.
type (
	// APIServer has the flags of the API server.
	APIServer = envtest.APIServer
	// Arg is a flag with its values.
	Arg = envtest.Arg
	// Arguments are flags of a program.
	Arguments = envtest.Arguments
	// AuthenticatedUser is what [Environment.AddUser] returns.
	AuthenticatedUser = envtest.AuthenticatedUser
	// Authn adds users. It can't be chosen.
	Authn = envtest.Authn
	// CRDInstallOptions are the options of [InstallCRDs].
	CRDInstallOptions = envtest.CRDInstallOptions
	// ControlPlane is the API server and etcd.
	ControlPlane = envtest.ControlPlane
	// Etcd has the flags of etcd. They can't be chosen.
	Etcd = envtest.Etcd
	// ListenAddr is an address and a port.
	ListenAddr = envtest.ListenAddr
	// SecureServing is where the API server is, and its authority.
	SecureServing = envtest.SecureServing
	// User is a name and its groups.
	User = envtest.User
	// WebhookInstallOptions are the options of webhooks.
	WebhookInstallOptions = envtest.WebhookInstallOptions
)

// The functions of controller-runtime's envtest.
var (
	// CreateCRDs creates or updates CRDs.
	CreateCRDs = envtest.CreateCRDs
	// EmptyArguments returns flags without values.
	EmptyArguments = envtest.EmptyArguments
	// InstallCRDs installs CRDs of files and of the options, and waits until they are served.
	InstallCRDs = envtest.InstallCRDs
	// ReadCRDFiles reads CRDs of files into the options.
	ReadCRDFiles = envtest.ReadCRDFiles
	// UninstallCRDs deletes CRDs.
	UninstallCRDs = envtest.UninstallCRDs
	// WaitForCRDs waits until CRDs are served.
	WaitForCRDs = envtest.WaitForCRDs
	// WaitForWebhooks waits until the configurations of webhooks can be read.
	WaitForWebhooks = envtest.WaitForWebhooks
)

// StartTimeout and StopTimeout are the seconds that suites give BeforeSuite and AfterSuite.
const (
	StartTimeout = envtest.StartTimeout
	StopTimeout  = envtest.StopTimeout
)

// SetupEnvtestDefaultBinaryAssetsDirectory returns no directory: there are no binaries of envtest. It is for suites that call it.
func SetupEnvtestDefaultBinaryAssetsDirectory() (string, error) {
	return "", nil
}
