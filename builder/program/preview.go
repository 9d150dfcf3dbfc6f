package program

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/armature-dev/armature/builder/preview"
)

var (
	// ErrChanges is the error of a preview that finds changes or problems. [Main] ends with the exit code 2.
	ErrChanges = errors.New("the preview has changes")
	// ErrDisruptive is the error of a preview that finds disruptive changes. [Main] ends with the exit code 3.
	ErrDisruptive = errors.New("the preview has disruptive changes")
)

// preview writes what the operators would change.
func (o Options) preview(ctx context.Context, scheme *runtime.Scheme, args []string, out io.Writer) error {
	flags := flag.NewFlagSet(o.Name+" preview", flag.ContinueOnError)
	config.RegisterFlags(flags)
	namespaces := namespacesFlag(flags)
	fields := flags.Bool("fields", false, "also show the fields that would differ")
	format := flags.String("o", "text", "`format` of the report: text, json or markdown")
	if err := parse(flags, args); err != nil {
		return err
	}
	write := map[string]func(*preview.Report) error{
		"text":     func(r *preview.Report) error { return r.WriteText(out, *fields) },
		"json":     func(r *preview.Report) error { return json.NewEncoder(out).Encode(r) },
		"markdown": func(r *preview.Report) error { return r.WriteMarkdown(out) },
	}[*format]
	if write == nil {
		return fmt.Errorf("-o is %q; accepted are text, json and markdown", *format)
	}
	watched, err := split(*namespaces)
	if err != nil {
		return err
	}
	mgr, err := o.manager(scheme, watched, quiet())
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
	if err := write(report); err != nil {
		return err
	}
	switch {
	case report.Disruptive > 0:
		return ErrDisruptive
	case len(report.Details) > 0:
		return ErrChanges
	}
	return nil
}
