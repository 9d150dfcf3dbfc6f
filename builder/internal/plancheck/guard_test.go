package plancheck

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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
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
				scratch := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit}}
				owner.Spec.Template.Spec.Volumes = []corev1.Volume{{VolumeSource: scratch}}
				g := Guard{Copies: copies}
				witnesses, _ := g.Before(owner, none)
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
				g := Guard{Copies: copies}
				witnesses, _ := g.Before(o, slices.Values(others))
				c.changes(o, others)
				var told []string
				for _, w := range Changed(witnesses) {
					told = append(told, w.Err().Error())
				}
				require.Len(t, told, len(c.want), "%q", told)
				for i, want := range c.want {
					assert.Contains(t, told[i], "the plan (or its Finish) changes "+want)
				}
			})
		}
	}
}

// The first passes are looked at, and later some of them.
func TestGuardedPasses(t *testing.T) {
	var g Guard
	looked, repeated := 0, 0
	for range guardedPasses + 10*guardedEvery {
		witnesses, repeat := g.Before(deployment("web"), none)
		if witnesses != nil {
			looked++
		}
		if repeat {
			repeated++
		}
	}
	assert.Equal(t, guardedPasses+10, looked)
	assert.Equal(t, 11, repeated)
}

// BenchmarkGuard is what a pass that is looked at costs more: an owner, and as many observed objects as are looked at.
func BenchmarkGuard(b *testing.B) {
	owner := deployment("web")
	var children []client.Object
	for i := range 100 {
		children = append(children, deployment(fmt.Sprint("child-", i)))
	}
	b.ReportAllocs()
	for b.Loop() {
		var g Guard
		witnesses, _ := g.Before(owner, slices.Values(children))
		for _, w := range witnesses {
			if w.isChanged() {
				b.Fatal("nothing was changed")
			}
		}
	}
}

// none is no observed object.
func none(func(client.Object) bool) {}

// thing is an object without a hash.
type thing struct {
	appsv1.Deployment
	conditions []metav1.Condition
}

func (o *thing) DeepCopyObject() runtime.Object {
	return &thing{*o.DeepCopy(), slices.Clone(o.conditions)}
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app.kubernetes.io/name": name, "app.kubernetes.io/component": "server"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](2),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "web", Image: "nginx:1.29",
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
				}}},
			},
		},
	}
}

// In a manager the repeated call is about existing children: a password that a plan makes up once, and then reads, is no error there.
func TestExistingChildrenAreRepeated(t *testing.T) {
	owner := deployment("owner")
	existing, fresh := Child{Object: deployment("web")}, Child{Object: deployment("password-1")}
	observed := func(yield func(client.Object) bool) { yield(deployment("web")) }
	first := Existing(owner, []Child{existing, fresh}, observed)
	require.Equal(t, []Child{existing}, first)
	calledAgain := func(children ...Child) error {
		return CheckRepeated(owner, first, func(time.Duration) ([]Child, bool) { return Existing(owner, children, observed), true })
	}
	require.NoError(t, calledAgain(existing, Child{Object: deployment("password-2")}))
	changed := Child{Object: deployment("web")}
	changed.Object.SetLabels(map[string]string{"at": "noon"})
	require.ErrorContains(t, calledAgain(changed), "the plan isn't pure")
}
