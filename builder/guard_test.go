package builder

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/fasthash"
)

// To read a quantity changes the form in which it is kept, and not its value.
func TestAPlanMayReadQuantities(t *testing.T) {
	for _, text := range []string{"0", "1", "1000m", "1500m", "0.5", "1Gi", "1.5Gi", "100e30", "9223372036854775808", "-1", "-1500m", "1n"} {
		for name, read := range map[string]func(*resource.Quantity){
			"String":         func(q *resource.Quantity) { _ = q.String() },
			"Cmp":            func(q *resource.Quantity) { q.Cmp(resource.MustParse("1e40")) },
			"AsDec":          func(q *resource.Quantity) { q.AsDec() },
			"AsDec, String":  func(q *resource.Quantity) { _ = q.AsDec(); _ = q.String() },
			"Value":          func(q *resource.Quantity) { q.Value(); q.MilliValue(); q.AsApproximateFloat64() },
			"another form":   func(q *resource.Quantity) { *q = resource.MustParse(q.String()) },
			"as it is, anew": func(q *resource.Quantity) { *q = q.DeepCopy() },
		} {
			for _, copies := range []bool{false, true} {
				owner := deployment("web")
				limit := resource.MustParse(text)
				owner.Spec.Template.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit}}}}
				g := guard{copies: copies}
				witnesses := g.before(owner, View{})
				require.Len(t, witnesses, 1)
				read(&limit)
				assert.False(t, witnesses[0].isChanged(), "%s, %s, copies: %t", text, name, copies)
				limit.Add(resource.MustParse("1"))
				assert.True(t, witnesses[0].isChanged(), "%s, %s, copies: %t", text, name, copies)
			}
		}
	}
}

// Whether an object is the owner is known by what it is, and not by its place among those that are looked at.
func TestWhatAPlanChangesIsNamed(t *testing.T) {
	_, ok := fasthash.Of(&thing{})
	require.False(t, ok, "there must be an owner without a hash")
	owner := func() *appsv1.Deployment {
		o := deployment("web")
		o.UID, o.Labels = "web", map[string]string{"a": "b"}
		return o
	}
	for name, c := range map[string]struct {
		owner   client.Object
		others  func(owner client.Object) []client.Object
		changes func(owner client.Object, others []client.Object)
		want    []string
	}{
		"the owner": {owner(), nil, func(o client.Object, _ []client.Object) { o.GetLabels()["x"] = "y" }, []string{"the owner"}},
		"a child": {
			owner(), func(client.Object) []client.Object { return []client.Object{deployment("child")} },
			func(_ client.Object, others []client.Object) { others[0].SetLabels(nil) }, []string{"the observed object"},
		},
		"a child of an owner without a hash": {
			&thing{Deployment: *owner()}, func(client.Object) []client.Object { return []client.Object{deployment("child")} },
			func(_ client.Object, others []client.Object) { others[0].SetLabels(nil) }, []string{"the observed object"},
		},
		"the owner, which is observed too": {
			owner(), func(o client.Object) []client.Object { return []client.Object{o} },
			func(o client.Object, _ []client.Object) { o.GetLabels()["x"] = "y" }, []string{"the owner"},
		},
		"the owner, by a shallow copy that is observed": {
			owner(), func(o client.Object) []client.Object { twin := *o.(*appsv1.Deployment); return []client.Object{&twin} },
			func(_ client.Object, others []client.Object) { others[0].GetLabels()["x"] = "y" }, []string{"the owner"},
		},
		"only the shallow copy": {
			owner(), func(o client.Object) []client.Object { twin := *o.(*appsv1.Deployment); return []client.Object{&twin} },
			func(_ client.Object, others []client.Object) { others[0].SetLabels(nil) }, []string{"the owner"},
		},
	} {
		for _, copies := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, copies: %t", name, copies), func(t *testing.T) {
				o := c.owner.DeepCopyObject().(client.Object)
				var others []client.Object
				if c.others != nil {
					others = c.others(o)
				}
				g := guard{copies: copies}
				witnesses := g.before(o, newView(time.Unix(1000, 0), slices.Values(others)))
				c.changes(o, others)
				var told []string
				for _, w := range changed(witnesses) {
					told = append(told, w.err().Error())
				}
				require.Len(t, told, len(c.want), "%q", told)
				for i, want := range c.want {
					assert.Contains(t, told[i], "the plan changes "+want)
				}
			})
		}
	}
}
