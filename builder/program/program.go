package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Options describe a program.
type Options struct {
	// Name is the name of the program in messages. Its lease is NAME, and its role NAME-operator. Required.
	Name string
	// AddToScheme adds the program's own kinds to a scheme that has those of Kubernetes. Required.
	AddToScheme func(*runtime.Scheme) error
	// Setup adds the operators to a manager. Required. It is the same for all commands, so it must not use the manager's client.
	Setup func(manager.Manager) error
	// Cache has the options of the manager's cache, such as a label filter, which must include the children: see builder.EngineFor.
	// Default: everything that the operators read.
	Cache cache.Options
	// Permissions are those of the role that don't follow from the declarations: see rbac.Options.More. Default: nil, none.
	Permissions []rbacv1.PolicyRule
}

// Main runs the program with the arguments of the process, until SIGINT or SIGTERM, and ends the process: with the code 0, with 1 after
// an error, or with 2 or 3 if a preview finds changes or disruptive ones.
func Main(o Options) {
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
	err := Run(ctrl.SetupSignalHandler(), o, os.Args[1:], os.Stdout)
	code := exitCode(err)
	if code == 1 {
		fmt.Fprintf(os.Stderr, "%s: %v\n", o.Name, err)
	}
	os.Exit(code)
}

func exitCode(err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, ErrDisruptive):
		return 3
	case errors.Is(err, ErrChanges):
		return 2
	default:
		return 1
	}
}

// Run runs the program with the given arguments, without the program's name, until ctx ends. It writes reports and roles to out.
func Run(ctx context.Context, o Options, args []string, out io.Writer) error {
	scheme := NewScheme(o.AddToScheme)
	commands := map[string]func(context.Context, *runtime.Scheme, []string, io.Writer) error{"preview": o.preview, "role": o.role}
	command := o.operate
	if len(args) > 0 && len(args[0]) > 0 && args[0][0] != '-' {
		if command = commands[args[0]]; command == nil {
			return fmt.Errorf("there is no command %q; there are preview and role, and without a command the operators run", args[0])
		}
		args = args[1:]
	}
	return command(ctx, scheme, args, out)
}

// NewScheme returns a scheme with the kinds of Kubernetes and those that add adds. It panics if one of them fails, which is an error of
// the program.
func NewScheme(add func(*runtime.Scheme) error) *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(errors.Join(clientgoscheme.AddToScheme(scheme), add(scheme)))
	return scheme
}

// parse parses the flags of a command, which has no further arguments.
func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%s: unknown argument %q", flags.Name(), flags.Arg(0))
	}
	return nil
}
