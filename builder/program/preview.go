package program

import (
	"context"
	"errors"
	"flag"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/armature-dev/armature/builder/preview"
)

// ErrChanges is the error of a preview that finds changes or problems. [Main] ends with the exit code 2.
var ErrChanges = errors.New("the preview has changes")

// preview writes what the operators would change.
func (o Options) preview(ctx context.Context, scheme *runtime.Scheme, args []string, out io.Writer) error {
	flags := flag.NewFlagSet(o.Name+" preview", flag.ContinueOnError)
	config.RegisterFlags(flags)
	namespaces := namespacesFlag(flags)
	fields := flags.Bool("fields", false, "also show the fields that would differ")
	if err := parse(flags, args); err != nil {
		return err
	}
	mgr, err := o.manager(scheme, *namespaces, quiet())
	if err != nil {
		return err
	}
	around := preview.Around(mgr)
	if err := o.Setup(around); err != nil {
		return err
	}
	report, err := around.Run(ctx)
	if err != nil {
		return err
	}
	if err := report.WriteText(out, *fields); err != nil {
		return err
	}
	if len(report.Details) > 0 {
		return ErrChanges
	}
	return nil
}
