package preview_test

import (
	"context"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/preview"
)

// A program whose flag --preview shows what it would do.
func Example() {
	run := func(ctx context.Context, asked bool, setup func(manager.Manager) error) error {
		mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{})
		if err != nil {
			return err
		}
		if !asked {
			if err := setup(mgr); err != nil {
				return err
			}
			return mgr.Start(ctx)
		}
		around := preview.Around(mgr)
		if err := setup(around); err != nil {
			return err
		}
		report, err := around.Run(ctx)
		if err != nil {
			return err
		}
		return report.WriteText(os.Stdout, true)
	}
	_ = run // called by main, with the flag and with the setup of the operators
}
