package replicajob

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestSuccess(t *testing.T) {
	none := func(*v1alpha1.ReplicaJob) {}
	tests := map[string]struct {
		options []option
		ended   []string // with exit code 0
		failed  []string // with exit code 1
		want    v1alpha1.ReplicaJobState
		at      string
	}{
		"chief decides":                  {[]option{replicas("Chief", 1), replicas("Worker", 2), none}, []string{"chief-0"}, nil, "Succeeded", "succeeded: 1 Chief"},
		"not the workers":                {[]option{replicas("Chief", 1), replicas("Worker", 2)}, []string{"worker-0", "worker-1"}, nil, "Running", ""},
		"chief wins over a failure":      {[]option{replicas("Chief", 1), replicas("Worker", 2)}, []string{"chief-0"}, []string{"worker-0"}, "Succeeded", ""},
		"a failure fails":                {[]option{replicas("Chief", 1), replicas("Worker", 2)}, []string{"worker-1"}, []string{"worker-0"}, "Failed", ""},
		"master decides":                 {[]option{replicas("Master", 1), replicas("Worker", 2)}, []string{"master-0"}, nil, "Succeeded", ""},
		"chief goes before master":       {[]option{replicas("Master", 1), replicas("Chief", 1)}, []string{"master-0"}, nil, "Running", ""},
		"in any case":                    {[]option{replicas("master", 1), replicas("Worker", 2)}, []string{"worker-0"}, nil, "Running", ""},
		"launcher decides":               {[]option{replicas("Launcher", 1), replicas("Worker", 2)}, []string{"launcher-0"}, nil, "Succeeded", ""},
		"a chief without replicas":       {[]option{replicas("Chief", 0), replicas("Worker", 2)}, []string{"worker-0"}, nil, "Succeeded", "Worker 0 succeeded"},
		"worker 0 decides":               {[]option{replicas("Worker", 3), replicas("PS", 1)}, []string{"worker-0"}, nil, "Succeeded", ""},
		"not worker 1":                   {[]option{replicas("Worker", 3)}, []string{"worker-1"}, nil, "Running", ""},
		"all, without a name":            {[]option{replicas("A", 1), replicas("B", 2)}, []string{"a-0", "b-0", "b-1"}, nil, "Succeeded", "succeeded: 1 A, 2 B"},
		"not all":                        {[]option{replicas("A", 1), replicas("B", 2)}, []string{"a-0", "b-0"}, nil, "Running", ""},
		"all workers":                    {[]option{replicas("Chief", 1), replicas("Worker", 2), success("AllWorkers")}, []string{"worker-0", "worker-1"}, nil, "Succeeded", ""},
		"all workers, not yet":           {[]option{replicas("Chief", 1), replicas("Worker", 2), success("AllWorkers")}, []string{"chief-0", "worker-0"}, nil, "Running", ""},
		"rule All":                       {[]option{replicas("A", 1), replicas("B", 2), replicas("C", 1), success("All", "A", "B")}, []string{"a-0", "b-0", "b-1"}, nil, "Succeeded", ""},
		"rule All, not yet":              {[]option{replicas("A", 1), replicas("B", 2), success("All", "A", "B")}, []string{"b-0", "b-1"}, nil, "Running", ""},
		"rule Any":                       {[]option{replicas("A", 1), replicas("B", 2), success("Any", "A", "B")}, []string{"b-1"}, nil, "Succeeded", "B 1 succeeded"},
		"rule Any, of others":            {[]option{replicas("A", 1), replicas("B", 2), success("Any", "A")}, []string{"b-1"}, nil, "Running", ""},
		"rule Any wins over a failure":   {[]option{replicas("A", 1), replicas("B", 2), success("Any", "A", "B")}, []string{"b-1"}, []string{"a-0"}, "Succeeded", ""},
		"rule Leader, said":              {[]option{replicas("Chief", 1), replicas("Worker", 1), success("Leader")}, []string{"chief-0"}, nil, "Succeeded", ""},
		"a type without replicas is out": {[]option{replicas("A", 1), replicas("B", 0), success("All", "A", "B")}, []string{"a-0"}, nil, "Succeeded", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, makeJob(tt.options...))
			c.settle()
			c.run()
			c.seconds = 7
			for _, pod := range tt.ended {
				c.ends(0, "demo-"+pod)
			}
			for _, pod := range tt.failed {
				c.ends(1, "demo-"+pod)
			}
			c.at(30)
			assert.Equal(t, tt.want, c.job.Status.State)
			if tt.want != "Running" {
				assert.Equal(t, epoch.Unix()+7, c.job.Status.CompletionTime.Unix(), "when it happened, not when it was seen")
			}
			if tt.at != "" {
				assert.Equal(t, tt.at, c.condition("Succeeded").Message)
			}
		})
	}
}

func TestWhenAJobSucceeded(t *testing.T) {
	for rule, want := range map[v1alpha1.SuccessRule]int64{"All": 9, "Any": 3} {
		c := newCluster(t, makeJob(replicas("A", 3), success(rule, "A")))
		c.settle()
		c.run()
		for name, at := range map[string]int{"demo-a-0": 5, "demo-a-1": 9, "demo-a-2": 3} {
			c.seconds = at
			c.ends(0, name)
		}
		c.at(100)
		assert.Equal(t, epoch.Unix()+want, c.job.Status.CompletionTime.Unix(), rule)
	}
}
