package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Options describe the operators whose role is derived.
type Options struct {
	// Name is the name of the ClusterRole. Required for [Role].
	Name string
	// Scheme has the kinds of the operators. Required.
	Scheme *runtime.Scheme
	// CRDs are files, and directories with .yaml files, of the CustomResourceDefinitions of the scheme's kinds. They name the kinds'
	// resources and scopes. A path without a definition is an error. Default: nil; the resources are then the plurals that Kubernetes
	// guesses, and the kinds are namespaced, except for the cluster-scoped ones of Kubernetes.
	CRDs []string
	// Setup sets the operators up, as in the program. Required. It must not use the manager's client: there is no cluster.
	Setup func(manager.Manager) error
	// Samples are owners. Their plans show which kinds the operators patch and delete. A sample of a namespaced kind without a namespace is
	// in the namespace default. Default: nil; each owned kind is then patched and deleted.
	Samples []client.Object
	// More are further rules: for Plan.Edits, Plan.Delete, and requests of the program's own. Default: nil, none.
	More []rbacv1.PolicyRule
}

// Role returns a ClusterRole with the rules of [Derive].
func Role(o Options) (*rbacv1.ClusterRole, error) {
	rules, err := Derive(o)
	if err != nil {
		return nil, err
	}
	return &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: o.Name},
		Rules:      rules,
	}, nil
}
