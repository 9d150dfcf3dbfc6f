package fakenode

import (
	_ "embed"
	"fmt"
	"strings"
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

// runTimeLeft is a jq expression: what is left of an annotated run time, or null. kwok counts a delay from the
// last change of the pod, so that a label put on a running pod would make it run its whole time again. When the
// container started long ago, what it has run is therefore taken off. Start times have whole seconds, so that
// is not done for one that has just started.
const runTimeLeft = `.metadata.annotations["devcluster.armature.dev/run-time"] as $all
  | (now - ((.status.containerStatuses[0].state.running.startedAt? // (now | todate)) | fromdate)) as $ran
  | if $all == null or $ran < 1.5 then $all else
      ([$all | match("([0-9.]+)(h|ms|m|s)"; "g")
        | (.captures[0].string | tonumber) * {h: 3600, m: 60, s: 1, ms: 0.001}[.captures[1].string]] | add // 0) as $seconds
      | (([$seconds - $ran, 0.001] | max) * 1000 | floor | tostring) + "ms"
    end`

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
%s`, Label, podCIDR, LeaseSeconds, strings.ReplaceAll(stages, "$RUN_TIME_LEFT", strings.Join(strings.Fields(runTimeLeft), " ")))
}
