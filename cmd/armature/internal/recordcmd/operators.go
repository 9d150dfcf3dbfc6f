package recordcmd

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/operators/daemonjob"
	"github.com/armature-dev/armature/operators/fluxjob"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/jobflow"
	"github.com/armature-dev/armature/operators/minicluster"
	"github.com/armature-dev/armature/operators/replicajob"
)

// settingQueueManager is the name of the setting that has the manager's identity to the queues, as JSON.
const settingQueueManager = "queueManager"

// Settings are the settings of a manager that its plans depend on, for its recorder.
func Settings(queues admission.Manager) (map[string]string, error) {
	text, err := json.Marshal(queues)
	return map[string]string{settingQueueManager: string(text)}, err
}

// operator is a bundled operator.
type operator struct {
	replay func(*runtime.Scheme, *record.Pass) (*record.Replayed, error)
	// imports and expression make it in a Go test.
	imports    []string
	expression string
}

// operators are the bundled operators by name.
var operators = map[string]operator{
	daemonjob.Name: {
		replayed(func(admission.Manager) *builder.Operator[*v1alpha1.DaemonJob] { return daemonjob.Operator(nil) }),
		[]string{module + "operators/daemonjob"}, "daemonjob.Operator(nil)",
	},
	fluxjob.Name: {
		replayed(func(m admission.Manager) *builder.Operator[*v1alpha1.FluxJob] { return fluxjob.Operator(nil, m) }),
		[]string{module + "operators/fluxjob", module + "operators/fluxjob/admission"}, "fluxjob.Operator(nil, %#v)",
	},
	admission.Name: {
		replayed(func(m admission.Manager) *builder.Operator[*v1alpha1.FluxSetup] { return admission.Operator(nil, m) }),
		[]string{module + "operators/fluxjob/admission"}, "admission.Operator(nil, %#v)",
	},
	jobflow.Name: {
		replayed(func(admission.Manager) *builder.Operator[*v1alpha1.JobFlow] { return jobflow.Operator(nil) }),
		[]string{module + "operators/jobflow"}, "jobflow.Operator(nil)",
	},
	minicluster.Name: {
		replayed(func(admission.Manager) *builder.Operator[*v1alpha1.MiniCluster] {
			return minicluster.Operator(nil, minicluster.Planner{NewCertificate: minicluster.NewCertificate})
		}),
		[]string{module + "operators/minicluster"},
		"minicluster.Operator(nil, minicluster.Planner{NewCertificate: minicluster.NewCertificate})",
	},
	replicajob.Name: {
		replayed(func(admission.Manager) *builder.Operator[*v1alpha1.ReplicaJob] {
			kind := replicajob.ReplicaJobs
			kind.Schedulers = schedulers
			return kind.Operator(nil)
		}),
		[]string{module + "operators/replicajob", module + "builder"},
		"func() *builder.Operator[*v1alpha1.ReplicaJob] { kind := replicajob.ReplicaJobs; kind.Schedulers = []v1alpha1.GangProvider{" +
			quoted(schedulers) + "}; return kind.Operator(nil) }()",
	},
}

const module = "github.com/armature-dev/armature/"

// schedulers are all gang schedulers: the operator declares their kinds, and the view says which of them the cluster had.
var schedulers = []v1alpha1.GangProvider{
	v1alpha1.GangKubernetes, v1alpha1.GangVolcano, v1alpha1.GangSchedulerPlugins, v1alpha1.GangPodDisruptionBudget,
}

func quoted(all []v1alpha1.GangProvider) string {
	var text []string
	for _, provider := range all {
		text = append(text, fmt.Sprintf("%q", provider))
	}
	return strings.Join(text, ", ")
}

func replayed[T client.Object](
	of func(admission.Manager) *builder.Operator[T],
) func(*runtime.Scheme, *record.Pass) (*record.Replayed, error) {
	return func(scheme *runtime.Scheme, pass *record.Pass) (*record.Replayed, error) {
		m, err := queueManager(pass)
		if err != nil {
			return nil, err
		}
		return record.Replay(of(m), scheme, pass)
	}
}

// queueManager returns the identity of the manager that made a pass.
func queueManager(pass *record.Pass) (m admission.Manager, err error) {
	text, ok := pass.Program.Settings[settingQueueManager]
	if !ok {
		return m, nil
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return m, fmt.Errorf("settings: %s: %w", settingQueueManager, err)
	}
	return m, nil
}

// operatorOf returns the bundled operator of a pass.
func operatorOf(pass *record.Pass) (operator, error) {
	op, ok := operators[pass.Operator]
	if !ok {
		return op, fmt.Errorf("the pass is of the operator %q; this program has %s. Another program offers its own with package "+
			"builder/record", pass.Operator, strings.Join(slices.Sorted(maps.Keys(operators)), ", "))
	}
	return op, nil
}
