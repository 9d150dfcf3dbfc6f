// Command armature runs Armature's operators, and shows what they do.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/controlcmd"
	"github.com/armature-dev/armature/cmd/armature/internal/convertcmd"
	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
	"github.com/armature-dev/armature/cmd/armature/internal/explaincmd"
	"github.com/armature-dev/armature/cmd/armature/internal/graphcmd"
	"github.com/armature-dev/armature/cmd/armature/internal/installcmd"
	"github.com/armature-dev/armature/cmd/armature/internal/lintcmd"
	"github.com/armature-dev/armature/cmd/armature/internal/logscmd"
	"github.com/armature-dev/armature/cmd/armature/internal/managercmd"
	"github.com/armature-dev/armature/cmd/armature/internal/newcmd"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
	"github.com/armature-dev/armature/cmd/armature/internal/queuecmd"
	"github.com/armature-dev/armature/cmd/armature/internal/rbaccmd"
	"github.com/armature-dev/armature/cmd/armature/internal/recordcmd"
	"github.com/armature-dev/armature/cmd/armature/internal/rolloutcmd"
	"github.com/armature-dev/armature/cmd/armature/internal/treecmd"
	"github.com/armature-dev/armature/cmd/armature/internal/uicmd"
	"github.com/armature-dev/armature/cmd/armature/internal/watchcmd"
)

func main() { os.Exit(execute(os.Args)) }

// execute runs the command line, and returns the exit code.
func execute(args []string) int {
	ctx, stop := untilSignal()
	defer stop()
	klog.SetLogger(logr.Discard()) // commands say themselves what fails; the manager has a logger of its own
	root := newCommand()
	root.SetArgs(asCalled(root, args[0], args[1:]))
	showUsage(root)
	refuseUnknown(root)
	output.WrapHelp(root)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if by, ok := endedBySignal(ctx, err); ok {
		return 128 + int(by)
	}
	code, silent := exitcode.Of(err)
	if !silent {
		fmt.Fprintln(root.ErrOrStderr(), "armature:", connect.Advise(err))
	}
	return code
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "armature",
		Short:         "Run and inspect batch operators for Kubernetes",
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		if cmd.Name() != "manager" { // which sets its own: controller-runtime takes the first logger only
			ctrl.SetLogger(logr.Discard())
		}
	}
	root.SetOut(output.Clean(os.Stdout))
	root.SetErr(output.Clean(os.Stderr))
	root.AddCommand(installcmd.New(), managercmd.New(), managercmd.NewPreview(), watchcmd.New(), graphcmd.New())
	root.AddCommand(recordcmd.New()...)
	root.AddCommand(rolloutcmd.New())
	root.AddCommand(controlcmd.New()...)
	root.AddCommand(lintcmd.New(), convertcmd.New())
	root.AddCommand(newcmd.New(version()), newcmd.NewUpgrade(version()), rbaccmd.New())
	root.AddCommand(explaincmd.New(), treecmd.New(), queuecmd.New(), logscmd.New())
	root.AddCommand(uicmd.New())
	return root
}

// refuseUnknown makes a command that only groups others, and help, fail without the name of one of them. Cobra prints help instead, and
// the program ends with exit code 0, as if a mistyped command had done its work.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	// Cobra would print a usage line that always fails: a group has a function, which makes it runnable.
	const isRunnable = `{{if and .Runnable (not (index .Annotations "group"))}}`
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", isRunnable, 1))
	for _, group := range root.Commands() {
		if group.Name() == "help" {
			group.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err == nil && len(rest) > 0 {
					err = fmt.Errorf("unknown command %q for %q", rest[0], found.CommandPath())
				}
				return err
			}
		}
		if group.Runnable() {
			continue
		}
		var names []string
		for _, cmd := range group.Commands() {
			names = append(names, cmd.Name())
		}
		group.Args, group.Annotations = cobra.ArbitraryArgs, map[string]string{"group": "true"}
		group.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s needs a command: %s", cmd.CommandPath(), strings.Join(names, ", "))
			}
			return fmt.Errorf("unknown command %q for %q, which has: %s", args[0], cmd.CommandPath(), strings.Join(names, ", "))
		}
	}
}

// showUsage adds the usage to the errors of a command's arguments, and those of the commands below it.
func showUsage(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return fmt.Errorf("%w\n\nUsage: %s", err, cmd.UseLine())
			}
			return nil
		}
	}
	for _, below := range cmd.Commands() {
		showUsage(below)
	}
}

// buildVersion is set by the build of the image, which has no repository around it.
var buildVersion string

// version is the version that the build was given, or else that the Go toolchain recorded.
func version() string {
	if buildVersion != "" {
		return buildVersion
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
