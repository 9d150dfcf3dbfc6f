//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// examples says of each manifest under examples which test runs it to the end that its comments promise. They are grouped
// by the program whose users they are for.
var examples = map[string]map[string]string{
	"JobFlow operator": {
		"jobflow/testdata/seed.yaml":   "TestSeedOfJobFlows",
		"jobflow/example.yaml":         "TestExampleFlowRunsInOrderOnItsNode",
		"jobflow/allow-failure.yaml":   "TestExampleFlows",
		"jobflow/drained.yaml":         "TestExampleFlows",
		"jobflow/error.yaml":           "TestExampleFlows",
		"jobflow/finally.yaml":         "TestExampleFlows",
		"jobflow/foreach.yaml":         "TestExampleFlows",
		"jobflow/jobtemplate.yaml":     "TestExampleFlows",
		"jobflow/samenode.yaml":        "TestExampleFlows",
		"jobflow/sharevolume.yaml":     "TestExampleFlows",
		"jobflow/when.yaml":            "TestExampleFlows",
		"daemonjob/testdata/seed.yaml": "TestSeedOfDaemonJobs",
		"daemonjob/example.yaml":       "TestExampleDaemonJobLeavesOutItsNode",
		"daemonjob/rolling.yaml":       "TestExampleDaemonJobRolls",
		"daemonjob/newnodes.yaml":      "TestExampleDaemonJobForNewNodes",
		"daemonjob/cleanup.yaml":       "TestExampleDaemonJobCleansUp",
	},
	"Flux Operator": {
		"minicluster/plain.yaml":   "TestExampleMiniClusterWithALauncher",
		"minicluster/hello.yaml":   "TestExampleMiniClusterHello",
		"minicluster/batch.yaml":   "TestExampleMiniClusterBatch",
		"minicluster/elastic.yaml": "TestExampleMiniClusterElastic",
		"minicluster/kueue.yaml":   "TestExampleMiniClusterOfKueue",
		"flux/three-plain.yaml":    "TestExampleQueueOfThree",
		"flux/three-flux.yaml":     "TestExampleQueueOfThree",
		"flux/hello.yaml":          "TestExampleFluxJobs",
		"flux/batch.yaml":          "TestExampleFluxJobs",
		"flux/scale.yaml":          "TestExampleFluxJobs",
		"flux/queues.yaml":         "TestExampleQueuesOfACohort",
		"flux/kueue/fluxjob.yaml":  "TestExampleFluxJobOfKueue",
		"flux/kueue/queue.yaml":    "TestExampleQueueOfKueue",
	},
	"kubeflow/common, and the documentation of its job controller": {
		"replicajob/train.yaml":   "TestExampleReplicaJobTrains",
		"replicajob/restart.yaml": "TestExampleReplicaJobRestarts",
		"replicajob/mpi.yaml":     "TestExampleReplicaJobOfMPI",
		"replicajob/gang.yaml":    "TestExampleReplicaJobIsAGang",
		"torchjob/sample.yaml":    "TestExampleJobKindsFindEachOtherByDNS",
		"tfjob/sample.yaml":       "TestExampleJobKindsFindEachOtherByDNS",
	},
	"operator-builder": {
		"webapp/sample.yaml":   "TestExampleOperatorOfOnesOwn",
		"tutorial/sample.yaml": "TestExampleOperatorOfTheTutorial",
		"kvstore/rbac.yaml":    "TestExampleStore",
		"kvstore/sample.yaml":  "TestExampleStore",
		"kvstore/scaling.yaml": "TestExampleStore",
	},
}

// notRun are the examples that no container runs here: those of libraries have no program, and that of PostgreSQL needs a server outside
// of the cluster, which its own tests start beside a real API server.
var notRun = []string{"parseable/parseable.yaml", "pinot/pinot.yaml", "postgres/sample.yaml"}

// generated are files that say what there can be, or may be done: every test of their example makes use of them.
var generated = regexp.MustCompile(`/config/|/role\.yaml$`)

// An example that nobody runs is one that nobody knows to work.
func TestEveryExampleHasATest(t *testing.T) {
	files := map[string]bool{}
	require.NoError(t, fs.WalkDir(os.DirFS(filepath.Join(root, "examples")), ".", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".yaml") && !generated.MatchString(path) {
			files[path] = true
		}
		return err
	}))
	for _, path := range notRun {
		assert.True(t, files[path], "%s is no file", path)
		delete(files, path)
	}
	tests := testsOfThisPackage(t)
	for _, group := range examples {
		for path, test := range group {
			assert.True(t, files[path], "%s is no file", path)
			assert.True(t, tests[test], "%s is run by %s, which isn't a test", path, test)
			delete(files, path)
		}
	}
	for path := range files {
		assert.Fail(t, path+" is in no test; say in examples_test.go which one runs it")
	}
}

func testsOfThisPackage(t *testing.T) map[string]bool {
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, match := range regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`).FindAllStringSubmatch(string(text), -1) {
			found[match[1]] = true
		}
	}
	return found
}

// allApplied fails if all tests were run, and yet an example was not applied.
func allApplied() error {
	if flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.skip").Value.String() != "" {
		return nil
	}
	for _, group := range examples {
		for path, test := range group {
			if _, ok := applied.Load(path); !ok && path != kueuesQueue {
				return fmt.Errorf("%s was not applied, though %s is said to do it", path, test)
			}
		}
	}
	return nil
}

const kueuesQueue = "flux/kueue/queue.yaml"

// Kueue's own objects need Kueue. What the FluxJob beside them does is tested with the test in the place of Kueue.
func TestExampleQueueOfKueue(t *testing.T) {
	t.Parallel()
	if _, err := kubectl("get", "crd", "clusterqueues.kueue.x-k8s.io"); err != nil {
		t.Skip("needs Kueue, which is not in the cluster")
	}
	newSpace(t).apply(kueuesQueue)
}
