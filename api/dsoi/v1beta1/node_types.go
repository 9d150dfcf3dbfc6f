package v1beta1

import "encoding/json"

// Nodes are the nodes of a cluster. In JSON they are a list, or a map from node type to a list; they are encoded as a
// list.
type Nodes []Node

// Node is a part of the cluster that is configured, scaled and placed as one: a StatefulSet, Deployment or DaemonSet,
// with its ConfigMap and Services. The names of all its objects are <cluster>-<node> or begin with it.
type Node struct {
	// Name identifies the node within the cluster: lower case letters, digits and '-', at most 63 characters. Two nodes
	// of the same name are refused.
	Name string `json:"name"`

	// Kind is StatefulSet, Deployment or DaemonSet, in any capitalisation. Default: StatefulSet. If it is changed, the
	// new workload is created in the upgrade's order, and the old one deleted when all nodes are ready.
	Kind string `json:"kind,omitempty"`

	// NodeType is the node's type, one of the deploymentOrder.
	NodeType string `json:"nodeType"`

	// Replicas is the number of pods. Default: 1. It has no effect on a DaemonSet. While a Scaling of the cluster scales
	// the node it is the initial number, which the Scaling then changes. A change is not an upgrade, but waits for the
	// node types before it as an upgrade does.
	Replicas *int32 `json:"replicas,omitempty"`

	// K8sConfigGroup is the name of the node's Kubernetes configuration.
	K8sConfigGroup string `json:"k8sConfigGroup"`

	// AppConfigGroup names the application's configuration of the node: one group, or several that are merged in that
	// order, each once. Default: none.
	AppConfigGroup Names `json:"appConfigGroup,omitempty"`

	// Reclaim defines the handling of the node's volumes (storageConfig) when the node is removed from the spec, or the
	// cluster is deleted: Retain, the default, keeps them, and a node of the same name uses them again; Delete deletes
	// them. The last applied value counts.
	Reclaim ReclaimPolicy `json:"reclaim,omitempty"`

	// Malformed is set if the node couldn't be decoded.
	Malformed *Malformed `json:"-"`
}

// ReclaimPolicy defines the handling of a node's data when the node is removed.
type ReclaimPolicy string

const (
	// ReclaimRetain keeps the data. It is the default.
	ReclaimRetain ReclaimPolicy = "Retain"
	// ReclaimDelete deletes the data with the node.
	ReclaimDelete ReclaimPolicy = "Delete"
)

// nodeAliases are other names of a node's fields.
var nodeAliases = map[string]string{
	"type":               "nodeType",
	"k8sConfig":          "k8sConfigGroup",
	"nodeK8sConfigGroup": "k8sConfigGroup",
	"nodeConfigGroup":    "k8sConfigGroup",
}

// UnmarshalJSON decodes a list of nodes, or a map from node type to lists of nodes. It never fails; see [Malformed].
func (n *Nodes) UnmarshalJSON(data []byte) error {
	*n = nil
	switch kindOf(data) {
	case jsonNull:
	case jsonList:
		list := listOf(data)
		if bad := tooMany(len(list), "nodes"); bad != nil {
			*n = Nodes{{Malformed: bad}}
			break
		}
		for _, raw := range list {
			*n = append(*n, readNode(raw, ""))
		}
	case jsonMap:
		fields := mapOf(data)
		lists, count := make(map[string][]json.RawMessage, len(fields)), len(fields)
		for nodeType, raw := range fields {
			if kindOf(raw) == jsonList {
				lists[nodeType] = listOf(raw)
				count += len(lists[nodeType])
			}
		}
		if bad := tooMany(count, "nodes and node types"); bad != nil {
			*n = Nodes{{Malformed: bad}}
			break
		}
		for _, nodeType := range sortedKeys(fields) {
			if kindOf(fields[nodeType]) != jsonList {
				*n = append(*n, Node{NodeType: nodeType, Malformed: malformed(
					"%s is %s; want a list of nodes", nodeType, kindOf(fields[nodeType]))})
				continue
			}
			for _, raw := range lists[nodeType] {
				*n = append(*n, readNode(raw, nodeType))
			}
		}
	default:
		*n = Nodes{{Malformed: malformed("is %s; want a list of nodes, or a map from node type to lists of nodes", kindOf(data))}}
	}
	var field keeper
	for i := range *n {
		field.keep((*n)[i].Malformed, data)
	}
	return nil
}

// MarshalJSON encodes a list, or malformed JSON unchanged.
func (n Nodes) MarshalJSON() ([]byte, error) {
	type plain Node
	return writeList(n, func(node Node) (any, *Malformed) { return plain(node), node.Malformed })
}

func readNode(raw []byte, nodeType string) Node {
	type plain Node
	if kindOf(raw) != jsonMap {
		return Node{NodeType: nodeType, Malformed: malformed("is %s; want a node", kindOf(raw))}
	}
	fields := mapOf(raw)
	why := rename(fields, nodeAliases)
	if why == "" {
		why = renameAppConfig(fields)
	}
	var node plain
	if err := readStrictly(fields, &node); why == "" {
		why = err
	}
	switch {
	case why != "":
	case nodeType != "" && node.NodeType != "" && node.NodeType != nodeType:
		why = "nodeType is " + quote(node.NodeType) + " in a list of the node type " + quote(nodeType)
	case nodeType != "":
		node.NodeType = nodeType
	}
	if why != "" {
		node.Malformed = &Malformed{Why: why}
	}
	return Node(node)
}

// renameAppConfig gives the field that names the application's configuration its usual name, if the application calls
// it otherwise.
func renameAppConfig(fields map[string]json.RawMessage) (why string) {
	for _, name := range sortedKeys(fields) {
		if name == appConfigField || name == "k8sConfigGroup" || !isAppConfigName(name) {
			continue
		}
		if _, both := fields[appConfigField]; both {
			return "names its application config group twice, in " + name + " and another field; want one of them"
		}
		fields[appConfigField] = fields[name]
		delete(fields, name)
	}
	return ""
}
