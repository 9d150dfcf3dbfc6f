// Package managercmd is "armature manager": the process that runs the operators.
package managercmd

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
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
	selector        string

	metricsAddress string
	metricsSecure  bool
	metricsCertDir string
	healthAddress  string
	pprofAddress   string

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
	qps         float32
	burst       int

	logLevel  string
	logFormat string
}

// New returns the command.
func New() *cobra.Command {
	o := options{kube: genericclioptions.NewConfigFlags(true)}
	cmd := &cobra.Command{
		Use:   "manager",
		Short: "Run the operators",
		Long: `Run the operators until interrupted.

Inside a cluster, the pod's service account is used; elsewhere --kubeconfig, then $KUBECONFIG, then ~/.kube/config.
The CRDs must be there, and not older than this program needs: armature install`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			lines, err := logHandler(cmd.ErrOrStderr(), o.logFormat, o.logLevel)
			if err != nil {
				return err
			}
			handler := limitLines(lines)
			defer handler.flush()
			logger := logr.FromSlogHandler(handler)
			ctrl.SetLogger(logger)
			klog.SetSlogLogger(slog.New(handler))
			slog.SetDefault(slog.New(handler)) // and what net/http says by package log, of handshakes that fail
			return told(o.listening(run(cmd.Context(), o, logger)), o.logFormat, logger)
		},
	}
	f := cmd.Flags()
	f.StringVar(o.kube.KubeConfig, "kubeconfig", "", "`file` that says how to reach the cluster")
	f.StringVar(o.kube.Context, "context", "", "`name` of the kubeconfig's context to use")
	f.StringSliceVar(&o.watchNamespaces, "watch-namespaces", nil, "`names` of the namespaces whose objects are worked on, separated by commas (default: all)")
	f.StringVar(&o.selector, "selector", "", "label `selector` of the objects that are worked on, such as "+v1alpha1.LabelShard+"=a, to share the work among several managers (default: all)")
	f.StringVar(&o.metricsAddress, "metrics-bind-address", ":8443", "`address` of the metrics endpoint, /metrics; 0 for none")
	f.BoolVar(&o.metricsSecure, "metrics-secure", true, "serve metrics by https, to those only whom the cluster lets get the path /metrics; otherwise by http, to everyone")
	f.StringVar(&o.metricsCertDir, "metrics-cert-dir", "", "`directory` of tls.crt and tls.key for the metrics endpoint, read again when they change (default: a certificate of its own, by no authority)")
	f.StringVar(&o.pprofAddress, "pprof-bind-address", "0", "`address` of the profiles of net/http/pprof, for everyone who reaches it, so best one of localhost; 0 for none")
	f.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "`address` of the health endpoints, /healthz and /readyz; 0 for none")
	f.BoolVar(&o.webhook, "webhook", false, "serve the validating webhook, which refuses specs that an operator couldn't carry out as they are applied, not only by condition")
	f.IntVar(&o.webhookPort, "webhook-port", 9443, "`port` of the webhook")
	f.StringVar(&o.webhookCertDir, "webhook-cert-dir", "", "`directory` of tls.crt and tls.key for the webhook, read again when they change; needed with --webhook")
	f.StringVar(&o.webhookCertificates, "webhook-certificates", certificatesGiven, "who puts the certificate there: given (somebody else) or self-managed (the manager: it makes one and renews it, in a Secret, tells the API server whom to trust, and notes there, where it must be able to write, what it serves with)")
	f.StringVar(&o.webhookName, "webhook-name", "armature", "`name` of the ValidatingWebhookConfiguration that a self-managed certificate is for; its Secret and its Service, in the manager's namespace, have this name with -webhook appended")
	f.StringVar(&o.webhookClientCA, "webhook-client-ca", "", "`file` of the authorities, as PEM, one of which must have signed the client certificate of whoever sends a review, read again at each connection (default: none is asked for)")
	f.BoolVar(&o.leaderElect, "leader-elect", true, "work only while holding the lease, so that several managers can run")
	f.StringVar(&o.leaderElectNamespace, "leader-elect-namespace", "", "`namespace` of the lease (default: the pod's own; outside a cluster that of the kubeconfig's context)")
	f.StringVar(&o.leaderElectName, "leader-elect-name", leaseName, "`name` of the lease; managers that have different work, in one namespace, need different ones")
	o.lease.addFlags(f)
	f.StringSliceVar(&o.operators, "operators", []string{"*"}, "`names` of the operators to run, separated by commas; * is all of them")
	f.IntVar(&o.concurrency, "max-concurrent-reconciles", 8, "how many objects of a kind are worked on at a time")
	f.StringVar(&o.stateDir, "state-dir", "", "`directory` of this process alone that survives a restart of its container, such as an emptyDir volume: an object during whose pass the manager ended unexpectedly is then put off, and not tried at once at each start (default: none is)")
	f.Float32Var(&o.qps, "kube-api-qps", -1, "requests a second to the API server at most; -1 leaves it to the server's own priority and fairness")
	f.IntVar(&o.burst, "kube-api-burst", 0, "how many requests may be made at once before --kube-api-qps holds (default: half as many again)")
	f.StringVar(&o.logLevel, "log-level", "info", "`level`: debug, info, warn or error")
	f.StringVar(&o.logFormat, "log-format", "text", "`format`: text or json")
	return cmd
}

// told logs why the manager ends, where a line that isn't JSON would be out of place.
func told(err error, format string, logger logr.Logger) error {
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
	if o.webhookClientCA != "" && !o.webhook {
		return errors.New("--webhook-client-ca means nothing without --webhook")
	}
	for _, name := range o.watchNamespaces {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return fmt.Errorf("--watch-namespaces: %q can't be a namespace's name: %s", name, problems[0])
		}
	}
	_, err := o.shard()
	return err
}
