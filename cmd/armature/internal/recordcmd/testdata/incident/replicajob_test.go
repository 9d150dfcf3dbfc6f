package incident

import (
	"strings"
	"testing"

	v1alpha1 "github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/operators/replicajob"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// The pass over ReplicaJob.api.practice.com default/learn at 2026-01-01 00:00:00 +0000 UTC.
func TestReplicaJobApiPracticeComDefaultLearn(t *testing.T) {
	list, err := record.Read(strings.NewReader(recordedreplicajob))
	if err != nil {
		t.Fatal(err)
	}
	pass, operator, scheme := &list.Items[0], func() *builder.Operator[*v1alpha1.ReplicaJob] {
		kind := replicajob.ReplicaJobs
		kind.Schedulers = []v1alpha1.GangProvider{"Kubernetes", "Volcano", "SchedulerPlugins", "PodDisruptionBudget"}
		return kind.Operator(nil)
	}(), func() *runtime.Scheme {
		scheme := runtime.NewScheme()
		_ = clientgoscheme.AddToScheme(scheme)
		_ = v1alpha1.AddToScheme(scheme)
		return scheme
	}()
	owner, view, err := record.Input(operator, scheme, pass)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := buildertest.PlanFor(operator, owner, view)
	if err != nil {
		t.Fatal(err)
	}
	// The plan of the incident. If it is the mistake, correct it below: the test then fails until the operator is corrected.
	replayed, err := record.Compare(scheme, pass, view, plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range replayed.Differences {
		t.Errorf("%s is %v in the record, and now %v", d.Path, d.Recorded, d.Replayed)
	}
}

const recordedreplicajob = `{
  "apiVersion": "record.armature.dev/v1",
  "kind": "PassList",
  "items": [
    {
      "program": {
        "path": "github.com/armature-dev/armature/cmd/armature/internal/recordcmd.test",
        "version": "(devel)",
        "goVersion": "go1.26.8",
        "digest": "sha256:2bdebd21a4c44979cc17a4ee6135e35b63a43b3f2f4c3b338fee715421431873",
        "settings": {
          "queueManager": "{\"Name\":\"system/armature-manager\",\"Namespaces\":null,\"Selector\":\"\",\"Patience\":0}"
        }
      },
      "operator": "replicajob",
      "owner": {
        "apiVersion": "api.practice.com/v1alpha1",
        "kind": "ReplicaJob",
        "metadata": {
          "creationTimestamp": "2026-01-01T00:00:00Z",
          "generation": 1,
          "name": "learn",
          "namespace": "default",
          "resourceVersion": "1001",
          "uid": "00000000-0000-4000-8000-000000000001"
        },
        "spec": {
          "replicaSpecs": {
            "Worker": {
              "replicas": 2,
              "template": {
                "metadata": {},
                "spec": {
                  "containers": [
                    {
                      "image": "busybox",
                      "name": "main",
                      "resources": {}
                    }
                  ],
                  "restartPolicy": "Never"
                }
              }
            }
          }
        }
      },
      "view": {
        "time": "2026-01-01T00:00:00Z",
        "external": {
          "goType": "[]v1alpha1.GangProvider",
          "value": null
        }
      },
      "plan": {
        "status": {
          "conditions": [
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "the job is valid, and known to the operator",
              "observedGeneration": 1,
              "reason": "Created",
              "status": "True",
              "type": "Created"
            },
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "no replica is running",
              "observedGeneration": 1,
              "reason": "NotRunning",
              "status": "False",
              "type": "Running"
            },
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "0 running, 2 pending, 0 succeeded",
              "observedGeneration": 1,
              "reason": "Pending",
              "status": "False",
              "type": "Ready"
            }
          ],
          "observedGeneration": 1,
          "replicaStatuses": {
            "Worker": {
              "pending": 2,
              "selector": "api.practice.com/job-name=learn,api.practice.com/operator-name=replicajob,api.practice.com/replica-type=worker"
            }
          },
          "startTime": "2026-01-01T00:00:00Z",
          "state": "Created",
          "totalRestarts": 0
        },
        "events": [
          {
            "type": "Normal",
            "reason": "Started",
            "note": "started with 2 Worker"
          }
        ],
        "requeueAfter": 1000000
      },
      "result": {},
      "requests": [
        {
          "verb": "patch",
          "object": "ReplicaJob.api.practice.com default/learn",
          "subresource": "status"
        }
      ]
    }
  ]
}
`
