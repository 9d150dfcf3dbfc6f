// Package managercmd is "armature manager": the process that runs the operators.
package managercmd

import (
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/release"
	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
	"github.com/armature-dev/armature/cmd/armature/internal/recordcmd"
)

// Who cares for the webhook's certificate.
const (
	certificatesGiven       = "given"
	certificatesSelfManaged = "self-managed"
)

// options are the command's flags.
type options struct {
	kube *genericclioptions.ConfigFlags

	watchNamespaces []string
	leftOut         []string // of the watched namespaces, see leaveOut
	selector        string

	metricsAddress string
	metricsSecure  bool
	metricsCertDir string
	healthAddress  string
	pprofAddress   string
	recordBytes    int
	recordAddress  string

	webhook             bool
	webhookPort         int
	webhookCertDir      string
	webhookCertificates string
	webhookName         string
	webhookClientCA     string

	leaderElect          bool
	leaderElectNamespace string
	leaderElectName      string
	lease                lease

	operators   []string
	concurrency int
	stateDir    string

	rolloutMaxOwners string
	undo             bool

	qps   float32
	burst int

	logLevel  string
	logFormat string

	// planFlags are the flags that may change a plan, see planFlags.
	planFlags []string
	// watchFailed is called when a list or a watch fails, before it is tried again. Default: nil, client-go logs it.
	watchFailed toolscache.WatchErrorHandlerWithContext
}

// New returns the command.
func New() *cobra.Command {
	o := options{kube: genericclioptions.NewConfigFlags(true)}
	cmd := &cobra.Command{
		Use:   "manager",
		Short: "Run the operators",
		Long: `Run the operators until interrupted.

Inside a cluster, the manager uses the pod's service account; otherwise --kubeconfig, then $KUBECONFIG, then ~/.kube/config.
It needs the CRDs of its own version or a newer one: armature install`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			lines, err := logHandler(cmd.ErrOrStderr(), o.logFormat, o.logLevel)
			if err != nil {
				return err
			}
			handler := limitLines(lines)
			defer handler.flush()
			logger := logTo(handler)
			o.planFlags = planFlags(cmd.Flags())
			return logged(o.listening(run(cmd.Context(), o, logger)), o.logFormat, logger)
		},
	}
	f := cmd.Flags()
	f.StringVar(o.kube.KubeConfig, "kubeconfig", "", "`path` of the kubeconfig file")
	f.StringVar(o.kube.Context, "context", "", "`name` of the kubeconfig's context to use")
	f.StringSliceVar(&o.watchNamespaces, "watch-namespaces", nil,
		"`names` of the namespaces that the manager watches, separated by commas (default: all)")
	f.StringVar(&o.selector, "selector", "", "label `selector` of the objects that the manager watches, such as "+v1alpha1.LabelShard+"=a, "+
		"to share the work among several managers (default: all)")
	f.StringVar(&o.metricsAddress, "metrics-bind-address", ":8443", "`address` of the metrics endpoint, /metrics; 0 for none")
	f.BoolVar(&o.metricsSecure, "metrics-secure", true,
		"serve metrics by https to clients with the permission to get the path /metrics; if false, by http to all clients")
	f.StringVar(&o.metricsCertDir, "metrics-cert-dir", "", "`directory` of tls.crt and tls.key for the metrics endpoint, "+
		"read again when they change (default: a self-signed certificate)")
	f.StringVar(&o.pprofAddress, "pprof-bind-address", "0", "`address` of the profiles of net/http/pprof, "+
		"without authentication: use an address of localhost; 0 for none")
	f.IntVar(&o.recordBytes, "record-bytes", 0, "maximum `size` in bytes of the recorded passes, which armature record fetches; "+
		"0 for no record")
	f.StringVar(&o.recordAddress, "record-bind-address", fmt.Sprintf("127.0.0.1:%d", recordcmd.Port),
		"`address` of the recorded passes with --record-bytes, without authentication: use an address of localhost")
	f.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "`address` of the health endpoints, /healthz and /readyz; 0 for none")
	f.BoolVar(&o.webhook, "webhook", false, "serve the validating webhook, which refuses invalid specs when they are applied")
	f.IntVar(&o.webhookPort, "webhook-port", 9443, "`port` of the webhook")
	f.StringVar(&o.webhookCertDir, "webhook-cert-dir", "", "`directory` of tls.crt and tls.key for the webhook, "+
		"read again when they change; needed with --webhook")
	f.StringVar(&o.webhookCertificates, "webhook-certificates", certificatesGiven, "source of the certificate in --webhook-cert-dir: "+
		"given (you provide it) or self-managed (the manager creates and renews it in a Secret, "+
		"adds its CA to the ValidatingWebhookConfiguration, and stores it in this directory, which must be writable)")
	f.StringVar(&o.webhookName, "webhook-name", "armature", "`name` of the ValidatingWebhookConfiguration that a self-managed "+
		"certificate is for; its Secret and its Service, in the manager's namespace, have this name with -webhook appended")
	f.StringVar(&o.webhookClientCA, "webhook-client-ca", "", "`file` of the PEM certificate authorities that verify the certificates "+
		"of the webhook's clients, read again at each connection (default: no client certificate is required)")
	f.BoolVar(&o.leaderElect, "leader-elect", true, "work only while holding the lease, so that several managers can run")
	f.StringVar(&o.leaderElectNamespace, "leader-elect-namespace", "",
		"`namespace` of the lease (default: that of the pod, or of the kubeconfig's context)")
	f.StringVar(&o.leaderElectName, "leader-elect-name", leaseName,
		"`name` of the lease; managers with different objects in one namespace need different names")
	o.lease.addFlags(f)
	f.StringSliceVar(&o.operators, "operators", []string{"*"}, "`names` of the operators to run, separated by commas; * is all of them")
	f.IntVar(&o.concurrency, "max-concurrent-reconciles", 8, "maximum number of parallel passes of a kind")
	f.StringVar(&o.stateDir, "state-dir", "", "`directory` of this process that survives a restart of its container, "+
		"such as an emptyDir volume; the manager records its current passes there, "+
		"and postpones their objects after an unexpected end (default: no record)")
	f.StringVar(&o.rolloutMaxOwners, "rollout-max-owners", "1", "maximum `number` of a kind's existing objects, or percentage such as "+
		"10%, that a new version of the manager disrupts at a time (restarts pods, deletes, recreates, scales down); "+
		"the others wait until these are ready; unlimited or 0 for no limit")
	f.BoolVar(&o.undo, "undo", true, "keep the state of objects before each disruptive change, for armature undo; "+
		"needs the permission to get, create and delete ControllerRevisions")
	f.Float32Var(&o.qps, "kube-api-qps", -1,
		"maximum requests per second to the API server; -1 for no limit, which relies on API Priority and Fairness")
	f.IntVar(&o.burst, "kube-api-burst", 0, "maximum burst of requests above --kube-api-qps (default: 1.5 times the limit)")
	f.StringVar(&o.logLevel, "log-level", "info", "`level`: debug, info, warn or error")
	f.StringVar(&o.logFormat, "log-format", "text", "`format`: text or json")
	return cmd
}

// logged logs the error that ends the manager, because with the JSON format a plain line would be out of place.
func logged(err error, format string, logger logr.Logger) error {
	if err == nil || format != "json" {
		return err
	}
	logger.Error(err, "ended")
	return &exitcode.Error{Code: 1}
}

// validate refuses flags that can't work.
func (o options) validate() error {
	if o.concurrency < 1 {
		return fmt.Errorf("--max-concurrent-reconciles must be at least 1, got %d", o.concurrency)
	}
	if o.qps == 0 || o.qps < -1 {
		return fmt.Errorf("--kube-api-qps must be a positive number or -1, got %v", o.qps)
	}
	if o.burst < 0 {
		return fmt.Errorf("--kube-api-burst must not be negative, got %d", o.burst)
	}
	if o.burst > 0 && o.qps < 0 {
		return fmt.Errorf("--kube-api-burst is %d, which means nothing without --kube-api-qps", o.burst)
	}
	if o.leaderElect {
		if err := o.lease.validate(); err != nil {
			return err
		}
	}
	if o.webhook && o.webhookCertDir == "" {
		return errors.New("--webhook needs --webhook-cert-dir: the API server calls no webhook without a certificate that it trusts")
	}
	if o.webhook && o.webhookCertificates != certificatesGiven && o.webhookCertificates != certificatesSelfManaged {
		return fmt.Errorf("--webhook-certificates must be %s or %s, got %q", certificatesGiven, certificatesSelfManaged, o.webhookCertificates)
	}
	if o.recordBytes < 0 {
		return fmt.Errorf("--record-bytes must not be negative, got %d", o.recordBytes)
	}
	if o.webhookClientCA != "" && !o.webhook {
		return errors.New("--webhook-client-ca means nothing without --webhook")
	}
	for _, name := range o.watchNamespaces {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return fmt.Errorf("--watch-namespaces: %q can't be a namespace's name: %s", name, problems[0])
		}
	}
	if _, err := o.shard(); err != nil {
		return err
	}
	if err := release.Check(o.rolloutMaxOwners); err != nil {
		return fmt.Errorf("--rollout-max-owners: %w", err)
	}
	return nil
}
