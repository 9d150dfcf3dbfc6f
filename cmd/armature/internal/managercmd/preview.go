package managercmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/preview"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
	"github.com/armature-dev/armature/cmd/armature/internal/leader"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// The exit codes of a preview, beside 0 for no change and 1 for an error.
const (
	exitChanges    = 2
	exitDisruptive = 3
)

// NewPreview returns the command preview.
func NewPreview() *cobra.Command {
	o := options{
		kube: connect.Flags(), concurrency: 1, qps: -1, rolloutMaxOwners: "0", metricsAddress: "0", healthAddress: "0", pprofAddress: "0",
	}
	format := output.New("json", "yaml", "markdown")
	fields := false
	cmd := &cobra.Command{
		Use:   "preview",
		Short: "Show what this version's operators would change in the cluster, and write nothing",
		Long: `Show what the operators of this version of armature would change if they ran in the cluster now: use it before an upgrade.
It runs one pass for each JobFlow, DaemonJob, ReplicaJob, MiniCluster, FluxJob and FluxSetup. The writes are dry runs of the
API server.

A change is disruptive if it deletes or recreates an object, restarts pods, or scales down. "drift" means that another writer
changed the object; the operator would restore it, also without an upgrade. A changed status is not disruptive; the preview
only counts objects without other changes.

Without flags, the preview covers the objects of the manager that has a lease in the cluster; -n selects one namespace. It stores
nothing and needs only read permissions: without permission for a dry run, the preview estimates the result, and reports that.

The exit code is 0 without changes, 2 with changes (of a status too) or problems, 3 with disruptive changes, and 1 after an error.`,
		Example: "  armature preview\n  armature preview --fields\n  armature preview -o markdown > comment.md",
		Args:    noFiles,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			ctrl.SetLogger(logr.Discard()) // the report has the errors
			report, err := previewAll(cmd.Context(), o, cmd.Flags().Changed)
			if err != nil {
				return &exitcode.Error{Code: 1, Err: err}
			}
			return show(cmd.OutOrStdout(), report, format, fields)
		},
	}
	f := cmd.Flags()
	o.kube.AddFlags(f)
	f.StringSliceVar(&o.operators, "operators", []string{"*"}, "`names` of the operators, separated by commas; * is all of them")
	f.StringVarP(&o.selector, "selector", "l", "", "label `selector` of the objects to preview (default: the manager's)")
	f.StringVar(&o.leaderElectNamespace, "leader-elect-namespace", "", "`namespace` of the manager's lease, if there are several managers")
	f.StringVar(&o.leaderElectName, "leader-elect-name", leaseName, "`name` of the manager's lease, if there are several managers")
	f.BoolVar(&fields, "fields", false, "also show the fields that would differ")
	format.AddTo(f)
	return cmd
}

// noFiles refuses arguments, which someone may take for manifests.
func noFiles(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: preview shows the objects of the cluster; -n and -l select some of them", args[0])
	}
	return nil
}

// checkNamespace returns an error for a namespace that doesn't exist, where a preview would find nothing. The user may not be permitted to
// get namespaces.
func checkNamespace(ctx context.Context, c client.Reader, name string) error {
	err := c.Get(ctx, client.ObjectKey{Name: name}, &corev1.Namespace{})
	if name != "" && apierrors.IsNotFound(err) {
		return fmt.Errorf("--namespace: the namespace %q doesn't exist", name)
	}
	return nil
}

// previewAll previews all operators. given reports whether the user has set a flag.
func previewAll(ctx context.Context, o options, given func(flag string) bool) (*preview.Report, error) {
	if given("namespace") {
		o.watchNamespaces = []string{*o.kube.Namespace}
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	cfg, err := restConfig(o)
	if err != nil {
		return nil, err
	}
	reader, err := client.New(cfg, client.Options{Scheme: newScheme()})
	if err != nil {
		return nil, err
	}
	if given("namespace") {
		if err := checkNamespace(ctx, reader, *o.kube.Namespace); err != nil {
			return nil, err
		}
	}
	if o, err = likeManager(ctx, reader, o, given); err != nil {
		return nil, err
	}
	operators, err := selectOperators(o.operators)
	if err != nil {
		return nil, err
	}
	unelected := o
	unelected.leaderElect = false
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	unelected.watchFailed = func(_ context.Context, _ *toolscache.Reflector, err error) {
		if apierrors.IsForbidden(err) { // the reflector would retry forever
			fail(err)
		}
	}
	mgr, _, err := newManager(unelected, nil, logr.Discard())
	if err != nil {
		return nil, err
	}
	if err := checkKinds(mgr.GetRESTMapper(), operators); err != nil {
		return nil, err
	}
	asked := preview.Around(mgr)
	for _, op := range operators {
		if err := op.setup(asked, o); err != nil {
			return nil, fmt.Errorf("set up the operator %s: %w", op.name, err)
		}
	}
	return asked.Run(ctx)
}

// likeManager gives the options that the user hasn't set the values of the manager in the cluster, if there is one.
func likeManager(ctx context.Context, c client.Reader, o options, given func(flag string) bool) (options, error) {
	namespace := ""
	if given("leader-elect-namespace") {
		namespace = o.leaderElectNamespace
	}
	managers, err := leader.Find(ctx, c, namespace)
	if err != nil {
		return o, err
	}
	managers = slices.DeleteFunc(managers, func(m leader.Manager) bool {
		return given("leader-elect-name") && m.Lease != o.leaderElectName
	})
	// An uninstalled manager leaves its lease, released. So does one that has stopped, which counts if there is no other.
	if held := slices.DeleteFunc(slices.Clone(managers), func(m leader.Manager) bool { return m.Holder == "" }); len(held) > 0 {
		managers = held
	}
	if len(managers) == 0 {
		return o, nil
	}
	if len(managers) > 1 {
		var names []string
		for _, m := range managers {
			names = append(names, m.Namespace+"/"+m.Lease)
		}
		return o, fmt.Errorf("the cluster has %d managers, with the leases %s; choose one with --leader-elect-namespace and --leader-elect-name",
			len(managers), strings.Join(names, ", "))
	}
	m := managers[0]
	o.leaderElectNamespace, o.leaderElectName = m.Namespace, m.Lease
	o.leaderElect = true // the queues know the manager by its lease; the preview takes no lease
	if !given("namespace") {
		o.watchNamespaces = m.Scope.Namespaces
	}
	if !given("selector") {
		o.selector = m.Scope.Selector
	}
	if !given("operators") && len(m.Scope.Operators) > 0 {
		o.operators = m.Scope.Operators
	}
	return o, nil
}

// show prints the report, and returns its exit code.
func show(w io.Writer, report *preview.Report, format *output.Flag, fields bool) error {
	encoded, err := format.Encode(w, report)
	switch {
	case encoded || err != nil:
	case format.Format == "markdown":
		err = report.WriteMarkdown(w)
	default:
		err = report.WriteText(w, fields)
	}
	switch {
	case err != nil:
		return &exitcode.Error{Code: 1, Err: err}
	case report.Disruptive > 0:
		return &exitcode.Error{Code: exitDisruptive}
	case report.Changed > 0 || report.StatusOnly > 0 || report.Refused > 0:
		return &exitcode.Error{Code: exitChanges}
	}
	return nil
}
