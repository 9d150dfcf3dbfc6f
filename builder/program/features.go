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
	"github.com/armature-dev/armature/internal/statedir"
)

// features are what a manager has for all its operators. Each is off by default, because it needs memory or permissions.
type features struct {
	maxOwners     string
	undo          bool
	recordBytes   int
	recordAddress string
	stateDir      string
}

func (f *features) addTo(flags *flag.FlagSet) {
	flags.StringVar(&f.maxOwners, "rollout-max-owners", "unlimited", "maximum `number` of a kind's existing objects, or percentage such as "+
		"10%, that a new version of the program disrupts at once; armature rollout shows and controls it")
	flags.BoolVar(&f.undo, "undo", false, "keep the state of objects before a disruptive change, for armature undo")
	flags.IntVar(&f.recordBytes, "record-bytes", 0, "maximum `size` in bytes of the recorded passes, which armature record fetches; "+
		"0 for no record")
	flags.StringVar(&f.recordAddress, "record-bind-address", "127.0.0.1:8082",
		"`address` of the recorded passes with --record-bytes, without authentication: use an address of localhost")
	flags.StringVar(&f.stateDir, "state-dir", "", "`directory` of this process that survives a restart of its container, such as an "+
		"emptyDir volume; the program records its current passes there, and postpones their objects after an unexpected end "+
		"(default: no record)")
}

// around returns a manager whose operators have the features, and the function to call when the process ends as intended. The records of
// roll-outs are in the given namespace, or in that of the pod; their names begin with that of the program.
func (f features) around(mgr manager.Manager, program, namespace string) (with manager.Manager, ended func(), err error) {
	if f.recordBytes < 0 {
		return nil, nil, fmt.Errorf("--record-bytes must not be negative, got %d", f.recordBytes)
	}
	if err := release.Check(f.maxOwners); err != nil {
		return nil, nil, fmt.Errorf("--rollout-max-owners: %w", err)
	}
	if f.recordBytes > 0 {
		recorder := record.NewRecorder(f.recordBytes)
		if err := recorder.Listen(mgr, f.recordAddress); err != nil {
			return nil, nil, err
		}
		mgr = recorder.Around(mgr)
	}
	if !release.IsUnlimited(f.maxOwners) {
		namespace = cmp.Or(namespace, podNamespace())
		if namespace == "" {
			return nil, nil, fmt.Errorf("--rollout-max-owners=%s needs a namespace for its record, and the program isn't in a pod: "+
				"set --leader-elect-namespace", f.maxOwners)
		}
		mgr, err = release.Around(mgr, release.Options{MaxOwners: f.maxOwners, Namespace: namespace, Name: program + "-rollout"})
		if err != nil {
			return nil, nil, err
		}
	}
	if f.undo {
		if mgr, err = undo.Around(mgr, undo.Options{}); err != nil {
			return nil, nil, err
		}
	}
	return statedir.Quarantined(mgr, f.stateDir)
}

// podNamespace returns the namespace of the pod that the program runs in; empty outside of a pod.
func podNamespace() string {
	text, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
