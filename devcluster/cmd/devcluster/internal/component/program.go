package component

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"
)

// newProgramCommand runs a program that is no part of this binary, with the arguments that follow, as long as a
// component lives.
func newProgramCommand() *cobra.Command {
	return &cobra.Command{
		Use:                Program,
		Args:               cobra.MinimumNArgs(1),
		DisableFlagParsing: true,
		SilenceUsage:       true,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return runProgram(ctx, args)
		},
	}
}

func runProgram(ctx context.Context, args []string) error {
	// Where the kernel can, it kills the program when the thread that started it ends: this one stays.
	runtime.LockOSThread()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = diesWithParent()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopGrace
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		return errors.New(args[0] + " ended")
	}
	return err
}
