package managercmd

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/daemonjob"
	"github.com/armature-dev/armature/operators/fluxjob"
	"github.com/armature-dev/armature/operators/jobflow"
	"github.com/armature-dev/armature/operators/minicluster"
	"github.com/armature-dev/armature/operators/replicajob"
)

// operator is one of those that the manager can run.
type operator struct {
	name string
	// runs is an empty object of the kind that the operator runs.
	runs client.Object
	// kinds must be known to the cluster, in the group and version of [v1alpha1].
	kinds []string
	setup func(manager.Manager, options) error
	// undo is true if the operator has children whose disruption can be undone: not only Jobs and Pods, which would run again.
	undo bool
}

// alone is the setup of an operator that writes nothing that operators of other managers write, too.
func alone(setup func(manager.Manager) error) func(manager.Manager, options) error {
	return func(mgr manager.Manager, _ options) error { return setup(mgr) }
}

// withQueues is the setup of the operator of FluxJobs. A queue is shared, and has one manager.
func withQueues(mgr manager.Manager, o options) error {
	m, err := o.queueManager()
	if err != nil {
		return err
	}
	return fluxjob.Setup(mgr, m)
}

// bundled are all operators, in the order of their names.
var bundled = []operator{
	{daemonjob.Name, &v1alpha1.DaemonJob{}, []string{"DaemonJob"}, alone(daemonjob.Setup), false},
	{fluxjob.Name, &v1alpha1.FluxJob{}, []string{"FluxJob", "FluxSetup", "MiniCluster"}, withQueues, false},
	{jobflow.Name, &v1alpha1.JobFlow{}, []string{"JobFlow", "JobTemplate"}, alone(jobflow.Setup), false},
	{minicluster.Name, &v1alpha1.MiniCluster{}, []string{"MiniCluster"}, alone(minicluster.Setup), true},
	{replicajob.Name, &v1alpha1.ReplicaJob{}, []string{"ReplicaJob"}, alone(replicajob.Setup), false},
}

// selectOperators returns the operators that --operators asks for: names, or * for all. The cluster doesn't need the
// kinds of the others.
func selectOperators(asked []string) ([]operator, error) {
	known := make([]string, len(bundled))
	for i, o := range bundled {
		known[i] = o.name
	}
	for _, name := range asked {
		if name != "*" && !slices.Contains(known, name) {
			return nil, fmt.Errorf("--operators: there is no operator %q; there are *, %s", name, strings.Join(known, ", "))
		}
	}
	if len(asked) == 0 {
		return nil, fmt.Errorf("--operators: name at least one of *, %s", strings.Join(known, ", "))
	}
	var selected []operator
	for _, o := range bundled {
		if slices.Contains(asked, "*") || slices.Contains(asked, o.name) {
			selected = append(selected, o)
		}
	}
	return selected, nil
}
