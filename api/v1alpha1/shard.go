package v1alpha1

// LabelShard is the label that distributes objects among several managers (armature manager --selector). The
// administrator chooses its values. Jobs of one queue need the label of their FluxSetup, and copy it to their
// MiniClusters. It may be changed at any time, except on a FluxJob that has a MiniCluster, and on a FluxSetup with such
// jobs.
const LabelShard = "api.practice.com/shard"
