package dsoi

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// What the objects of a cluster carry.
const (
	// LabelCluster is the label for the cluster's name, shortened if it is longer than 63 characters. As an annotation of
	// pods and claims it is the whole name.
	LabelCluster = "dsoi.armature.dev/cluster"
	// LabelNode is the label for the node's name in the cluster. Together with LabelCluster it selects the node's pods.
	LabelNode = "dsoi.armature.dev/node"
	// LabelNodeType is the label for the node's type.
	LabelNodeType = "dsoi.armature.dev/node-type"
	// AnnotationCluster is the annotation of pods and claims for the cluster's name.
	AnnotationCluster = LabelCluster
	// AnnotationRevision is the annotation of pods for what they are made from: a hash of their template and configuration.
	AnnotationRevision = "dsoi.armature.dev/revision"
	// AnnotationStorage is the annotation of claims for the name of the storageConfig.
	AnnotationStorage = "dsoi.armature.dev/storage"
)

// domain is that of the labels and annotations.
const domain = "dsoi.armature.dev/"

const (
	// maxWorkload is the longest name of a workload, in bytes: a StatefulSet's pods carry it in a label, with a hash.
	maxWorkload = 52
	maxLabel    = 63
	hashLength  = 8
)

// WorkloadName returns what a node's StatefulSet, Deployment or DaemonSet is called, and its Service:
// <cluster>-<node>, with a hash in place of the end if that is longer than 52 bytes.
func WorkloadName(cluster, node string) string { return cut(cluster+"-"+node, maxWorkload) }

// The names of what else a node has begin with that of the workload.
func configName(workload string) string         { return workload + "-config" }
func headlessName(workload string) string       { return workload + "-headless" }
func claimName(workload, storage string) string { return cut(workload+"-"+storage, 253) }

// LabelValue returns a name as the value of the labels that are named after it: with a hash in place of the end if it is
// longer than 63 characters.
func LabelValue(name string) string { return cut(name, maxLabel) }

// cut shortens a name to a length. A hash of the whole name keeps names apart that begin alike.
func cut(name string, length int) string {
	if len(name) <= length {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	head := strings.TrimRight(name[:length-hashLength-1], "-.")
	return head + "-" + hex.EncodeToString(sum[:])[:hashLength]
}

// selector returns the labels by which a node's pods are found, and by which no other node's are.
func selector(cluster, node string) map[string]string {
	return map[string]string{LabelCluster: LabelValue(cluster), LabelNode: LabelValue(node)}
}
