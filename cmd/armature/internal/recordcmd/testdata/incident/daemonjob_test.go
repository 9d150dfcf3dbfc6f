package incident

import (
	"strings"
	"testing"

	v1alpha1 "github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/operators/daemonjob"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// The pass over DaemonJob.api.practice.com default/scan at 2026-01-01 00:00:00 +0000 UTC.
func TestDaemonJobApiPracticeComDefaultScan(t *testing.T) {
	list, err := record.Read(strings.NewReader(recordeddaemonjob))
	if err != nil {
		t.Fatal(err)
	}
	pass, operator, scheme := &list.Items[0], daemonjob.Operator(nil), func() *runtime.Scheme {
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

const recordeddaemonjob = `{
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
      "operator": "daemonjob",
      "owner": {
        "apiVersion": "api.practice.com/v1alpha1",
        "kind": "DaemonJob",
        "metadata": {
          "creationTimestamp": "2026-01-01T00:00:00Z",
          "generation": 1,
          "name": "scan",
          "namespace": "default",
          "resourceVersion": "1001",
          "uid": "00000000-0000-4000-8000-000000000001"
        },
        "spec": {
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
      },
      "view": {
        "time": "2026-01-01T00:00:00Z",
        "watched": [
          {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
              "creationTimestamp": "2026-01-01T00:00:00Z",
              "labels": {
                "kubernetes.io/hostname": "n1"
              },
              "name": "n1",
              "resourceVersion": "1002",
              "uid": "00000000-0000-4000-8000-000000000003"
            },
            "spec": {},
            "status": {
              "daemonEndpoints": {
                "kubeletEndpoint": {
                  "Port": 0
                }
              },
              "nodeInfo": {
                "architecture": "",
                "bootID": "",
                "containerRuntimeVersion": "",
                "kernelVersion": "",
                "kubeProxyVersion": "",
                "kubeletVersion": "",
                "machineID": "",
                "operatingSystem": "",
                "osImage": "",
                "systemUUID": ""
              }
            }
          }
        ],
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
                  "api.practice.com/node": "n1",
                  "api.practice.com/node-uid": "00000000-0000-4000-8000-000000000003"
                },
                "labels": {
                  "api.practice.com/daemonjob": "scan",
                  "api.practice.com/node": "n1",
                  "app.kubernetes.io/managed-by": "armature"
                },
                "name": "scan-n1",
                "namespace": "default"
              },
              "spec": {
                "backoffLimit": 0,
                "template": {
                  "metadata": {
                    "labels": {
                      "api.practice.com/daemonjob": "scan",
                      "api.practice.com/node": "n1",
                      "app.kubernetes.io/managed-by": "armature"
                    }
                  },
                  "spec": {
                    "affinity": {
                      "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                          "nodeSelectorTerms": [
                            {
                              "matchFields": [
                                {
                                  "key": "metadata.name",
                                  "operator": "In",
                                  "values": [
                                    "n1"
                                  ]
                                }
                              ]
                            }
                          ]
                        }
                      }
                    },
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
          "active": 0,
          "activeSince": "2026-01-01T00:00:00Z",
          "conditions": [
            {
              "lastTransitionTime": "2026-01-01T00:00:00Z",
              "message": "0 of 1 node succeeded, 1 to come",
              "observedGeneration": 1,
              "reason": "Running",
              "status": "False",
              "type": "Ready"
            }
          ],
          "desired": 1,
          "failed": 0,
          "observedGeneration": 1,
          "skipped": 0,
          "startTime": "2026-01-01T00:00:00Z",
          "state": "Pending",
          "succeeded": 0,
          "suspended": 0,
          "waiting": 0
        },
        "events": [
          {
            "type": "Normal",
            "reason": "Started",
            "note": "started for 1 node"
          }
        ]
      },
      "result": {
        "changes": [
          {
            "object": "Job.batch default/scan-n1",
            "reason": "Created"
          }
        ]
      },
      "requests": [
        {
          "verb": "create",
          "object": "Job.batch default/scan-n1"
        },
        {
          "verb": "patch",
          "object": "DaemonJob.api.practice.com default/scan",
          "subresource": "status"
        }
      ]
    }
  ]
}
`
