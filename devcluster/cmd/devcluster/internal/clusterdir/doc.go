// Package clusterdir is the layout of one cluster's directory: where each file lives, the settings that make
// a second `up` come back as the same cluster (Settings), what is running right now (RunState), and the lock
// that lets only one supervisor work in it.
//
//	DIR/cluster.json      settings: name, nodes, ports, kubeconfig files written elsewhere
//	DIR/run.json          the running supervisor and its components
//	DIR/lock              held by the supervisor and by every component it started
//	DIR/kubeconfig        the administrator's way in
//	DIR/pki, credentials  the cluster's own CA, keys, and one kubeconfig for each component
//	DIR/etcd              the data
//	DIR/nodes             pods of the local nodes
//	DIR/logs              one file for each component
package clusterdir
