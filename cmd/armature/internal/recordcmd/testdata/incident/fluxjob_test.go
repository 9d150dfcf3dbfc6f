package incident

import (
	"strings"
	"testing"

	v1alpha1 "github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/operators/fluxjob"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// The pass over FluxJob.api.practice.com default/train at 2026-01-01 00:00:00 +0000 UTC.
func TestFluxJobApiPracticeComDefaultTrain(t *testing.T) {
	list, err := record.Read(strings.NewReader(recordedfluxjob))
	if err != nil {
		t.Fatal(err)
	}
	pass, operator, scheme := &list.Items[0], fluxjob.Operator(nil, admission.Manager{Name: "system/armature-manager", Namespaces: []string(nil), Selector: "", Patience: 0}), func() *runtime.Scheme {
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

const recordedfluxjob = `{
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
      "operator": "fluxjob",
      "owner": {
        "apiVersion": "api.practice.com/v1alpha1",
        "kind": "FluxJob",
        "metadata": {
          "creationTimestamp": "2026-01-01T00:00:00Z",
          "generation": 1,
          "name": "train",
          "namespace": "default",
          "resourceVersion": "1001",
          "uid": "00000000-0000-4000-8000-000000000001"
        },
        "spec": {
          "cleanupPolicy": "None",
          "command": "true",
          "image": "busybox",
          "queue": "q",
          "size": 2
        }
      },
      "view": {
        "time": "2026-01-01T00:00:00Z",
        "watched": [
          {
            "apiVersion": "api.practice.com/v1alpha1",
            "kind": "FluxSetup",
            "metadata": {
              "creationTimestamp": "2026-01-01T00:00:00Z",
              "generation": 1,
              "name": "q",
              "resourceVersion": "1002",
              "uid": "00000000-0000-4000-8000-000000000003"
            }
          },
          {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
              "creationTimestamp": "2026-01-01T00:00:00Z",
              "labels": {
                "kubernetes.io/metadata.name": "default"
              },
              "name": "default",
              "resourceVersion": "1003",
              "uid": "00000000-0000-4000-8000-000000000005"
            },
            "spec": {},
            "status": {
              "phase": "Active"
            }
          }
        ]
      },
      "plan": {
        "status": {
          "conditions": [
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "the spec is valid",
              "observedGeneration": 1,
              "reason": "Requested",
              "status": "True",
              "type": "JobRequested"
            },
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "it waits for its turn in queue \"q\"",
              "observedGeneration": 1,
              "reason": "Queued",
              "status": "True",
              "type": "JobWaitingForResources"
            },
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "it waits for its turn in queue \"q\"",
              "observedGeneration": 1,
              "reason": "Queued",
              "status": "False",
              "type": "JobMiniClusterReady"
            },
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "it waits for its turn in queue \"q\"",
              "observedGeneration": 1,
              "reason": "Queued",
              "status": "False",
              "type": "JobRunning"
            },
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "the job has not ended",
              "observedGeneration": 1,
              "reason": "NotFinished",
              "status": "False",
              "type": "JobFinished"
            },
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "it waits for its turn in queue \"q\"",
              "observedGeneration": 1,
              "reason": "Queued",
              "status": "False",
              "type": "Ready"
            }
          ],
          "observedGeneration": 1,
          "priority": 0,
          "queue": "q",
          "size": 2,
          "state": "Waiting"
        }
      },
      "result": {},
      "requests": [
        {
          "verb": "patch",
          "object": "FluxJob.api.practice.com default/train",
          "subresource": "status"
        }
      ]
    }
  ]
}
`
