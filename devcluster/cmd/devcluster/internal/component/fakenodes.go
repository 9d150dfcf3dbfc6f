package component

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

// newFakeNodesCommand is kwok's own main function: its configuration files are read, and put into the
// context, before its command is built.
func newFakeNodesCommand() *cobra.Command {
	global := pflag.NewFlagSet("global", pflag.ContinueOnError)
	global.ParseErrorsAllowlist.UnknownFlags = true
	global.Usage = func() {}

	ctx, _ := kwoklog.InitFlags(signals.SetupSignalContext(), global)
	ctx, err := kwokconfig.InitFlags(ctx, global)
	if err != nil {
		return failing(fmt.Errorf("read kwok configuration: %w", err))
	}
	// Kubernetes packages put a --version that is no bool where cobra, and so kwok's command, picks it up.
	pflag.CommandLine = pflag.NewFlagSet("kwok", pflag.ContinueOnError)
	kwok := cmd.NewCommand(ctx)
	kwok.PersistentFlags().AddFlagSet(global)
	kwok.SetContext(ctx)
	return kwok
}

func failing(err error) *cobra.Command {
	return &cobra.Command{
		DisableFlagParsing: true,
		SilenceUsage:       true,
		RunE:               func(*cobra.Command, []string) error { return err },
	}
}
