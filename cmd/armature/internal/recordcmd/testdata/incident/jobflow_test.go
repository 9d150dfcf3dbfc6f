package incident

import (
	"strings"
	"testing"

	v1alpha1 "github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/operators/jobflow"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// The pass over JobFlow.api.practice.com default/nightly at 2026-01-01 00:00:00 +0000 UTC.
func TestJobFlowApiPracticeComDefaultNightly(t *testing.T) {
	list, err := record.Read(strings.NewReader(recorded))
	if err != nil {
		t.Fatal(err)
	}
	pass, operator, scheme := &list.Items[0], jobflow.Operator(nil), func() *runtime.Scheme {
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

const recorded = `{
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
      "operator": "jobflow",
      "owner": {
        "apiVersion": "api.practice.com/v1alpha1",
        "kind": "JobFlow",
        "metadata": {
          "creationTimestamp": "2026-01-01T00:00:00Z",
          "generation": 1,
          "name": "nightly",
          "namespace": "default",
          "resourceVersion": "1001",
          "uid": "00000000-0000-4000-8000-000000000001"
        },
        "spec": {
          "flows": [
            {
              "jobTemplate": {
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
              },
              "name": "a"
            },
            {
              "dependencies": [
                "a"
              ],
              "jobTemplate": {
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
              },
              "name": "b"
            }
          ]
        }
      },
      "view": {
        "time": "2026-01-01T00:00:00Z",
        "external": {
          "goType": "refusal.known",
          "value": null
        }
      },
      "plan": {
        "children": [
          {
            "object": {
              "apiVersion": "batch/v1",
              "kind": "Job",
              "metadata": {
                "annotations": {
                  "api.practice.com/started-as": "jobTemplate=3d570cb2"
                },
                "labels": {
                  "api.practice.com/flow": "a",
                  "api.practice.com/jobflow": "nightly",
                  "app.kubernetes.io/managed-by": "armature"
                },
                "name": "nightly-a",
                "namespace": "default"
              },
              "spec": {
                "backoffLimit": 0,
                "template": {
                  "metadata": {
                    "labels": {
                      "api.practice.com/flow": "a",
                      "api.practice.com/jobflow": "nightly",
                      "app.kubernetes.io/managed-by": "armature"
                    }
                  },
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
              },
              "status": {}
            },
            "createOnly": true
          }
        ],
        "status": {
          "activeSince": "2026-01-01T00:00:00Z",
          "conditions": [
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "0 of 2 succeeded, 0 running, 2 pending",
              "observedGeneration": 1,
              "reason": "Pending",
              "status": "False",
              "type": "Ready"
            }
          ],
          "counts": {
            "pending": 2,
            "total": 2
          },
          "flows": [
            {
              "name": "a",
              "state": "Pending"
            },
            {
              "name": "b",
              "state": "Pending"
            }
          ],
          "observedGeneration": 1,
          "progress": "0/2",
          "startTime": "2026-01-01T00:00:00Z",
          "state": "Pending"
        },
        "events": [
          {
            "type": "Normal",
            "reason": "Started",
            "note": "started with 2 flows"
          }
        ],
        "requeueAfter": 1234
      },
      "result": {
        "changes": [
          {
            "object": "Job.batch default/nightly-a",
            "reason": "Created"
          }
        ]
      },
      "requests": [
        {
          "verb": "create",
          "object": "Job.batch default/nightly-a"
        },
        {
          "verb": "patch",
          "object": "JobFlow.api.practice.com default/nightly",
          "subresource": "status"
        }
      ]
    }
  ]
}
`
