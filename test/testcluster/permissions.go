package testcluster

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	applyrbacv1 "k8s.io/client-go/applyconfigurations/rbac/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/armature-dev/armature/builder/rbac"
)

// rolesDir has the roles of the operators, as they are installed.
const rolesDir = "config/rbac"

// accountNamespace is where the accounts of operators would be. An account need not exist to be impersonated.
const accountNamespace = "armature-system"

// OperatorConfig returns a connection that may do what an operator may do where it is installed, and no more: it acts as a
// service account with the operator's roles in config/rbac, and those of others that run beside it. A request that is
// forbidden fails the test. When all tests of the binary have run, [Run] fails if there is a verb in the operator's roles
// that none of them made use of.
func OperatorConfig(tb testing.TB, operator string, beside ...string) *rest.Config {
	tb.Helper()
	config := Config(tb)
	account, err := accounts.of(config, operator, beside)
	if err != nil {
		tb.Fatalf("testcluster: permissions of %s: %v", operator, err)
	}
	config.Impersonate = rest.ImpersonationConfig{UserName: account.user}
	var denied denials
	config.Wrap(account.watch(&denied))
	tb.Cleanup(func() {
		for _, said := range denied.take() {
			tb.Errorf("testcluster: %s", said)
		}
	})
	return config
}

// accounts are those that tests of this binary have acted as.
var accounts = accountBook{all: map[string]*account{}}

type accountBook struct {
	mu  sync.Mutex
	all map[string]*account
}

// account is a service account with the roles of some operators.
type account struct {
	user   string
	rules  []rbacv1.PolicyRule // of the operator that is tested
	beside []rbacv1.PolicyRule // of the others

	used rbac.Usage
}

// of returns the account of these operators, once its roles count.
func (b *accountBook) of(config *rest.Config, operator string, others []string) (*account, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := strings.Join(append([]string{"testcluster", operator}, others...), "-")
	if a := b.all[name]; a != nil {
		return a, nil
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	a := &account{user: "system:serviceaccount:" + accountNamespace + ":" + name}
	if a.rules, err = rulesOf(operator); err != nil {
		return nil, err
	}
	if a.beside, err = rulesOf(others...); err != nil {
		return nil, err
	}
	if err := a.grant(ctx, client, name); err != nil {
		return nil, err
	}
	b.all[name] = a
	return a, nil
}

// rulesOf reads the roles of operators: operator-NAME.yaml, and operator-NAME-cluster.yaml if there is one.
func rulesOf(operators ...string) ([]rbacv1.PolicyRule, error) {
	dir, err := resolve(rolesDir)
	if err != nil {
		return nil, err
	}
	var rules []rbacv1.PolicyRule
	for _, operator := range operators {
		files, err := filepath.Glob(filepath.Join(dir, "operator-"+operator+"*.yaml"))
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("no roles of the operator %s in %s", operator, dir)
		}
		for _, file := range files {
			more, err := rbac.ReadFile(file)
			if err != nil {
				return nil, err
			}
			rules = append(rules, more...)
		}
	}
	return rules, nil
}

// grant gives the account its rules, and waits until the API server knows.
func (a *account) grant(ctx context.Context, client kubernetes.Interface, name string) error {
	options := metav1.ApplyOptions{FieldManager: "testcluster", Force: true}
	role := applyrbacv1.ClusterRole(name)
	all := slices.Concat(a.beside, a.rules)
	for _, r := range all {
		role.WithRules(applyrbacv1.PolicyRule().WithAPIGroups(r.APIGroups...).WithResources(r.Resources...).WithVerbs(r.Verbs...))
	}
	if _, err := client.RbacV1().ClusterRoles().Apply(ctx, role, options); err != nil {
		return err
	}
	binding := applyrbacv1.ClusterRoleBinding(name).
		WithRoleRef(applyrbacv1.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("ClusterRole").WithName(name)).
		WithSubjects(applyrbacv1.Subject().WithAPIGroup(rbacv1.GroupName).WithKind(rbacv1.UserKind).WithName(a.user))
	if _, err := client.RbacV1().ClusterRoleBindings().Apply(ctx, binding, options); err != nil {
		return err
	}
	return wait.PollUntilContextCancel(ctx, pollEvery, true, func(ctx context.Context) (bool, error) {
		last := all[len(all)-1]
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: a.user,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Group: last.APIGroups[0], Resource: last.Resources[0], Verb: last.Verbs[0],
			},
		}}
		review, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		return err == nil && review.Status.Allowed, err
	})
}

// unused returns the permissions of the operator that no request made use of, but for those that none has to.
func (a *account) unused() []rbac.Permission { return a.used.Unused(a.rules) }
