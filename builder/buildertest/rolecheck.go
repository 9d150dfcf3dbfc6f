package buildertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/rbac"
	"github.com/armature-dev/armature/internal/wellknown"
)

// CheckRole tests that a role in a YAML file has the permissions that an operator needs, and no other. It runs each scenario once, without
// a crash, and refuses the requests that the role doesn't permit, as the API server does. The test fails if a request is refused, or if
// no scenario makes use of a permission. So the scenarios must reach everything that the operator ever does; see [Scenario].Then. Before
// the first of these edits and after the last, someone changes the children, and the operator repairs them. A read of the cache uses list
// and watch, and an apply that creates an object uses create beside patch. A Role permits nothing in other namespaces than its own, if the
// file names that, and no kinds without a namespace. It permits a cache to list a kind, because a manager may limit its cache to
// namespaces. Each Role must be made use of in its namespace. A rule with resourceNames
// permits requests that name one of these objects: not create, and no cache. It counts as used if one of its names is. [Scenario].Uses
// declares what no scenario can reach. Not checked are permissions that no test can cause: see [rbac.Usage.Unused].
//
//	buildertest.CheckRole(t, "../config/role.yaml", installed(t), upgraded(t))
func CheckRole(t testing.TB, path string, scenarios ...Scenario) {
	t.Helper()
	roles, err := rbac.ReadRoles(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkRole(t.Context(), roles, scenarios); err != nil {
		t.Fatal(err)
	}
}

func checkRole(ctx context.Context, roles []rbacv1.ClusterRole, scenarios []Scenario) error {
	role := &role{roles: roles, used: make([]rbac.Usage, len(roles))}
	var errs []error
	for i, s := range scenarios {
		if err := role.run(ctx, s); err != nil {
			errs = append(errs, fmt.Errorf("scenario %d: %w", i+1, err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if unused := role.unused(); len(unused) > 0 {
		return fmt.Errorf("the role permits what no scenario makes use of: %s; remove it, add a scenario, or declare it in Scenario.Uses",
			strings.Join(unused, ", "))
	}
	return nil
}

// role is what clients may do, by all roles of a file.
type role struct {
	roles   []rbacv1.ClusterRole // a Role has a namespace or its kind
	used    []rbac.Usage         // of each role
	refused []string             // permissions, in the present scenario
}

// rules returns the rules that apply to a call; nil: all of them.
func (r *role) rules(call *request) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for i := range r.roles {
		if applies(&r.roles[i], call) {
			rules = append(rules, r.roles[i].Rules...)
		}
	}
	return rules
}

// applies reports whether a role says what a call may do. A cache of all namespaces may be one of those of the Roles. A Role without a
// namespace is of any one.
func applies(role *rbacv1.ClusterRole, call *request) bool {
	switch {
	case call == nil || role.Namespace == "" && role.Kind != "Role":
		return true
	case call.Namespace == "":
		return call.kind.namespaced && call.isCached()
	default:
		return role.Namespace == "" || role.Namespace == call.Namespace
	}
}

// unused returns the permissions of each role that no call made use of, in words.
func (r *role) unused() []string {
	var unused []string
	all := r.rules(nil)
	for i := range r.roles {
		granted := rbac.Permissions(r.roles[i].Rules)
		for _, p := range r.used[i].Unused(all) {
			words := p.String()
			if namespace := r.roles[i].Namespace; namespace != "" {
				words += fmt.Sprintf(" in namespace %q", namespace)
			}
			if slices.Contains(granted, p) && !slices.Contains(unused, words) {
				unused = append(unused, words)
			}
		}
	}
	return unused
}

// run runs a scenario under the role.
func (r *role) run(ctx context.Context, given Scenario) error {
	r.refused = nil
	s, err := given.withDefaults()
	if err != nil {
		return err
	}
	s.Reconciler = func(c *Client) (reconcile.Reconciler, error) {
		c.role = r
		return given.Reconciler(c)
	}
	s.Then = slices.Concat([]Edit{drift}, s.Then, []Edit{drift})
	run, err := s.begin(ctx)
	if err == nil {
		err = run.inPeace(ctx)
	}
	if err == nil && len(run.process.events) > 0 {
		r.use(nil, []rbac.Permission{{Verb: "create", Group: "events.k8s.io", Resource: "events"}})
	}
	for _, p := range rbac.Permissions(s.Uses) {
		r.use(nil, []rbac.Permission{p})
	}
	if len(r.refused) > 0 {
		return fmt.Errorf("the role doesn't permit: %s", strings.Join(r.refused, ", "))
	}
	return err
}

// drift takes from children what the builder has given them, so that it repairs them: the digest, and the label of those that are only
// created.
func drift(ctx context.Context, c client.Client) error {
	for _, obj := range c.(*Client).Server().Objects() {
		annotations, labels := obj.GetAnnotations(), obj.GetLabels()
		switch _, applied := annotations[wellknown.AnnotationDigest]; {
		case applied:
			delete(annotations, wellknown.AnnotationDigest)
			obj.SetAnnotations(annotations)
		case labels[wellknown.LabelManagedBy] == wellknown.ManagedBy && metav1.GetControllerOf(obj) != nil:
			delete(labels, wellknown.LabelManagedBy)
			obj.SetLabels(labels)
		default:
			continue
		}
		if err := c.Update(ctx, obj); err != nil {
			return err
		}
	}
	return nil
}

// check returns the error of a request that isn't permitted. missing reports whether its object doesn't exist.
func (r *role) check(call *request, missing bool) error {
	if refused, ok := r.use(call, permissions(call, missing)); ok {
		return apierrors.NewForbidden(call.kind.resource, call.Name, fmt.Errorf("the role doesn't permit: %s", refused))
	}
	return nil
}

// use notes the permissions that a call needs, and returns one that the role doesn't have.
func (r *role) use(call *request, needed []rbac.Permission) (refused string, ok bool) {
	for i := range r.roles {
		if applies(&r.roles[i], call) {
			r.used[i].Note(needed...)
		}
	}
	for _, p := range needed {
		if rbac.Allows(r.rules(call), p) {
			continue
		}
		refused = r.words(call, p)
		if !slices.Contains(r.refused, refused) {
			r.refused = append(r.refused, refused)
		}
		return refused, true
	}
	return "", false
}

// words returns a permission that a call lacks, with what distinguishes it from those that the role has: the namespace or the name.
func (r *role) words(call *request, p rbac.Permission) string {
	bare := p
	bare.Name = ""
	switch granted := rbac.Allows(r.rules(nil), p); {
	case granted && call.Namespace == "":
		return bare.String() + " in the whole cluster"
	case granted:
		return fmt.Sprintf("%s in namespace %q", bare, call.Namespace)
	}
	rules := r.rules(call)
	for _, granted := range rbac.Permissions(rules) {
		other := p
		if other.Name = granted.Name; p.Name != "" && other.Name != "" && rbac.Allows(rules, other) {
			return p.String()
		}
	}
	return bare.String()
}

// permissions returns what a call needs. A cache lists and watches what is read of it.
func permissions(call *request, missing bool) []rbac.Permission {
	resource := call.kind.resource.Resource
	if call.Subresource != "" {
		resource += "/" + call.Subresource
	}
	p := func(verb Verb) rbac.Permission {
		return rbac.Permission{Verb: string(verb), Group: call.Kind.Group, Resource: resource, Name: call.Name}
	}
	all := func(verb Verb) rbac.Permission { // the request's URL names no object
		permission := p(verb)
		permission.Name = ""
		return permission
	}
	switch {
	case call.Verb == VerbApply && call.Subresource == "" && missing:
		return []rbac.Permission{p(VerbPatch), p(VerbCreate)}
	case call.Verb == VerbApply:
		return []rbac.Permission{p(VerbPatch)}
	case call.isCached():
		return []rbac.Permission{all(VerbList), all(VerbWatch)}
	case call.Verb == VerbCreate && call.Subresource == "":
		return []rbac.Permission{all(VerbCreate)}
	default:
		return []rbac.Permission{p(call.Verb)}
	}
}
