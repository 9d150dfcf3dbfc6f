package rbac

import (
	"errors"
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-dev/armature/builder/internal/crdfile"
	"github.com/armature-dev/armature/builder/internal/declared"
	"github.com/armature-dev/armature/builder/internal/scope"
)

// collector is a manager that collects the declarations of operators. It is never started.
type collector struct {
	manager.Manager
	operators []declared.Operator
}

// Declare implements declared.Collector.
func (c *collector) Declare(op declared.Operator) { c.operators = append(c.operators, op) }

// Add ignores what a setup wants to run.
func (c *collector) Add(manager.Runnable) error { return nil }

// collect returns the operators that a setup completes.
func collect(scheme *runtime.Scheme, mapper meta.RESTMapper, setup func(manager.Manager) error) ([]declared.Operator, error) {
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://no-cluster.invalid"}, ctrl.Options{
		Scheme:         scheme,
		Logger:         logr.Discard(),
		Metrics:        server.Options{BindAddress: "0"},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
	})
	if err != nil {
		return nil, err
	}
	c := &collector{Manager: mgr}
	if err := setup(c); err != nil {
		return nil, err
	}
	if len(c.operators) == 0 {
		return nil, errors.New("the setup completes no operator")
	}
	return c.operators, nil
}

// crd is the part of a CustomResourceDefinition that names resources.
type crd struct {
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind   string `json:"kind"`
			Plural string `json:"plural"`
		} `json:"names"`
	} `json:"spec"`
}

// mapperOf returns the resources of a scheme's kinds. Without a CRD a kind is namespaced, unless it is a cluster-scoped one of Kubernetes.
func mapperOf(scheme *runtime.Scheme, paths []string) (meta.RESTMapper, error) {
	crds := map[schema.GroupKind]crd{}
	found, err := crdfile.Read[crd](paths...)
	if err != nil {
		return nil, err
	}
	for _, c := range found {
		crds[schema.GroupKind{Group: c.Spec.Group, Kind: c.Spec.Names.Kind}] = c
	}
	mapper := meta.NewDefaultRESTMapper(scheme.PrioritizedVersionsAllGroups())
	for gvk := range scheme.AllKnownTypes() {
		plural, singular := meta.UnsafeGuessKindToResource(gvk)
		cluster := scope.IsCluster(gvk.GroupKind())
		if known, ok := crds[gvk.GroupKind()]; ok {
			plural.Resource, cluster = known.Spec.Names.Plural, known.Spec.Scope == "Cluster"
		}
		in := meta.RESTScopeNamespace
		if cluster {
			in = meta.RESTScopeRoot
		}
		mapper.AddSpecific(gvk, plural, singular, in)
	}
	return mapper, nil
}
