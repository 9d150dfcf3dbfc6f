package rbac

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/builder/internal/declared"
)

// Derive returns the rules that the operators of a setup need, sorted. An operator whose description is wrong, a plan that fails for a
// sample, and a sample that belongs to no operator are errors.
func Derive(o Options) ([]rbacv1.PolicyRule, error) {
	mapper, err := mapperOf(o.Scheme, o.CRDs)
	if err != nil {
		return nil, fmt.Errorf("rbac: %w", err)
	}
	operators, err := collect(o.Scheme, mapper, o.Setup)
	if err != nil {
		return nil, fmt.Errorf("rbac: %w", err)
	}
	d := derivation{options: o, mapper: mapper, used: make([]bool, len(o.Samples))}
	for _, op := range operators {
		if err := d.add(op); err != nil {
			return nil, fmt.Errorf("rbac: operator %s: %w", op.Name, err)
		}
	}
	for i, used := range d.used {
		if !used {
			return nil, fmt.Errorf("rbac: the sample %T %s is of no operator's kind", o.Samples[i], o.Samples[i].GetName())
		}
	}
	return rulesOf(append(d.permissions, Permissions(o.More)...)), nil
}

// derivation collects the permissions of operators.
type derivation struct {
	options     Options
	mapper      meta.RESTMapper
	used        []bool // samples
	permissions []Permission
	errs        []error
}

var (
	read  = []string{"get", "list", "watch"}
	cache = []string{"list", "watch"}
)

func (d *derivation) add(op declared.Operator) error {
	plans, err := d.plans(op)
	if err != nil {
		return err
	}
	d.grant(op.Owner, "", read...)
	reports := slices.ContainsFunc(plans, func(p declared.Plan) bool { return p.Reports })
	if len(plans) == 0 || op.Effects || reports { // the conditions of a terminating owner say which effects it waits for
		d.grant(op.Owner, "/status", "patch")
	}
	if slices.ContainsFunc(op.Owns, func(o declared.Owned) bool { return !o.CrossNamespace }) { // children have owner references
		d.grant(op.Owner, "/finalizers", "update")
	}
	for _, verb := range []string{"create", "patch"} {
		d.permissions = append(d.permissions, Permission{Verb: verb, Group: "events.k8s.io", Resource: "events"})
	}
	if op.Undo {
		for _, verb := range []string{"get", "create", "delete"} {
			d.permissions = append(d.permissions, Permission{Verb: verb, Group: appsv1.GroupName, Resource: "controllerrevisions"})
		}
	}
	if op.Effects {
		d.grant(&appsv1.ControllerRevision{}, "", "patch", "delete")
		d.grant(op.Owner, "", "patch")
	}
	for _, owned := range op.Owns {
		if err := d.owned(op.Owner, owned, plans); err != nil {
			return err
		}
	}
	for _, plan := range plans {
		d.plan(op, plan)
	}
	for _, watched := range op.Watches {
		d.grant(watched, "", cache...)
	}
	return errors.Join(d.errs...)
}

// plans returns the plans for the samples of an operator's kind.
func (d *derivation) plans(op declared.Operator) ([]declared.Plan, error) {
	var plans []declared.Plan
	for i, sample := range d.options.Samples {
		if reflect.TypeOf(sample) != reflect.TypeOf(op.Owner) {
			continue
		}
		d.used[i] = true
		placed, err := d.placed(sample)
		if err != nil {
			return nil, err
		}
		plan, err := op.Plan(placed)
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

// placed returns a sample in the namespace default, if it needs a namespace and has none.
func (d *derivation) placed(sample client.Object) (client.Object, error) {
	if sample.GetNamespace() != "" {
		return sample, nil
	}
	gvk, err := apiutil.GVKForObject(sample, d.options.Scheme)
	if err != nil {
		return nil, err
	}
	mapping, err := d.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil || mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return sample, err
	}
	sample = sample.DeepCopyObject().(client.Object)
	sample.SetNamespace(metav1.NamespaceDefault)
	return sample, nil
}

// owned grants what a kind of children needs.
func (d *derivation) owned(owner client.Object, owned declared.Owned, plans []declared.Plan) error {
	if owned.ByName {
		d.grant(owned.Kind, "", "get", "create", "patch")
		if slices.ContainsFunc(plans, func(p declared.Plan) bool { return p.PruneAll }) { // see prune.ListMetadata
			d.grant(owned.Kind, "", "list")
		}
	} else {
		d.grant(owned.Kind, "", append(slices.Clone(read), "create", "patch")...)
	}
	if owned.CrossNamespace {
		d.grant(owner, "", "patch")
	}
	deletes, err := d.deletes(owned.Kind, plans)
	if err != nil {
		return err
	}
	if deletes || owned.CrossNamespace {
		d.grant(owned.Kind, "", "delete")
	}
	for _, dependent := range owned.Dependents {
		d.grant(dependent, "", cache...)
	}
	return nil
}

// deletes reports whether plans delete children of a kind.
func (d *derivation) deletes(kind client.Object, plans []declared.Plan) (bool, error) {
	if len(plans) == 0 {
		return true, nil
	}
	_, revisions := kind.(*appsv1.ControllerRevision)
	for _, plan := range plans {
		if plan.PruneAll || plan.Phases && revisions {
			return true, nil
		}
		objects := slices.Clone(plan.Prune)
		for _, c := range plan.Children {
			if c.Recreate {
				objects = append(objects, c.Object)
			}
		}
		for _, obj := range objects {
			if same, err := d.sameKind(obj, kind); same || err != nil {
				return same, err
			}
		}
	}
	return false, nil
}

func (d *derivation) sameKind(a, b client.Object) (bool, error) {
	one, err := apiutil.GVKForObject(a, d.options.Scheme)
	if err != nil {
		return false, err
	}
	other, err := apiutil.GVKForObject(b, d.options.Scheme)
	return one.GroupKind() == other.GroupKind(), err
}

// plan grants what a plan needs beyond the kinds that are declared as children.
func (d *derivation) plan(op declared.Operator, plan declared.Plan) {
	if plan.PruneAll { // the record of the kinds is an annotation
		d.grant(op.Owner, "", "patch")
	}
	if plan.DeleteOwner {
		d.grant(op.Owner, "", "delete")
	}
	for _, c := range plan.Children { // retained children are watched, and not owned
		d.grant(c.Object, "", "get", "create", "patch")
	}
}

// grant adds verbs on the resource of a kind.
func (d *derivation) grant(kind client.Object, subresource string, verbs ...string) {
	gvk, err := apiutil.GVKForObject(kind, d.options.Scheme)
	if err != nil {
		d.errs = append(d.errs, err)
		return
	}
	mapping, err := d.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil { // an untyped kind, of another operator's CRD
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		mapping = &meta.RESTMapping{Resource: plural}
	}
	for _, verb := range verbs {
		d.permissions = append(d.permissions, Permission{Verb: verb, Group: gvk.Group, Resource: mapping.Resource.Resource + subresource})
	}
}
