package dsoi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/internal/text"
)

// resolve finds the groups that nodes name. What is wrong is noted.
func (d *description) resolve(cluster string) []Node {
	d.checkExternal()
	d.checkOrder()
	if len(d.nodes) == 0 {
		d.wrong("nodes is empty; want at least one (delete the cluster to delete its nodes)")
	}
	var nodes []Node
	sizes := d.sizes()
	defer func() { d.size = sizes.memory() }()
	first := map[string]int{}
	for i, n := range d.nodes {
		at := at("nodes", i, n.Name)
		if n.Malformed != nil {
			d.wrong("%s: %s", at, n.Malformed.Why)
			continue
		}
		if other, twice := first[n.Name]; twice {
			d.wrong("%s: nodes[%d] has that name too; want each name once", at, other)
			continue
		}
		first[n.Name] = i
		groups := d.appGroupsOf(at, n)
		if !sizes.add(d, n, groups) {
			break // a node costs as much as its groups are large, also one that is only checked
		}
		nodes = append(nodes, d.resolveNode(at, cluster, n, groups))
	}
	return nodes
}

func (d *description) checkExternal() {
	for _, name := range slices.Sorted(maps.Keys(d.external)) {
		if bad := d.external[name].Malformed; bad != nil && name == "" {
			d.wrong("external %s", bad.Why)
		} else if bad != nil {
			d.wrong("external.%s %s", name, bad.Why)
		} else if errs := validation.IsConfigMapKey(externalFile(name)); len(errs) > 0 {
			d.wrong("external: the name %q can't be part of the name of a file: %s", name, errs[0])
		}
	}
}

// maxOrder is the most node types that an order has: each is compared with the others, and no more than 1000 nodes are read.
const maxOrder = 1000

// checkOrder compares the order with the node types that there are.
func (d *description) checkOrder() {
	if len(d.order) > maxOrder {
		d.wrong("deploymentOrder has %d node types; want at most %d", len(d.order), maxOrder)
		d.order = d.order[:maxOrder]
	}
	types := map[string]bool{}
	malformed := false
	for _, n := range d.nodes {
		types[n.NodeType] = true
		malformed = malformed || n.Malformed != nil
	}
	for i, name := range d.order {
		switch {
		case slices.Contains(d.order[:i], name):
			d.wrong("deploymentOrder[%d]: %q is there twice; want each node type once", i, name)
		case !types[name] && !malformed:
			d.wrong("deploymentOrder[%d]: no node is of the type %q; the node types are %s", i, name, quoted(types))
		}
	}
}

func (d *description) resolveNode(at, cluster string, n v1beta1.Node, groups []string) Node {
	for _, msg := range validation.IsDNS1123Label(n.Name) {
		d.wrong("%s: name: %s", at, msg)
	}
	kind, ok := kindNamed(n.Kind)
	if !ok {
		d.wrong("%s: kind is %q; want StatefulSet, Deployment or DaemonSet", at, n.Kind)
	}
	n.Kind = kind
	d.checkNodeType(at, n.NodeType)
	if n.Replicas != nil && *n.Replicas < 0 {
		d.wrong("%s: replicas is %d; want 0 or more", at, *n.Replicas)
	}
	switch n.Reclaim {
	case "", v1beta1.ReclaimRetain, v1beta1.ReclaimDelete:
	default:
		d.wrong("%s: reclaim is %q; want %s or %s", at, n.Reclaim, v1beta1.ReclaimRetain, v1beta1.ReclaimDelete)
	}
	node := Node{Node: n, Workload: WorkloadName(cluster, n.Name), External: d.external}
	if node.K8s, ok = d.k8s[n.K8sConfigGroup]; !ok {
		d.wrong("%s: k8sConfigGroup: there is no group %q; there are %s", at, n.K8sConfigGroup, quoted(d.k8s))
	} else if node.K8s.Malformed == nil {
		node.K8s.Image = cmp.Or(node.K8s.Image, d.image)
		d.checkK8s(at, node)
	}
	for _, name := range groups {
		node.App = append(node.App, d.app[name])
	}
	return node
}

// appGroupsOf returns the names of the groups that a node has: those that are common, then those that it names.
func (d *description) appGroupsOf(at string, n v1beta1.Node) []string {
	var own, missing, again []string
	named := map[string]int{}
	for _, name := range n.AppConfigGroup {
		named[name]++
		group, ok := d.app[name]
		switch {
		case named[name] == 2:
			again = append(again, name)
		case named[name] > 2:
		case !ok:
			missing = append(missing, name)
		case group.NodeType != "" && group.NodeType != n.NodeType:
			d.wrong("%s: appConfigGroup: the group %q is for nodes of the type %q; this one's is %q", at, name, group.NodeType, n.NodeType)
		default:
			own = append(own, name)
		}
	}
	if len(missing) > 0 {
		d.wrong("%s: appConfigGroup: there is no group %s; there are %s", at, list(missing), quoted(d.app))
	}
	if len(again) > 0 {
		d.wrong("%s: appConfigGroup names %s more than once; want each group once", at, list(again))
	}
	var groups []string
	for _, group := range d.common {
		if named[group.Name] == 0 && (group.NodeType == "" || group.NodeType == n.NodeType) {
			groups = append(groups, group.Name)
		}
	}
	return append(groups, own...)
}

// kindNamed returns a kind in its usual capitalisation.
func kindNamed(kind string) (string, bool) {
	if kind == "" {
		return statefulSet, true
	}
	for _, usual := range []string{statefulSet, deployment, daemonSet} {
		if strings.EqualFold(kind, usual) {
			return usual, true
		}
	}
	return kind, false
}

func (d *description) checkNodeType(at, name string) {
	if name == "" {
		d.wrong("%s: nodeType is empty; want one of deploymentOrder: %s", at, list(d.order))
		return
	}
	for _, msg := range validation.IsValidLabelValue(name) {
		d.wrong("%s: nodeType: %s", at, msg)
	}
	if !slices.Contains(d.order, name) {
		d.wrong("%s: nodeType is %q, which isn't in deploymentOrder; it has %s", at, name, list(d.order))
	}
}

// checkK8s reports what doesn't fit in a node's Kubernetes configuration. The rest is left to the API server.
func (d *description) checkK8s(at string, n Node) {
	in := fmt.Sprintf("%s: k8sConfigGroup %q", at, n.K8s.Name)
	if n.K8s.Image == "" {
		d.wrong("%s: image is empty", in)
	}
	if strings.Contains(n.Workload, ".") && (n.Kind == statefulSet || n.K8s.Service != nil) {
		d.wrong("%s: a Service can't be called %q; want a cluster whose name has no dot", at, n.Workload)
	}
	if s := n.K8s.MinReadySeconds; s != nil && (*s < 0 || *s >= 600) { // of a Deployment, progressDeadlineSeconds must be more
		d.wrong("%s: minReadySeconds is %d; want 0 to 599", in, *s)
	}
	if n.K8s.Service != nil && len(n.K8s.Service.Selector) > 0 {
		d.wrong("%s: service.selector is set; leave it out, it is that of the node", in)
	}
	if b := n.K8s.PodDisruptionBudget; b != nil && (b.MinAvailable == nil) == (b.MaxUnavailable == nil) {
		d.wrong("%s: podDisruptionBudget: want one of minAvailable and maxUnavailable", in)
	}
	for _, m := range []map[string]string{n.K8s.PodMetadata.Labels, n.K8s.PodMetadata.Annotations} {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if strings.HasPrefix(key, domain) {
				d.wrong("%s: podMetadata: %s is the operator's own", in, key)
			}
		}
	}
	d.checkVolumes(in, n.K8s)
	if why := checkStrategy(n.Kind, n.K8s.UpdateStrategy); why != "" {
		d.wrong("%s: updateStrategy: %s", in, why)
	}
}

func (d *description) checkVolumes(in string, group v1beta1.K8sConfigGroup) {
	taken := map[string]string{configVolume: "that of the configuration"}
	for i, s := range group.StorageConfig {
		at := at("storageConfig", i, s.Name)
		for _, msg := range validation.IsDNS1123Label(s.Name) {
			d.wrong("%s: %s: name: %s", in, at, msg)
		}
		if whose, ok := taken[s.Name]; ok {
			d.wrong("%s: %s: the name is %s", in, at, whose)
		}
		taken[s.Name] = "that of another storageConfig"
		if !strings.HasPrefix(s.MountPath, "/") {
			d.wrong("%s: %s: mountPath is %q; want a path that begins with /", in, at, s.MountPath)
		}
		if size, ok := s.Spec.Resources.Requests[corev1.ResourceStorage]; !ok || size.Sign() <= 0 {
			d.wrong("%s: %s: spec.resources.requests.storage is missing", in, at)
		}
	}
	for i, v := range group.Volumes {
		if whose, ok := taken[v.Name]; ok {
			d.wrong("%s: %s: the name is %s", in, at("volumes", i, v.Name), whose)
		}
		taken[v.Name] = "that of another volume"
	}
}

// checkNames makes sure that no two objects of one kind have the same name: that of one node may begin with that of
// another.
func (d *description) checkNames(nodes []Node) {
	taken := map[string]string{}
	take := func(kind, name, node string) {
		key := kind + " " + name
		if other, ok := taken[key]; ok && other != node {
			d.wrong("the nodes %q and %q would both have a %s; rename one", other, node, key)
		}
		taken[key] = node
	}
	for _, n := range nodes {
		take("Service", n.Workload, n.Name)
		take("Service", headlessName(n.Workload), n.Name)
		for _, s := range n.K8s.StorageConfig {
			if n.Kind != statefulSet {
				take("PersistentVolumeClaim", claimName(n.Workload, s.Name), n.Name)
			}
		}
	}
}

// checkFields refuses fields of config groups that the application doesn't know.
func (d *description) checkFields(known []string) {
	for _, name := range slices.Sorted(maps.Keys(d.app)) {
		for _, field := range slices.Sorted(maps.Keys(d.app[name].Other)) {
			if !slices.Contains(known, field) {
				d.wrong("appConfigGroup %q: unknown field %q; "+
					"want scope, nodeType, data, files, commonRuntimeProperties, runtimeProperties, overrideProperties%s",
					name, field, strings.Join(append([]string{""}, known...), ", "))
			}
		}
	}
}

// Field reads a field of a node's config groups that DSOI doesn't know, if a group has it; of several, that of the last.
func (n Node) Field(name string, into any) (found bool, err error) {
	for _, group := range slices.Backward(n.App) {
		if raw, ok := group.Other[name]; ok {
			if err := json.Unmarshal(raw, into); err != nil {
				return true, fmt.Errorf("appConfigGroup %q: %s is %s: %w", group.Name, name, text.Shorten(string(raw), 64), err)
			}
			return true, nil
		}
	}
	return false, nil
}

func quoted[T any](of map[string]T) string { return list(slices.Sorted(maps.Keys(of))) }

// list quotes the first few of some names.
func list(names []string) string {
	const shown = 8
	if len(names) == 0 {
		return "none"
	}
	var texts []string
	for _, name := range names[:min(shown, len(names))] {
		texts = append(texts, strconv.Quote(name))
	}
	if more := len(names) - shown; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}
