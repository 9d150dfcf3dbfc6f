package record_test

import (
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/record"
)

// A program whose manager records 8 MiB of passes. It serves them beside its metrics, to those who may get this path.
func ExampleRecorder() {
	setup := func(mgr manager.Manager) error { return operator(mgr).Complete() }
	run := func() error {
		mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{})
		if err != nil {
			return err
		}
		recorder := record.NewRecorder(8 << 20)
		if err := mgr.AddMetricsServerExtraHandler(record.Path, recorder); err != nil {
			return err
		}
		if err := setup(recorder.Around(mgr)); err != nil {
			return err
		}
		return mgr.Start(ctrl.SetupSignalHandler())
	}
	_ = run // called by main
}

// A command of a program that replays a file.
func ExampleReplay() {
	replay := func(file *os.File) error {
		list, err := record.Read(file)
		if err != nil {
			return err
		}
		for i := range list.Items {
			replayed, err := record.Replay(operator(nil), scheme.Scheme, &list.Items[i])
			if err != nil {
				return err
			}
			fmt.Println(list.Items[i].OwnerName(), len(replayed.Differences), "differences")
			if err := replayed.WriteText(os.Stdout); err != nil {
				return err
			}
		}
		return nil
	}
	_ = replay // called by main, with the file of an argument
}

// operator is an operator of the program, without a manager (nil) for replays.
func operator(mgr manager.Manager) *builder.Operator[*corev1.ConfigMap] {
	return builder.NewOperator[*corev1.ConfigMap](mgr, "copier").
		Owns(&corev1.Secret{}).
		Plan(func(*corev1.ConfigMap, builder.View) builder.Plan[*corev1.ConfigMap] {
			return builder.Plan[*corev1.ConfigMap]{}
		})
}
