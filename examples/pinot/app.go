// Package pinot describes Apache Pinot to DSOI's engine: the whole of an operator but for its main function.
package pinot

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/dsoi"
	"github.com/armature-dev/armature/examples/pinot/api/v1beta1"
)

const configPath = "/var/pinot/config"

// starts says how each node type is started.
var starts = map[string]string{"controller": "StartController", "broker": "StartBroker", "server": "StartServer", "minion": "StartMinion"}

// App is what the engine needs to know of Pinot.
func App() *dsoi.App[*v1beta1.Pinot] {
	return &dsoi.App[*v1beta1.Pinot]{
		Name: "pinot", ConfigPath: configPath, DataFile: "pinot.conf", Fields: []string{"java_opts"},
		Check: check, Files: files, Pod: pod,
	}
}

// zookeeper returns the address of the zookeeper that a cluster depends on.
func zookeeper(p *v1beta1.Pinot) (string, error) {
	var spec struct {
		ZkAddress string `json:"zkAddress"`
	}
	external, ok := p.Spec.External["zookeeper"]
	if !ok {
		return "", fmt.Errorf("there is none")
	}
	if err := external.Decode(&spec); err != nil {
		return "", err
	}
	if spec.ZkAddress == "" {
		return "", fmt.Errorf("zkAddress is empty")
	}
	return spec.ZkAddress, nil
}

func check(p *v1beta1.Pinot, nodes []dsoi.Node) []string {
	var problems []string
	if _, err := zookeeper(p); err != nil {
		problems = append(problems, fmt.Sprintf("external.zookeeper: %s; want spec.zkAddress: host:port", err))
	}
	for _, n := range nodes {
		if starts[n.NodeType] == "" {
			problems = append(problems, fmt.Sprintf("node %q: nodeType is %q; want controller, broker, server or minion", n.Name, n.NodeType))
		}
		var opts string
		if _, err := n.Field("java_opts", &opts); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

// files adds to a controller's configuration what follows from the cluster.
func files(p *v1beta1.Pinot, n dsoi.Node, files map[string]string) {
	if n.NodeType == "controller" {
		address, _ := zookeeper(p) // checked
		files["pinot.conf"] += fmt.Sprintf("controller.zk.str=%s\ncontroller.helix.cluster.name=%s\n", address, p.Name)
	}
}

func pod(p *v1beta1.Pinot, n dsoi.Node, pod *corev1.PodTemplateSpec) {
	c := &pod.Spec.Containers[0]
	c.Args = []string{starts[n.NodeType], "-clusterName", p.Name, "-configFileName", configPath + "/pinot.conf"}
	if n.NodeType != "controller" {
		address, _ := zookeeper(p) // checked
		c.Args = append(c.Args, "-zkAddress", address)
	}
	var opts string
	if found, _ := n.Field("java_opts", &opts); found {
		c.Env = append(c.Env, corev1.EnvVar{Name: "JAVA_OPTS", Value: opts})
	}
}
