package rbac

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Permission is one verb on one resource, as a role grants it.
type Permission struct {
	Verb     string // such as "patch"
	Group    string // empty for the core group
	Resource string // plural, with its subresource: "backups/status"
	Name     string // of the only object that it is about; empty for all
}

// String returns the permission in words, such as "patch backups/status.example.com", or "get secrets. named key".
func (p Permission) String() string {
	s := p.Verb + " " + p.Resource + "." + p.Group
	if p.Name != "" {
		s += " named " + p.Name
	}
	return s
}

// Permissions returns the permissions that rules grant, sorted, each once. It omits rules about URLs.
func Permissions(rules []rbacv1.PolicyRule) []Permission {
	all := map[Permission]bool{}
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						all[Permission{verb, group, resource, name}] = true
					}
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(all), compare)
}

// verbs are the verbs of resources in the order in which roles list them.
var verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

// compare orders permissions by what they are about, then by verb.
func compare(a, b Permission) int {
	return cmp.Or(
		strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource), strings.Compare(a.Name, b.Name),
		cmp.Compare(slices.Index(verbs, a.Verb), slices.Index(verbs, b.Verb)), strings.Compare(a.Verb, b.Verb),
	)
}

// rulesOf returns rules that grant the permissions: resources of a group with the same verbs share one.
func rulesOf(permissions []Permission) []rbacv1.PolicyRule {
	type about struct{ group, resource, name string }
	granted := map[about][]string{}
	var order []about
	for _, p := range slices.SortedFunc(slices.Values(permissions), compare) {
		a := about{p.Group, p.Resource, p.Name}
		if granted[a] == nil {
			order = append(order, a)
		}
		if !slices.Contains(granted[a], p.Verb) {
			granted[a] = append(granted[a], p.Verb)
		}
	}
	var rules []rbacv1.PolicyRule
	for _, a := range order {
		var names []string
		if a.name != "" {
			names = []string{a.name}
		}
		same := slices.IndexFunc(rules, func(r rbacv1.PolicyRule) bool {
			return r.APIGroups[0] == a.group && slices.Equal(r.Verbs, granted[a]) && slices.Equal(r.ResourceNames, names)
		})
		if same >= 0 {
			rules[same].Resources = append(rules[same].Resources, a.resource)
			continue
		}
		rules = append(rules, rbacv1.PolicyRule{
			APIGroups: []string{a.group}, Resources: []string{a.resource}, ResourceNames: names, Verbs: granted[a],
		})
	}
	return rules
}

// Change is a permission that one role has and another one hasn't.
type Change struct {
	Permission
	// Granted is true for a permission of the new role, false for one of the old role.
	Granted bool
}

// String returns "+ patch jobs.batch" for a granted permission, and "- patch jobs.batch" for a revoked one.
func (c Change) String() string {
	if c.Granted {
		return "+ " + c.Permission.String()
	}
	return "- " + c.Permission.String()
}

// Diff returns the permissions that differ between the rules of two versions, sorted. Rules that are written otherwise and grant the
// same don't differ.
func Diff(before, after []rbacv1.PolicyRule) []Change {
	was, is := Permissions(before), Permissions(after)
	var changes []Change
	for _, p := range was {
		if !slices.ContainsFunc(is, p.within) {
			changes = append(changes, Change{p, false})
		}
	}
	for _, p := range is {
		if !slices.ContainsFunc(was, p.within) {
			changes = append(changes, Change{p, true})
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return compare(a.Permission, b.Permission) })
	return changes
}

// within reports whether a granted permission, which may have wildcards, includes p.
func (p Permission) within(granted Permission) bool {
	is := func(granted, asked string) bool { return granted == "*" || granted == asked }
	return is(granted.Verb, p.Verb) && is(granted.Group, p.Group) && is(granted.Resource, p.Resource) &&
		(granted.Name == "" || granted.Name == p.Name)
}
