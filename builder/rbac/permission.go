package rbac

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Permission is one verb on one resource, or on one URL, as a role grants it.
type Permission struct {
	Verb     string // such as "patch"
	Group    string // empty for the core group
	Resource string // plural, with its subresource: "backups/status"
	Name     string // of the only object that it is about; empty for all
	URL      string // of nonResourceURLs, such as "/metrics"; the permission then has neither Group nor Resource nor Name
}

// String returns the permission in words, such as "patch backups/status.example.com", "get secrets named key", or
// "get nonResourceURL /metrics".
func (p Permission) String() string {
	if p.URL != "" {
		return p.Verb + " nonResourceURL " + p.URL
	}
	s := p.Verb + " " + p.Resource
	if p.Group != "" {
		s += "." + p.Group
	}
	if p.Name != "" {
		s += " named " + p.Name
	}
	return s
}

// Permissions returns the permissions that rules grant, sorted, each once.
func Permissions(rules []rbacv1.PolicyRule) []Permission {
	all := map[Permission]bool{}
	for _, rule := range rules {
		for _, url := range rule.NonResourceURLs {
			for _, verb := range rule.Verbs {
				all[Permission{Verb: verb, URL: url}] = true
			}
		}
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						all[Permission{Verb: verb, Group: group, Resource: resource, Name: name}] = true
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
		strings.Compare(a.URL, b.URL),
		strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource), strings.Compare(a.Name, b.Name),
		cmp.Compare(slices.Index(verbs, a.Verb), slices.Index(verbs, b.Verb)), strings.Compare(a.Verb, b.Verb),
	)
}

// rulesOf returns rules that grant the permissions: resources of a group with the same verbs share one, and so do URLs.
func rulesOf(permissions []Permission) []rbacv1.PolicyRule {
	granted := map[Permission][]string{} // by the permission without its verb
	var order []Permission
	for _, p := range slices.SortedFunc(slices.Values(permissions), compare) {
		a := p
		a.Verb = ""
		if granted[a] == nil {
			order = append(order, a)
		}
		if !slices.Contains(granted[a], p.Verb) {
			granted[a] = append(granted[a], p.Verb)
		}
	}
	var rules []rbacv1.PolicyRule
	for _, a := range order {
		rule := rbacv1.PolicyRule{Verbs: granted[a]}
		if a.URL != "" {
			rule.NonResourceURLs = []string{a.URL}
		} else {
			rule.APIGroups, rule.Resources = []string{a.Group}, []string{a.Resource}
		}
		if a.Name != "" {
			rule.ResourceNames = []string{a.Name}
		}
		same := slices.IndexFunc(rules, func(r rbacv1.PolicyRule) bool {
			return slices.Equal(r.Verbs, rule.Verbs) && slices.Equal(r.APIGroups, rule.APIGroups) &&
				slices.Equal(r.ResourceNames, rule.ResourceNames)
		})
		if same < 0 {
			rules = append(rules, rule)
			continue
		}
		rules[same].Resources = append(rules[same].Resources, rule.Resources...)
		rules[same].NonResourceURLs = append(rules[same].NonResourceURLs, rule.NonResourceURLs...)
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
	if p.URL != "" || granted.URL != "" {
		prefix, isPrefix := strings.CutSuffix(granted.URL, "*")
		return is(granted.Verb, p.Verb) && p.URL != "" && (granted.URL == p.URL || isPrefix && strings.HasPrefix(p.URL, prefix))
	}
	return is(granted.Verb, p.Verb) && is(granted.Group, p.Group) && is(granted.Resource, p.Resource) &&
		(granted.Name == "" || granted.Name == p.Name)
}
