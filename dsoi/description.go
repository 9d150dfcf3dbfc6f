package dsoi

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder/rollout"
)

// description is what a cluster's spec says, under the usual names, and what is wrong with it.
type description struct {
	external v1beta1.Externals
	order    []string
	k8s      map[string]v1beta1.K8sConfigGroup
	app      map[string]v1beta1.AppConfigGroup
	common   []v1beta1.AppConfigGroup // those of app that nodes have without naming them
	image    string                   // of groups that have none
	nodes    v1beta1.Nodes
	rollout  rollout.Options // but for the phases, which are the order
	size     int             // of what is rendered, in memory, in bytes

	problems []string
}

// maxProblems limits the mistakes that are noted: a group of many mistakes can be that of many nodes.
const maxProblems = 1000

// wrong notes a mistake: where, what was found, and what would be accepted.
func (d *description) wrong(format string, args ...any) {
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, fmt.Sprintf(format, args...))
	}
}

// describe reads a spec: one field of several names, groups by their names.
func describe(spec v1beta1.ClusterSpec) *description {
	d := &description{external: spec.External, nodes: spec.Nodes}
	d.order = chosen(d, map[string][]string{
		"deploymentOrder": spec.DeploymentOrder, "order": spec.Order, "OrderForCreateUpdate": spec.OrderForCreateUpdate,
	})
	k8s := chosen(d, map[string][]v1beta1.K8sConfigGroup{
		"k8sConfigGroup": spec.K8sConfigGroup, "k8sConfig": spec.K8sConfig, "nodeK8sConfigGroup": spec.NodeK8sConfigGroup,
	})
	app := chosen(d, map[string][]v1beta1.AppConfigGroup{
		"appConfigGroup": spec.AppConfigGroup, "nodeAppConfigGroup": spec.NodeAppConfigGroup, "myAppConfigGroup": spec.MyAppConfigGroup,
	})
	d.k8s = named(d, "k8sConfigGroup", k8s, func(g v1beta1.K8sConfigGroup) (string, *v1beta1.Malformed) { return g.Name, g.Malformed })
	d.app = named(d, "appConfigGroup", app, func(g v1beta1.AppConfigGroup) (string, *v1beta1.Malformed) { return g.Name, g.Malformed })
	d.readScopes(app)
	d.readFailurePolicy(spec)
	return d
}

// readScopes finds the groups that nodes have without naming them.
func (d *description) readScopes(groups []v1beta1.AppConfigGroup) {
	for i, g := range groups {
		switch g.Scope {
		case "", v1beta1.ScopeNode:
		case v1beta1.ScopeCommon:
			d.common = append(d.common, g)
		default:
			d.wrong("%s: scope is %q; want %s or %s", at("appConfigGroup", i, g.Name), g.Scope, v1beta1.ScopeCommon, v1beta1.ScopeNode)
		}
	}
}

// chosen returns the one of a field's names that is given.
func chosen[T any](d *description, given map[string][]T) []T {
	var names []string
	var value []T
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if len(given[name]) > 0 {
			names, value = append(names, name), given[name]
		}
	}
	if len(names) > 1 {
		d.wrong("%s are names of one field; want one of them", strings.Join(names, " and "))
	}
	return value
}

// named returns groups by their names.
func named[T any](d *description, field string, groups []T, of func(T) (string, *v1beta1.Malformed)) map[string]T {
	byName := make(map[string]T, len(groups))
	for i, g := range groups {
		name, malformed := of(g)
		at := at(field, i, name)
		_, twice := byName[name]
		switch {
		case malformed != nil:
			d.wrong("%s: %s", at, malformed.Why)
		case name == "":
			d.wrong("%s: name is empty", at)
		case twice:
			d.wrong("%s: another group has that name; want each name once", at)
		}
		byName[name] = g
	}
	return byName
}

// at says where something is: nodes[2] "az1".
func at(field string, i int, name string) string {
	text := field + "[" + strconv.Itoa(i) + "]"
	if name != "" {
		text += " " + strconv.Quote(name)
	}
	return text
}

func (d *description) readFailurePolicy(spec v1beta1.ClusterSpec) {
	after, err := spec.UpgradeTimeout.Parse(10 * time.Minute)
	if err == nil && after < time.Second {
		err = fmt.Errorf("is %s; want at least a second", after)
	}
	if err != nil {
		d.wrong("upgradeTimeout %s", err)
	}
	switch spec.OnFailure {
	case "", v1beta1.FailureWait:
		if spec.UpgradeTimeout != "" {
			d.rollout.AlertAfter = after
		}
	case v1beta1.FailureRollback:
		d.rollout.RollbackAfter = after
	default:
		d.wrong("onFailure is %q; want %s or %s", spec.OnFailure, v1beta1.FailureWait, v1beta1.FailureRollback)
	}
}
