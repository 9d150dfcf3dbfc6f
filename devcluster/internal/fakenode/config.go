package fakenode

import (
	_ "embed"
	"fmt"
)

const (
	// ConfigFile is the name of the file that Config is written to.
	ConfigFile = "kwok.yaml"
	// Label marks the fake nodes; its value is "true".
	Label = "devcluster.armature.dev/fake"
	// LeaseSeconds is how long a node's lease is good for. kwok renews it four times as often, which for
	// thousands of nodes would be most of the cluster's writes if it were the kubelet's 40 seconds.
	LeaseSeconds = 400

	// podCIDR is a range that nothing else here uses; the addresses lead nowhere.
	podCIDR = "10.128.0.0/10"
)

//go:embed stages.yaml
var stages string

// Config is the configuration of kwok: which nodes it runs, how fast, and the stages of nodes and pods.
func Config() string {
	return fmt.Sprintf(`kind: KwokConfiguration
apiVersion: config.kwok.x-k8s.io/v1alpha1
metadata:
  name: kwok
options:
  manageAllNodes: false
  manageNodesWithLabelSelector: %s=true
  cidr: %s
  nodeIP: 127.0.0.1
  nodeLeaseDurationSeconds: %d
  nodeLeaseParallelism: 16
  nodePlayStageParallelism: 16
  podPlayStageParallelism: 64
  podsOnNodeSyncParallelism: 4
---
%s`, Label, podCIDR, LeaseSeconds, stages)
}
