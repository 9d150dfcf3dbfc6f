package program

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/builder/release"
	"github.com/armature-dev/armature/builder/undo"
)

// features are what a manager has for all its operators. Each is off by default, because it needs memory or permissions.
type features struct {
	maxOwners     string
	undo          bool
	recordBytes   int
	recordAddress string
}

func (f *features) addTo(flags *flag.FlagSet) {
	flags.StringVar(&f.maxOwners, "rollout-max-owners", "unlimited", "maximum `number` of a kind's existing objects, or percentage such as "+
		"10%, that a new version of the program disrupts at once; armature rollout shows and controls it")
	flags.BoolVar(&f.undo, "undo", false, "keep the state of objects before a disruptive change, for armature undo")
	flags.IntVar(&f.recordBytes, "record-bytes", 0, "maximum `size` in bytes of the recorded passes, which armature record fetches; "+
		"0 for no record")
	flags.StringVar(&f.recordAddress, "record-bind-address", "127.0.0.1:8082",
		"`address` of the recorded passes with --record-bytes, without authentication: use an address of localhost")
}

// around returns a manager whose operators have the features. The records of roll-outs are in the given namespace, or in that of the pod;
// their names begin with that of the program.
func (f features) around(mgr manager.Manager, program, namespace string) (manager.Manager, error) {
	if f.recordBytes < 0 {
		return nil, fmt.Errorf("--record-bytes must not be negative, got %d", f.recordBytes)
	}
	if err := release.Check(f.maxOwners); err != nil {
		return nil, fmt.Errorf("--rollout-max-owners: %w", err)
	}
	if f.recordBytes > 0 {
		recorder := record.NewRecorder(f.recordBytes)
		if err := recorder.Listen(mgr, f.recordAddress); err != nil {
			return nil, err
		}
		mgr = recorder.Around(mgr)
	}
	if !release.IsUnlimited(f.maxOwners) {
		namespace = cmp.Or(namespace, podNamespace())
		if namespace == "" {
			return nil, fmt.Errorf("--rollout-max-owners=%s needs a namespace for its record, and the program isn't in a pod: "+
				"set --leader-elect-namespace", f.maxOwners)
		}
		var err error
		mgr, err = release.Around(mgr, release.Options{MaxOwners: f.maxOwners, Namespace: namespace, Name: program + "-rollout"})
		if err != nil {
			return nil, err
		}
	}
	if !f.undo {
		return mgr, nil
	}
	return undo.Around(mgr, undo.Options{})
}

// podNamespace returns the namespace of the pod that the program runs in; empty outside of a pod.
func podNamespace() string {
	text, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
