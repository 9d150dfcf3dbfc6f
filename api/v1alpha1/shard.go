package v1alpha1

// LabelShard is the label by which objects are shared out among several managers (armature manager --selector). Its values are
// the administrator's. Jobs of one queue need the label of their FluxSetup, and give it to their MiniClusters. It may be changed
// at any time, but for that of a FluxJob that has a MiniCluster, and of a FluxSetup with such jobs.
const LabelShard = "api.practice.com/shard"
