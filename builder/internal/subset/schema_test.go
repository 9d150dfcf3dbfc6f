package subset

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// rules compares how this package takes Kubernetes' Go types apart with how the API server does, by its own schema.
type rules struct {
	schema *schema.Schema
	seen   map[string]bool
	differ map[string]string
}

// defaulted are structs that are one value to the server, which sets defaults in them after it has merged. The walk looks
// at their fields one by one.
var defaulted = []reflect.Type{
	reflect.TypeFor[corev1.ObjectFieldSelector](), reflect.TypeFor[rbacv1.RoleRef](), reflect.TypeFor[rbacv1.Subject](),
	reflect.TypeFor[discoveryv1.EndpointPort](), reflect.TypeFor[corev1.EndpointPort](), reflect.TypeFor[admissionv1.MatchResources](),
	reflect.TypeFor[admissionv1.NamedRuleWithOperations](),
}

// TestMergingIsTheServers looks at every list, map and struct of every stable built-in kind, status aside.
func TestMergingIsTheServers(t *testing.T) {
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	r := rules{seen: map[string]bool{}, differ: map[string]string{}}
	kinds := 0
	for gvk, kind := range scheme.Scheme.AllKnownTypes() {
		if !isStable(gvk.Version) || applyconfigurations.ForKind(gvk) == nil {
			continue
		}
		obj, err := scheme.Scheme.New(gvk)
		require.NoError(t, err)
		obj.GetObjectKind().SetGroupVersionKind(gvk)
		value, err := converter.ObjectToTyped(obj)
		if err != nil {
			continue // only a part of an object
		}
		kinds++
		r.schema = value.Schema()
		r.visit(kind, value.TypeRef(), kind.String())
	}
	assert.Greater(t, kinds, 40)
	for where, what := range r.differ {
		t.Errorf("%s: %s", where, what)
	}
}

// isStable tells v1 and v2 from v1beta1.
func isStable(version string) bool {
	return !strings.ContainsAny(version, "ab") && version != apiruntime.APIVersionInternal
}

func (r *rules) visit(t reflect.Type, ref schema.TypeRef, where string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	atom, ok := r.schema.Resolve(ref)
	if !ok {
		return
	}
	switch {
	case t.Kind() == reflect.Struct && atom.Map != nil:
		r.visitStruct(t, atom.Map)
	case t.Kind() == reflect.Slice && atom.List != nil:
		r.visit(t.Elem(), atom.List.ElementType, where+"[]")
	case t.Kind() == reflect.Map && atom.Map != nil:
		r.visit(t.Elem(), atom.Map.ElementType, where+"{}")
	}
}

func (r *rules) visitStruct(t reflect.Type, m *schema.Map) {
	name := t.PkgPath() + "." + t.Name()
	if r.seen[name] || strings.HasSuffix(name, "Status") || t == reflect.TypeFor[metav1.FieldsV1]() {
		return
	}
	r.seen[name] = true
	isValue := infoOf(t).equal != nil
	isAtomic := m.ElementRelationship == schema.Atomic && !slices.Contains(defaulted, t)
	if isAtomic != isValue {
		r.differ[name] = fmt.Sprintf("one value to the server: %t, here: %t", isAtomic, isValue)
	}
	if isValue {
		return
	}
	r.visitFields(t, m)
}

func (r *rules) visitFields(t reflect.Type, m *schema.Map) {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && (name == "" || strings.Contains(options, "inline")) {
			r.visitFields(field.Type, m)
			continue
		}
		in, ok := m.FindField(name)
		if !ok {
			continue
		}
		where := t.PkgPath() + "." + t.Name() + "." + field.Name
		if atom, ok := r.schema.Resolve(in.Type); ok {
			r.compare(where, mergingOf(t, field), atom, field.Type)
		}
		r.visit(field.Type, in.Type, where)
	}
}

func (r *rules) compare(where string, m merging, atom schema.Atom, t reflect.Type) {
	switch {
	case t.Kind() == reflect.Slice && atom.List != nil:
		want := ""
		if atom.List.ElementRelationship == schema.Associative {
			want = setKey
			if len(atom.List.Keys) > 0 {
				want = strings.Join(atom.List.Keys, ",")
			}
		}
		if here := m.key + second(t.Elem()); here != want {
			r.differ[where] = "list merged by " + want + ", here by " + here
		}
	case t.Kind() == reflect.Map && atom.Map != nil:
		if isAtomic := atom.Map.ElementRelationship == schema.Atomic; isAtomic != m.atomic {
			r.differ[where] = "map is " + string(atom.Map.ElementRelationship)
		}
	}
}

// second is the rest of a compound key.
func second(t reflect.Type) string {
	if _, ok := secondKeys[t]; !ok {
		return ""
	}
	return "," + strings.ToLower(secondKeys[t].field[:1]) + secondKeys[t].field[1:]
}
