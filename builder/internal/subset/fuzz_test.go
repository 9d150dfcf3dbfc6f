package subset

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder/internal/payload"
)

// fuzzed are the kinds that are tried.
var fuzzed = []client.Object{
	&appsv1.Deployment{}, &appsv1.StatefulSet{}, &corev1.Service{}, &corev1.ConfigMap{}, &batchv1.Job{},
	&policyv1.PodDisruptionBudget{}, &networkingv1.NetworkPolicy{}, &corev1.Secret{},
}

var converter = applyconfigurations.NewTypeConverter(scheme.Scheme)

// FuzzTyped holds the walk against the API server's own merge: an object is contained in another exactly if applying it
// there would change nothing. There are two exceptions: see onlyMore, and an apply that only puts elements of lists in another order, which
// means something in few lists.
func FuzzTyped(f *testing.F) {
	for kind := range fuzzed {
		for seed := range uint64(40) {
			f.Add(uint8(kind), seed, uint8(seed*6), uint8(seed%4))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, seed uint64, empty, changes uint8) {
		wanted, found := pair(fuzzed[int(kind)%len(fuzzed)], newGenerator(seed, empty), int(changes%8))
		found = reread(t, found)
		changed, free, err := applyChanges(wanted, found)
		if err != nil {
			t.Skip(err)
		}
		if contained := Typed(wanted, found); contained != (changed == "") && !free {
			t.Fatalf("contained: %t\napply changes: %s\nwanted:\n%s\nfound:\n%s", contained, changed, asYAML(wanted), asYAML(found))
		}
	})
}

// pair makes an object, and another that others have made of it.
func pair(like client.Object, g *generator, changes int) (wanted, found client.Object) {
	wanted = like.DeepCopyObject().(client.Object)
	g.set(reflectOf(wanted), merging{})
	found = wanted.DeepCopyObject().(client.Object)
	for range changes {
		g.change(found)
	}
	return wanted, found
}

// applyChanges asks structured-merge-diff, the API server's library, what an apply of wanted changes in found, and
// whether the walk is free to say otherwise.
func applyChanges(wanted, found client.Object) (changed string, free bool, err error) {
	gvk, err := apiutil.GVKForObject(wanted, scheme.Scheme)
	if err != nil {
		return "", false, err
	}
	fields, err := payload.Of(wanted, gvk)
	if err != nil {
		return "", false, err
	}
	config, err := converter.ObjectToTyped(&unstructured.Unstructured{Object: fields})
	if err != nil {
		return "", false, fmt.Errorf("the server would refuse it: %w", err)
	}
	live, err := asTyped(found)
	if err != nil {
		return "", false, err
	}
	merged, err := live.Merge(config)
	if err != nil {
		return "", false, err
	}
	// The server decodes the result, so that two ways to write one value are the same.
	decoded := found.DeepCopyObject().(client.Object)
	reflectOf(decoded).SetZero()
	data, err := json.Marshal(merged.AsValue().Unstructured())
	if err != nil {
		return "", false, err
	}
	if err := json.Unmarshal(data, decoded); err != nil {
		return "", false, err
	}
	after, err := asTyped(decoded)
	if err != nil {
		return "", false, err
	}
	difference, err := live.Compare(after)
	if err != nil || difference.IsSame() {
		return "", !reflect.DeepEqual(live.AsValue().Unstructured(), after.AsValue().Unstructured()), err
	}
	return difference.String(), onlyMore(config, live, difference), nil
}

// onlyMore reports whether all that an apply changes are lists and structs that are one value to the server, which say
// what is wanted and more. The server sets defaults in them after the merge (a protocol in a network policy's ports),
// of which structured-merge-diff knows nothing, so the walk lets them be.
func onlyMore(config, live *typed.TypedValue, d *typed.Comparison) bool {
	if !d.Added.Empty() || !d.Removed.Empty() {
		return false
	}
	var wanted, found any = config.ExtractItems(d.Modified).AsValue().Unstructured(), live.ExtractItems(d.Modified).AsValue().Unstructured()
	return Untyped(wanted, found)
}

func asTyped(obj client.Object) (*typed.TypedValue, error) {
	gvk, err := apiutil.GVKForObject(obj, scheme.Scheme)
	if err != nil {
		return nil, err
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: fields}
	u.SetGroupVersionKind(gvk)
	return converter.ObjectToTyped(u, typed.AllowDuplicates)
}

// reread is an object as a client reads it.
func reread(t *testing.T, obj client.Object) client.Object {
	data, err := json.Marshal(obj)
	require.NoError(t, err)
	read := obj.DeepCopyObject().(client.Object)
	reflectOf(read).SetZero()
	require.NoError(t, json.Unmarshal(data, read))
	var blobs map[string][]byte
	switch o := read.(type) {
	case *corev1.Secret:
		blobs = o.Data
	case *corev1.ConfigMap:
		blobs = o.BinaryData
	}
	for k, v := range blobs {
		blobs[k] = append([]byte{}, v...) // no server has nulls
	}
	return read
}

func asYAML(obj client.Object) string {
	data, err := yaml.Marshal(obj)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
