package buildertest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
)

// copying is an operator that copies a Secret, which it reads by name past the cache, into a ConfigMap. It creates a ServiceAccount, and
// leaves it as it is then.
func copying() Scenario {
	owner := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	return Scenario{
		Objects:  []client.Object{owner},
		Requests: []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: "default", Name: "a"}}},
		Reconciler: func(c *Client) (reconcile.Reconciler, error) {
			plan := func(o *corev1.Service, _ builder.View) builder.Plan[*corev1.Service] {
				meta := metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name}
				return builder.Plan[*corev1.Service]{Children: []builder.Child{
					builder.Want(&corev1.ConfigMap{ObjectMeta: meta}), builder.Want(&corev1.Secret{ObjectMeta: meta}),
					builder.Want(&corev1.ServiceAccount{ObjectMeta: meta}, builder.CreateOnly()),
				}}
			}
			return NewReconciler(builder.NewOperator[*corev1.Service](nil, "copy").
				Owns(&corev1.ConfigMap{}).
				Owns(&corev1.ServiceAccount{}).
				Owns(&corev1.Secret{}, builder.ByName(func(o *corev1.Service) []string { return []string{o.Name} })).
				Plan(plan), c, c.Now)
		},
	}
}

// A scenario that ends with the deletion of the owner has no children at its end that someone could change.
func TestCheckRoleOfAScenarioThatDeletesItsOwner(t *testing.T) {
	s := copying()
	s.Then = append(s.Then, func(ctx context.Context, c client.Client) error {
		return c.Delete(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
	})
	assert.NoError(t, checkRole(t.Context(), clusterRole(
		core("services", "get", "list", "watch"), core("secrets", "get", "create", "patch"),
		core("serviceaccounts", "list", "watch", "create", "patch"), core("configmaps", "list", "watch", "create", "patch"),
		rbacv1.PolicyRule{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	), []Scenario{s}))
}

func clusterRole(rules ...rbacv1.PolicyRule) []rbacv1.ClusterRole {
	return []rbacv1.ClusterRole{{Rules: rules}}
}

// named limits a rule to objects of some names.
func named(rule rbacv1.PolicyRule, names ...string) rbacv1.PolicyRule {
	rule.ResourceNames = names
	return rule
}

func core(resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{resource}, Verbs: verbs}
}

// An apply that creates needs create as well, as the API server's handler of patches says.
func TestCheckRoleOfAnApply(t *testing.T) {
	owner := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	s := Scenario{
		Owner:    &corev1.Service{},
		Objects:  []client.Object{owner},
		Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(owner)}},
		Reconciler: func(c *Client) (reconcile.Reconciler, error) {
			return reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				return reconcile.Result{}, c.Apply(ctx, corev1ac.ConfigMap("x", "other"), client.FieldOwner("me"))
			}), nil
		},
	}
	patch, both := core("configmaps", "patch"), core("configmaps", "patch", "create")
	in := func(namespace string, rule rbacv1.PolicyRule) []rbacv1.ClusterRole {
		return []rbacv1.ClusterRole{{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}, Rules: []rbacv1.PolicyRule{rule}}}
	}
	for name, c := range map[string]struct {
		roles []rbacv1.ClusterRole
		err   string
	}{
		"create and patch":             {clusterRole(both), ""},
		"only patch":                   {clusterRole(patch), "the role doesn't permit: create configmaps"},
		"a Role of the namespace":      {in("other", both), ""},
		"a Role of another one":        {in("default", both), `the role doesn't permit: patch configmaps in namespace "other"`},
		"patch and create of the name": {clusterRole(named(both, "other", "x")), ""},
		"patch of another name": {clusterRole(named(patch, "other"), core("configmaps", "create")),
			"the role doesn't permit: patch configmaps named x"},
		"create in another Role's": {append(in("other", patch), in("default", both)...), `create configmaps in namespace "other"`},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkRole(t.Context(), c.roles, []Scenario{s})
			if c.err == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, c.err)
		})
	}
}

func TestCheckRoleOfRolesInNamespaces(t *testing.T) {
	owner := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	check := func(pass func(ctx context.Context, c *Client) error, roles ...rbacv1.ClusterRole) error {
		return checkRole(t.Context(), roles, []Scenario{{
			Owner: &corev1.Service{}, Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(owner)}},
			Objects: []client.Object{owner, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "key"}}},
			Reconciler: func(c *Client) (reconcile.Reconciler, error) {
				return reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
					return reconcile.Result{}, pass(ctx, c)
				}), nil
			},
		}})
	}
	role := func(namespace string, rules ...rbacv1.PolicyRule) rbacv1.ClusterRole {
		return rbacv1.ClusterRole{
			TypeMeta: metav1.TypeMeta{Kind: "Role"}, ObjectMeta: metav1.ObjectMeta{Namespace: namespace}, Rules: rules,
		}
	}
	listNodes := func(ctx context.Context, c *Client) error { return c.List(ctx, &corev1.NodeList{}) }
	listSecrets := func(ctx context.Context, c *Client) error { return c.List(ctx, &corev1.SecretList{}) }
	getSecret := func(ctx context.Context, c *Client) error {
		return c.Live().Get(ctx, client.ObjectKey{Namespace: "default", Name: "key"}, &corev1.Secret{})
	}
	getStatus := func(ctx context.Context, c *Client) error {
		return c.SubResource("status").Get(ctx, owner.DeepCopy(), &corev1.Service{})
	}
	nodes, secrets, get := core("nodes", "list", "watch"), core("secrets", "list", "watch"), core("secrets", "get")

	require.EqualError(t, check(listNodes, role("", nodes)),
		"scenario 1: the role doesn't permit: list nodes in the whole cluster")
	require.NoError(t, check(listNodes, clusterRole(nodes)...))
	require.NoError(t, check(getSecret, role("", get)), "a Role of any namespace")
	require.NoError(t, check(listSecrets, role("a", secrets), role("b", secrets)), "a cache of two namespaces")
	require.ErrorContains(t, check(getSecret, role("default", get), role("kube-system", get)),
		`no scenario makes use of: get secrets in namespace "kube-system";`)
	require.ErrorContains(t, check(getSecret, role("default", core("secrets", "get", "delete"))),
		"no scenario makes use of: delete secrets in")
	require.NoError(t, check(getStatus, clusterRole(core("services/status", "get"))...))
	require.ErrorContains(t, check(getStatus, clusterRole(core("services", "list", "watch"))...), "doesn't permit: get services/status")
}

func TestCheckRole(t *testing.T) {
	events := rbacv1.PolicyRule{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}}
	owner := core("services", "get", "list", "watch")
	accounts := core("serviceaccounts", "list", "watch", "create", "patch")
	maps := core("configmaps", "list", "watch", "create", "patch")
	secrets := core("secrets", "get", "create", "patch")
	for name, c := range map[string]struct {
		rules []rbacv1.PolicyRule
		err   string
	}{
		"exact": {[]rbacv1.PolicyRule{owner, accounts, maps, secrets, events}, ""},
		"no events": {
			[]rbacv1.PolicyRule{owner, accounts, maps, secrets},
			"scenario 1: the role doesn't permit: create events.events.k8s.io",
		},
		"no patch": {
			[]rbacv1.PolicyRule{owner, accounts, core("configmaps", "list", "watch", "create"), secrets, events},
			"the role doesn't permit: patch configmaps",
		},
		"no patch of what is only created": {
			[]rbacv1.PolicyRule{owner, core("serviceaccounts", "list", "watch", "create"), maps, secrets, events},
			"the role doesn't permit: patch serviceaccounts",
		},
		"no watch": {
			[]rbacv1.PolicyRule{owner, accounts, core("configmaps", "list", "create", "patch"), secrets, events},
			"the role doesn't permit: watch configmaps",
		},
		"no get": {
			[]rbacv1.PolicyRule{owner, accounts, maps, core("secrets", "create", "patch"), events},
			"the role doesn't permit: get secrets",
		},
		"resourceNames of what is read by name": {[]rbacv1.PolicyRule{
			owner, accounts, maps, named(core("secrets", "get", "patch"), "a"), core("secrets", "create"), events,
		}, ""},
		"resourceNames don't permit create": {
			[]rbacv1.PolicyRule{owner, named(accounts, "a"), maps, secrets, events},
			"the role doesn't permit: list serviceaccounts",
		},
		"unused delete": {
			[]rbacv1.PolicyRule{owner, accounts, maps, secrets, events, core("configmaps", "delete")},
			"no scenario makes use of: delete configmaps;",
		},
		"unused list": {
			[]rbacv1.PolicyRule{owner, accounts, maps, core("secrets", "get", "list", "create", "patch"), events},
			"no scenario makes use of: list secrets;",
		},
		"unused kind": {
			[]rbacv1.PolicyRule{owner, accounts, maps, secrets, events, core("nodes", "watch")},
			"no scenario makes use of: watch nodes;",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkRole(context.Background(), clusterRole(c.rules...), []Scenario{copying()})
			if c.err == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, c.err)
		})
	}
}

// A plan with PruneAll that always desires a Secret lists Secrets only in the version that no longer does. The author declares that.
func TestCheckRoleOfPermissionsThatNoScenarioCanUse(t *testing.T) {
	rules := []rbacv1.PolicyRule{
		core("services", "get", "list", "watch"), core("serviceaccounts", "list", "watch", "create", "patch"),
		core("configmaps", "list", "watch", "create", "patch"), core("secrets", "get", "create", "patch"),
		{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	}
	s := copying()
	s.Uses = []rbacv1.PolicyRule{core("secrets", "list"), core("pods", "list")}
	assert.EqualError(t, checkRole(t.Context(), clusterRole(rules...), []Scenario{s}),
		"scenario 1: the role doesn't permit: list pods, list secrets")
	rules = append(rules, core("secrets", "list"), core("pods", "list"))
	assert.NoError(t, checkRole(t.Context(), clusterRole(rules...), []Scenario{s}))
	rules = append(rules, core("pods", "watch"))
	assert.ErrorContains(t, checkRole(t.Context(), clusterRole(rules...), []Scenario{s}), "no scenario makes use of: watch pods;")
}
